// Test support: exact numbers from text, numbers in failure messages, and the error of a call.
//
// Source: parse_ratio, itself held by tests/base/parse_ratio_test.cpp.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <utility>

#include "isoloop/base.h"

template <>
struct doctest::StringMaker<isoloop::Int> {
  static doctest::String convert(isoloop::Int value) { return value.str().c_str(); }
};
template <>
struct doctest::StringMaker<isoloop::Ratio> {
  static doctest::String convert(const isoloop::Ratio& value) { return value.str().c_str(); }
};

namespace isoloop::test {

inline Ratio ratio(std::string_view text) { return parse_ratio(text, "test"); }
inline Int integer(std::string_view text) { return ratio(text).num(); }

/// 2^127-1 and -2^127.
inline Int largest() { return integer("170141183460469231731687303715884105727"); }
inline Int smallest() { return -largest() - 1; }

/// The error that `call` throws; fails the test if it throws none.
template <class Call>
Error error_of(Call&& call) {
  try {
    std::forward<Call>(call)();
  } catch (const Error& error) {
    return error;
  }
  FAIL("no error was thrown");
  return internal_error("no error was thrown");
}

/// The text of the number `call` returns, or "overflow" if it throws that error.
template <class Call>
std::string text_or_overflow(Call&& call) {
  try {
    return std::forward<Call>(call)().str();
  } catch (const Error& error) {
    const bool overflow = error.message.starts_with("count overflows 128 bits in ");
    return overflow && error.kind == ErrorKind::input ? "overflow" : error.what();
  }
}

}  // namespace isoloop::test
