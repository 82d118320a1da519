// The layout of written JSON.
//
// Source: the contract in json_writer.h. Holds src/base/json_writer.cpp.
#include "base/json_writer.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "support/numbers.h"

namespace isoloop::json {

TEST_CASE("lists of plain values stay on one line, everything else has a line of its own") {
  const auto document = nlohmann::ordered_json::parse(
      R"({"z": 1, "a": [0, 128], "empty": [], "none": {}, "list": [{"b": "é\n"}, [1, [2]]]})");
  CHECK(pretty(document) == R"({
  "z": 1,
  "a": [0, 128],
  "empty": [],
  "none": {},
  "list": [
    {
      "b": "é\n"
    },
    [
      1,
      [2]
    ]
  ]
}
)");
  CHECK(pretty(nlohmann::ordered_json(7)) == "7\n");
}

TEST_CASE("text that is not UTF-8 is refused") {
  const nlohmann::ordered_json value = "\xff";
  CHECK(std::string(test::error_of([&] { pretty(value); }).what()) ==
        "a text to be written as JSON is not valid UTF-8");
}

}  // namespace isoloop::json
