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

/// A number in groups of three, "1,234,567" or "-2,048.50", without its commas: a CSV file is read by
/// programs. Any other text as it is.
std::string ungrouped(const std::string& text) {
  const auto digits_at = [&](std::size_t at) {
    std::size_t end = at;
    while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
    return end - at;
  };
  const std::size_t first = text.starts_with('+') || text.starts_with('-') ? 1 : 0;
  std::size_t at = first + digits_at(first);
  if (at == first || at > first + 3) return text;
  while (at < text.size() && text[at] == ',' && digits_at(at + 1) == 3) at += 4;
  if (at < text.size() && text[at] == '.' && digits_at(at + 1) > 0) at += 1 + digits_at(at + 1);
  if (at != text.size()) return text;
  std::string plain = text;
  std::erase(plain, ',');
  return plain;
}

std::string field(const std::string& grouped) {
  const std::string text = ungrouped(grouped);
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
