// What all writers share: text width, header text, and the refusal of misshapen tables.
//
// Source: UTF-8 (RFC 3629). Holds src/report/report.cpp.
#include "isoloop/report.h"

#include <doctest/doctest.h>

#include <string>

#include "report/layout.h"
#include "support/numbers.h"

namespace isoloop::report {

TEST_CASE("report width counts code points of one to four bytes") {
  CHECK(width("") == 0);
  CHECK(width("abc") == 3);
  CHECK(width("·×é") == 3);
  CHECK(width("─│") == 2);
  CHECK(width("\U0001D70B") == 1);
}

TEST_CASE("report header joins title and unit") {
  CHECK(header({"stored", "params"}) == "stored (params)");
  CHECK(header({"part", ""}) == "part");
}

TEST_CASE("report refuses a table without columns or with a row too long, in every format") {
  Table none, wide;
  none.title = "none";
  wide.title = "wide";
  wide.columns = {{"a"}};
  wide.rows = {{"1"}, {"1", "2"}};
  for (const Format format : {Format::text, Format::markdown, Format::csv}) {
    const Error empty = test::error_of([&] { write({{none}}, format); });
    CHECK(empty.kind == ErrorKind::internal);
    CHECK(empty.message == "table 'none' has no columns");
    CHECK(test::error_of([&] { write({{wide}}, format); }).message ==
          "table 'wide' has a row of 2 cells for 1 columns");
  }
}

}  // namespace isoloop::report
