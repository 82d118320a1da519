// CSV, JSON arrays and JSON Lines as rows with their lines.
//
// Source: RFC 4180, RFC 8259, jsonlines.org. Holds src/law/csv.cpp and json_records.cpp.
#include "law/records.h"

#include "law/support.h"

namespace isoloop::law {

using detail::read_records;
using detail::Records;
using test::error_of;
using Texts = std::vector<std::string>;

TEST_CASE("CSV as RFC 4180 has it") {
  const Records r = read_records("a,b,c\r\n1,2,3\r\n\"x, y\",\"say \"\"hi\"\"\",\r\n", "f");
  CHECK(r.columns == Texts{"a", "b", "c"});
  REQUIRE(r.rows.size() == 2);
  CHECK(r.rows[0].values == Texts{"1", "2", "3"});
  CHECK(r.rows[1].values == Texts{"x, y", "say \"hi\"", ""});
  CHECK(r.rows[1].line == 3);
}

TEST_CASE("CSV counts lines inside quotes and skips empty lines and a byte order mark") {
  const Records r = read_records("\xEF\xBB\xBF\"a\",b\n\n\"one\ntwo\",2\n\n3,4", "f");
  CHECK(r.columns == Texts{"a", "b"});
  REQUIRE(r.rows.size() == 2);
  CHECK(r.rows[0].values == Texts{"one\ntwo", "2"});
  CHECK(r.rows[0].line == 3);
  CHECK(r.rows[1].values == Texts{"3", "4"});
  CHECK(r.rows[1].line == 6);
}

TEST_CASE("CSV record of another length is a fault of that row") {
  const Records r = read_records("a,b\n1\n1,2,3\n4,5\n", "f");
  REQUIRE(r.rows.size() == 3);
  CHECK(r.rows[0].fault == "has 1 fields; the header has 2");
  CHECK(r.rows[1].fault == "has 3 fields; the header has 2");
  CHECK(r.rows[2].fault == "");
}

TEST_CASE("CSV mistakes have a place") {
  const auto message = [](const char* text) {
    return std::string(error_of([&] { read_records(text, "r.csv"); }).what());
  };
  const std::string hint = "\n  hint: quote the whole field and double the quotes in it";
  CHECK(message("a,b\n1,x\"y\"\n") == "r.csv:2: a quote inside a field that is not quoted" + hint);
  CHECK(message("a,b\n1,\"x\ny\n") == "r.csv:2: a quoted field is never closed" + hint);
  CHECK(message("a,b\n\"1\"2,3\n") == "r.csv:2: text after a closing quote" + hint);
  CHECK(message("a,a\n1,2\n") == "r.csv:1: two columns are named 'a'");
  CHECK(message("a,\n1,2\n") == "r.csv:1: column 2 has no name");
  CHECK(message(" \n\n") == "r.csv: is empty; expected runs");
}

TEST_CASE("JSON array: members with their lines, columns in order of appearance") {
  const Records r = read_records(
      "[\n  {\"a\": 1.50, \"s\": \"],\\\"{\"},\n\n  {\"b\": null, \"a\": 1e21},\n 7, {\"a\": "
      "[1]}\n]",
      "f");
  CHECK(r.columns == Texts{"a", "s", "b"});
  REQUIRE(r.rows.size() == 4);
  CHECK(r.rows[0].values == Texts{"1.5", "],\"{", ""});
  CHECK(r.rows[0].line == 2);
  CHECK(r.rows[1].values == Texts{"1e+21", "", ""});
  CHECK(r.rows[1].line == 4);
  CHECK(r.rows[2].fault == "is no object");
  CHECK(r.rows[2].line == 5);
  CHECK(r.rows[3].fault == "'a' is a list or an object");
}

TEST_CASE("JSON Lines: one object a line") {
  const Records r = read_records("{\"a\": 1}\n\n{\"a\": 2, \"b\": true}\n", "f");
  CHECK(r.columns == Texts{"a", "b"});
  REQUIRE(r.rows.size() == 2);
  CHECK(r.rows[0].values == Texts{"1", ""});
  CHECK(r.rows[1].values == Texts{"2", "true"});
  CHECK(r.rows[1].line == 3);
}

TEST_CASE("bad JSON has its line in the file") {
  const Error lines = error_of([] { read_records("{\"a\": 1}\n{\"a\": NaN}\n", "r.jsonl"); });
  CHECK(lines.where == "r.jsonl:2:7");
  CHECK(lines.message.starts_with("not valid JSON"));
  const Error array = error_of([] { read_records("[{\"a\": 1},\n{\"a\" 1}]", "r.json"); });
  CHECK(array.where == "r.json:2:6");
}

}  // namespace isoloop::law
