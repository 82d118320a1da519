// What the writers of report share: their entry points, the header text of a column, the width of
// a text and the shape check of a table.
//
// Held by tests/report/*_test.cpp.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "isoloop/report.h"

namespace isoloop::report {

std::string write_text(const Document& document, const Style& style);
std::string write_markdown(const Document& document);
std::string write_csv(const Document& document);
std::string write_html(const Document& document);

/// Width in code points of UTF-8 text.
std::size_t width(std::string_view text);

/// "title (unit)", or the title alone.
std::string header(const Column& column);

/// Throws Error (kind internal) if the table has no column or a row has more cells than columns.
void check(const Table& table);
/// Likewise if a chart has no usable name, a value that is not finite, or parts that do not fit.
void check(const Chart& chart);
/// All tables and charts, and what links them.
void check(const Document& document);

/// The cell at `index`; a row may be short, what is missing is empty.
Cell cell_at(const std::vector<Cell>& row, std::size_t index);

/// Adds the text of one block, after an empty line if it is not the first; nothing if it is empty.
void append_block(std::string& out, std::string_view block);

}  // namespace isoloop::report
