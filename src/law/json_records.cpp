// Rows from a JSON array of objects, or from one object in each line.
//
// The parser knows no positions of values, so the line of an array's member is found by walking
// over the text, which by then is known to be valid.
//
// Source: RFC 8259; jsonlines.org. Held by tests/law/records_test.cpp.
#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json_reader.h"
#include "law/numbers.h"
#include "law/records.h"

namespace isoloop::law::detail {
namespace {

using json::Value;

// Lines in which the members of the outermost array begin.
std::vector<std::size_t> member_lines(std::string_view text) {
  std::vector<std::size_t> lines;
  std::size_t line = 1;
  int depth = 0;
  bool in_string = false, expecting = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\n') ++line;
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
      continue;
    }
    const bool blank = c == ' ' || c == '\t' || c == '\r' || c == '\n';
    if (depth == 1 && expecting && !blank && c != ']') {
      lines.push_back(line);
      expecting = false;
    }
    if (c == '"') in_string = true;
    if (c == '[' || c == '{') expecting = ++depth == 1;
    if (c == ']' || c == '}') --depth;
    if (c == ',' && depth == 1) expecting = true;
  }
  return lines;
}

std::size_t column_index(Records& records, const std::string& name) {
  const auto at = std::find(records.columns.begin(), records.columns.end(), name);
  if (at == records.columns.end()) {
    records.columns.push_back(name);
    return records.columns.size() - 1;
  }
  return static_cast<std::size_t>(at - records.columns.begin());
}

void add(Records& records, const Value& value, std::size_t line) {
  Record row;
  row.line = line;
  row.values.resize(records.columns.size());
  if (!value.is_object()) row.fault = "is no object";
  for (const auto& item : value.items()) {
    if (!value.is_object()) break;
    const std::size_t column = column_index(records, item.key());
    row.values.resize(std::max(row.values.size(), column + 1));
    if (item.value().is_structured()) {
      row.fault = fmt::format("'{}' is a list or an object", item.key());
    } else if (item.value().is_string()) {
      row.values[column] = item.value().get<std::string>();
    } else if (!item.value().is_null()) {
      row.values[column] = item.value().dump();
    }
  }
  records.rows.push_back(std::move(row));
}

void align(Records& records) {
  for (Record& row : records.rows) row.values.resize(records.columns.size());
}

// One line of the file; the parser counts from line 1, so its place is put right.
Value parse_line(std::string_view text, std::string_view file, std::size_t line) {
  try {
    return json::parse(text, file);
  } catch (const Error& error) {
    const std::string_view where = error.where;
    const std::string_view column = where.substr(std::min(where.rfind(':'), where.size()));
    throw Error(error.kind, error.message, fmt::format("{}:{}{}", file, line, column), error.hint);
  }
}

}  // namespace

Records read_json_array(std::string_view text, std::string_view file) {
  const Value document = json::parse(text, file);
  const std::vector<std::size_t> lines = member_lines(text);
  Records out;
  for (std::size_t i = 0; i < document.size(); ++i) add(out, document[i], lines.at(i));
  align(out);
  return out;
}

Records read_json_lines(std::string_view text, std::string_view file) {
  Records out;
  for (std::size_t line = 1; !text.empty(); ++line) {
    const auto end = text.find('\n');
    const std::string_view one = text.substr(0, end);
    if (!trimmed(one).empty()) add(out, parse_line(one, file, line), line);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  align(out);
  return out;
}

}  // namespace isoloop::law::detail
