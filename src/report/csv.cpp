// Comma-separated tables, one record per row, separated by an empty line.
//
// Source: RFC 4180: CRLF ends a record; a field with a comma, a quote or a line break is quoted
// and its quotes are doubled; every record of a table has the same number of fields.
// Held by tests/report/csv_test.cpp.
#include <cstddef>
#include <string>
#include <variant>

#include "report/layout.h"

namespace isoloop::report {
namespace {

constexpr std::string_view line_end = "\r\n";

std::string field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

void add_table(const Table& table, std::string& out) {
  const std::size_t columns = table.columns.size();
  // A lone empty field would look like the empty line between two tables.
  const auto put = [&](std::size_t column, const std::string& text) {
    if (column > 0) out += ',';
    out += columns == 1 && text.empty() ? "\"\"" : field(text);
    if (column + 1 == columns) out += line_end;
  };
  for (std::size_t i = 0; i < columns; ++i) put(i, header(table.columns[i]));
  for (const auto& row : table.rows) {
    for (std::size_t i = 0; i < columns; ++i) put(i, cell_at(row, i).text);
  }
}

}  // namespace

std::string write_csv(const Document& document) {
  std::string out;
  for (const Block& block : document.blocks) {
    const Table* table = std::get_if<Table>(&block);
    if (table == nullptr) continue;
    if (!out.empty()) out += line_end;
    add_table(*table, out);
  }
  return out;
}

}  // namespace isoloop::report
