// Malformed JSON with its place, and typed access with paths.
//
// Source: RFC 8259 and the contract in json_reader.h. Holds src/base/json_parse.cpp and
// json_reader.cpp.
#include "base/json_reader.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "support/numbers.h"

namespace isoloop::json {
namespace {

using test::error_of;

std::string parse_message(std::string_view text) {
  return error_of([&] { parse(text, "f.json"); }).what();
}

// The message of a getter called on the object `text`.
template <class Get>
std::string message(std::string_view text, Get get) {
  const Value document = parse(text, "f.json");
  return error_of([&] {
           Fields fields(document, "f.json");
           get(fields);
         })
      .what();
}

}  // namespace

TEST_CASE("parsed values keep their types") {
  const Value value = parse(
      R"({"a": [1, -2, 1.5, true, null, "xé"], "b": {}, "c": 18446744073709551615, "d": []})", "f");
  CHECK(value.dump() ==
        R"({"a":[1,-2,1.5,true,null,"xé"],"b":{},"c":18446744073709551615,"d":[]})");
  CHECK(parse(" 7 ", "f") == 7);
  CHECK(parse("\xEF\xBB\xBF[]", "f").is_array());
}

TEST_CASE("malformed JSON is refused with line and column") {
  CHECK(parse_message("") == "f.json: is empty; expected a JSON document");
  CHECK(parse_message(" \n") == "f.json: is empty; expected a JSON document");
  CHECK(parse_message("{\n  \"a\": 1,\n}") ==
        "f.json:3:1: not valid JSON: unexpected '}' in object key; expected string literal");
  CHECK(parse_message("{\"a\": 1") ==
        "f.json:1:8: not valid JSON: unexpected end of input in object; expected '}'");
  CHECK(parse_message("{\"a\" 1}") ==
        "f.json:1:6: not valid JSON: unexpected number literal in object separator; expected ':'");
  CHECK(parse_message("[1] 2") ==
        "f.json:1:5: not valid JSON: unexpected number literal in value; expected end of input");
  CHECK(parse_message("[1, nope]") == "f.json:1:6: not valid JSON: invalid literal in value");
  CHECK(parse_message("[\"é\", \"a\nb\"]") ==
        "f.json:1:9: not valid JSON: invalid string: control character U+000A (LF) must be escaped "
        "to \\u000A or \\n in value");
  CHECK(parse_message("[\"\xff\"]") ==
        "f.json:1:3: not valid JSON: invalid string: ill-formed UTF-8 byte in value");
  CHECK(parse_message("[\n1e999]") == "f.json:2:5: the number 1e999 is too large");
  CHECK(parse_message("[01]") ==
        "f.json:1:3: not valid JSON: unexpected number literal in array; expected ']'");
  CHECK(parse_message("{a: 1}") ==
        "f.json:1:2: not valid JSON: invalid literal in object key; expected string literal");
  CHECK(parse_message("[1] // no comments") ==
        "f.json:1:5: not valid JSON: invalid literal in value; expected end of input");
}

TEST_CASE("a name given twice in one object is refused where it appears again") {
  CHECK(parse_message("{\"a\": 1,\n \"b\": {\"a\": 2},\n \"a\": 3}") ==
        "f.json:3:4: field 'a' appears twice in one object\n  hint: keep one of the two");
  CHECK_NOTHROW(parse("[{\"a\": 1}, {\"a\": 2}]", "f"));
}

TEST_CASE("nesting is bounded") {
  CHECK_NOTHROW(parse(std::string(100, '[') + std::string(100, ']'), "f"));
  CHECK(parse_message(std::string(101, '[')) == "f.json:1:101: nested deeper than 100 levels");
  CHECK(parse_message("\n" + std::string(100'000, '[')) ==
        "f.json:2:101: nested deeper than 100 levels");
}

TEST_CASE("whole numbers are whole, in range and not quoted") {
  const auto get = [](std::string_view text) {
    return message(text, [](Fields& f) { f.integer("n", {1, 1000}); });
  };
  CHECK(get(R"({"n": 0})") == "f.json: n: is 0; expected a whole number of at least 1");
  CHECK(get(R"({"n": -3})") == "f.json: n: is -3; expected a whole number of at least 1");
  CHECK(get(R"({"n": 1001})") == "f.json: n: is 1001; expected a whole number of at most 1000");
  CHECK(get(R"({"n": 18446744073709551615})") ==
        "f.json: n: is 18446744073709551615; expected a whole number of at most 1000");
  CHECK(get(R"({"n": 99999999999999999999999})") ==
        "f.json: n: is 1e+23; expected a whole number of at most 1000");
  CHECK(get(R"({"n": -99999999999999999999999})") ==
        "f.json: n: is -1e+23; expected a whole number of at least 1");
  CHECK(get(R"({"n": 1.5})") == "f.json: n: is 1.5; expected a whole number");
  CHECK(get(R"({"n": 20.0})") == "f.json: n: is 20.0; expected a whole number\n  hint: write 20");
  CHECK(get(R"({"n": 1e2})") == "f.json: n: is 100.0; expected a whole number\n  hint: write 100");
  CHECK(get(R"({"n": "20"})") ==
        "f.json: n: is \"20\"; expected a whole number\n  hint: write 20 without quotes");
  CHECK(get(R"({"n": "many"})") == "f.json: n: is \"many\"; expected a whole number");
  CHECK(get(R"({"n": true})") == "f.json: n: is true; expected a whole number");
  CHECK(get(R"({"n": null})") == "f.json: n: is null; expected a whole number");
  CHECK(get(R"({"n": []})") == "f.json: n: is a list; expected a whole number");
  CHECK(get(R"({"n": {}})") == "f.json: n: is an object; expected a whole number");
  CHECK(get(R"({"m": 1})") == "f.json: field 'n' is missing");
}

TEST_CASE("other types are named") {
  CHECK(message(R"({"b": 1})", [](Fields& f) { f.optional_boolean("b"); }) ==
        "f.json: b: is 1; expected true or false");
  CHECK(message(R"({"t": 1})", [](Fields& f) { f.text("t"); }) ==
        "f.json: t: is 1; expected text in quotes");
  CHECK(message(R"({})", [](Fields& f) { f.text("t"); }) == "f.json: field 't' is missing");
  CHECK(message(R"({"x": "1"})", [](Fields& f) { f.number("x"); }) ==
        "f.json: x: is \"1\"; expected a number");
  CHECK(message(R"({})", [](Fields& f) { f.number("x"); }) == "f.json: field 'x' is missing");
  CHECK(message(R"({"r": 0.5})", [](Fields& f) { f.ratio("r"); }) ==
        "f.json: r: is 0.5; expected a whole number or an exact ratio in quotes\n  hint: for "
        "example 2 or \"5/2\"");
  CHECK(message(R"({"r": "half"})", [](Fields& f) { f.ratio("r"); }) ==
        "f.json: r: cannot read 'half' as a number\n  hint: write it like 3, -1.25, 1e-3, 7/2 or "
        "1.5%");
  CHECK(message(R"({})", [](Fields& f) { f.ratio("r"); }) == "f.json: field 'r' is missing");
  CHECK(message(R"({"o": 1})", [](Fields& f) { f.object("o"); }) ==
        "f.json: o: is 1; expected an object { … }");
  CHECK(message(R"({})", [](Fields& f) { f.object("o"); }) == "f.json: field 'o' is missing");
  CHECK(message(R"({"l": {}})", [](Fields& f) { f.optional_objects("l"); }) ==
        "f.json: l: is an object; expected a list [ … ]");
  CHECK(message(R"({"l": [1, -1]})", [](Fields& f) {
          f.optional_integers("l", {0, 9});
        }) == "f.json: l[1]: is -1; expected a whole number of at least 0");
  CHECK(message(R"({"l": ["a", 1]})", [](Fields& f) { f.optional_texts("l"); }) ==
        "f.json: l[1]: is 1; expected text in quotes");
  CHECK(message("[]", [](Fields&) {}) == "f.json: is a list; expected an object { … }");
  const std::string long_text = "{\"b\": \"" + std::string(57, 'a') + "éé\"}";
  CHECK(message(long_text, [](Fields& f) { f.optional_boolean("b"); }) ==
        "f.json: b: is \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaé…; expected "
        "true or false");
}

TEST_CASE("paths lead through objects and lists") {
  CHECK(message(R"({"a": {"b": [{"c": 0}]}})", [](Fields& f) {
          f.object("a").optional_objects("b").at(0).integer("c", {1, 9});
        }) == "f.json: a.b[0].c: is 0; expected a whole number of at least 1");
  CHECK(message(R"({"a": {"b": [{"c": 0}, 7]}})", [](Fields& f) {
          f.object("a").optional_objects("b");
        }) == "f.json: a.b[1]: is 7; expected an object { … }");
}

TEST_CASE("values are returned") {
  const Value document = parse(
      R"({"i": 7, "b": true, "t": "x", "x": 1.5, "r": "5/2", "w": 3, "l": [1, 2], "s": ["a"]})",
      "f");
  Fields fields(document, "f");
  CHECK(fields.integer("i", {7, 7}) == 7);
  CHECK(fields.optional_boolean("b") == true);
  CHECK(fields.text("t") == "x");
  CHECK(fields.number("x") == 1.5);
  CHECK(fields.number("i") == 7.0);
  CHECK(fields.ratio("r") == Ratio(5, 2));
  CHECK(fields.ratio("w") == Ratio(3));
  CHECK(fields.optional_integers("l", {0, 9}) == std::vector<std::int64_t>{1, 2});
  CHECK(fields.unread() == std::vector<std::string>{"s"});
  CHECK(fields.optional_texts("s") == std::vector<std::string>{"a"});
  CHECK(fields.unread().empty());
  CHECK_NOTHROW(fields.finish());
  CHECK_FALSE(fields.optional_integer("absent", {0, 1}));
  CHECK_FALSE(fields.optional_object("absent"));
  CHECK(fields.optional_objects("absent").empty());
}

TEST_CASE("unknown fields are refused with the nearest known name") {
  CHECK(message(R"({"heds": 1})", [](Fields& f) {
          f.has("heads");
          f.has("layers");
          f.finish();
        }) == "f.json: unknown field 'heds'\n  hint: did you mean 'heads'?");
  constexpr std::string_view names[] = {"heads", "layers"};
  CHECK(message(R"({"heads": 1, "zzz": 2})", [&](Fields& f) { f.allow_only(names); }) ==
        "f.json: unknown field 'zzz'\n  hint: known: heads, layers");
}

TEST_CASE("null means absent only where asked for") {
  const Value document = parse(R"({"n": null, "o": {"n": null}})", "f");
  Fields fields(document, "f", "", Nulls::absent);
  CHECK_FALSE(fields.optional_integer("n", {1, 9}));
  CHECK_FALSE(fields.object("o").optional_integer("n", {1, 9}));
}

}  // namespace isoloop::json
