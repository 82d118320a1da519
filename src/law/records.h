// Rows of a file as text by column, whatever the format: CSV, a JSON array or JSON Lines.
//
// Held by tests/law/records_test.cpp.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "isoloop/base.h"

namespace isoloop::law::detail {

struct Record {
  std::size_t line = 0;             // where it begins, 1-based
  std::vector<std::string> values;  // by column; "" where there is none
  std::string fault;                // why it is no row; "" if it is one
};
struct Records {
  std::vector<std::string> columns;
  std::vector<Record> rows;
};

/// RFC 4180: a header line, commas, double quotes, line ends CRLF or LF. Empty lines and a byte
/// order mark are skipped. A record with another number of fields than the header is a fault.
/// Throws Error (kind input) at "file:line" for a quote that is out of place or never closed, an
/// empty or repeated column name, or no header.
Records read_csv(std::string_view text, std::string_view file);
/// An array of objects of plain values; other members are faults. Throws as json::parse() does.
Records read_json_array(std::string_view text, std::string_view file);
/// One object in each line.
Records read_json_lines(std::string_view text, std::string_view file);
/// By the first character: '[' is an array, '{' lines, anything else CSV.
Records read_records(std::string_view text, std::string_view file);

}  // namespace isoloop::law::detail
