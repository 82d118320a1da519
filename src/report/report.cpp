// Chooses the writer of a format, and holds what the writers share.
//
// Source: UTF-8 (RFC 3629): every byte but 10xxxxxx starts a code point. Held by
// tests/report/*_test.cpp.
#include "isoloop/report.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <variant>

#include "isoloop/base.h"
#include "report/chart.h"
#include "report/layout.h"

namespace isoloop::report {

std::string write(const Document& document, Format format, const Style& style) {
  check(document);
  switch (format) {
    case Format::text:
      return write_text(document, style);
    case Format::markdown:
      return write_markdown(document);
    case Format::csv:
      return write_csv(document);
    case Format::html:
      return write_html(document);
  }
  throw internal_error("unknown report format " + std::to_string(static_cast<int>(format)));
}

std::size_t width(std::string_view text) {
  const auto starts = [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; };
  return static_cast<std::size_t>(std::ranges::count_if(text, starts));
}

std::string header(const Column& column) {
  return column.unit.empty() ? column.title : column.title + " (" + column.unit + ")";
}

void check(const Table& table) {
  const std::string name = "table '" + table.title + "'";
  if (table.columns.empty()) throw internal_error(name + " has no columns");
  for (const auto& row : table.rows) {
    if (row.size() > table.columns.size()) {
      throw internal_error(name + " has a row of " + std::to_string(row.size()) + " cells for " +
                           std::to_string(table.columns.size()) + " columns");
    }
  }
}

void check(const Document& document) {
  for (const Block& block : document.blocks) {
    if (const Table* table = std::get_if<Table>(&block)) check(*table);
    if (const Chart* chart = std::get_if<Chart>(&block)) check(*chart);
  }
  check_links(document);
}

Cell cell_at(const std::vector<Cell>& row, std::size_t index) {
  return index < row.size() ? row[index] : Cell();
}

void append_block(std::string& out, std::string_view block) {
  if (block.empty()) return;
  if (!out.empty()) out += '\n';
  out += block;
}

}  // namespace isoloop::report
