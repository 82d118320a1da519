// Test support: JSON answers and the types of their keys.
#pragma once

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "support/run_cli.h"

namespace isoloop::test {

using Json = nlohmann::ordered_json;

inline Json run_json(std::vector<std::string> args, int exit = 0) {
  args.insert(args.end(), {"--format", "json"});
  const Ran ran = run_cli(args);
  REQUIRE(ran.code() == exit);
  return Json::parse(ran.out);
}

/// The value at a path such as "/models/0/params"; a failed check and null where there is none.
inline Json at(const Json& document, const std::string& path) {
  const Json::json_pointer pointer(path);
  CHECK_MESSAGE(document.contains(pointer), path);
  return document.contains(pointer) ? document.at(pointer) : Json();
}

inline void check_integers(const Json& document, const std::string& under, std::initializer_list<const char*> keys) {
  for (const char* key : keys) CHECK_MESSAGE(at(document, under + key).is_number_integer(), under << key);
}
inline void check_numbers(const Json& document, const std::string& under, std::initializer_list<const char*> keys) {
  for (const char* key : keys) CHECK_MESSAGE(at(document, under + key).is_number(), under << key);
}
inline void check_strings(const Json& document, const std::string& under, std::initializer_list<const char*> keys) {
  for (const char* key : keys) CHECK_MESSAGE(at(document, under + key).is_string(), under << key);
}
/// Whole numbers as text, for values that can pass 2^53.
inline void check_digits(const Json& document, const std::string& under, std::initializer_list<const char*> keys) {
  check_strings(document, under, keys);
  for (const char* key : keys) {
    const Json value = at(document, under + key);
    if (value.is_string())
      CHECK_MESSAGE(value.get<std::string>().find_first_not_of("0123456789") == std::string::npos, under << key);
  }
}

}  // namespace isoloop::test
