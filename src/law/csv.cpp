// CSV as RFC 4180 has it, with the line of every record.
//
// Held by tests/law/records_test.cpp.
#include <fmt/core.h>

#include <algorithm>

#include "law/numbers.h"
#include "law/records.h"

namespace isoloop::law::detail {
namespace {

// Takes one record at a time off the text.
class Scanner {
 public:
  Scanner(std::string_view text, std::string_view file) : text_(text), file_(file) {
    if (text_.starts_with("\xEF\xBB\xBF")) text_.remove_prefix(3);
  }
  bool done() const { return text_.empty(); }
  std::size_t line() const { return line_; }

  /// The fields of the next line that is not empty; none at the end of the text.
  std::vector<std::string> record(std::size_t& begins) {
    while (!text_.empty() && (text_[0] == '\n' || text_[0] == '\r')) take();
    begins = line_;
    std::vector<std::string> fields;
    while (!text_.empty()) {
      fields.push_back(!text_.empty() && text_[0] == '"' ? quoted() : plain());
      if (text_.empty() || text_[0] != ',') break;
      take();
      if (text_.empty()) fields.emplace_back();
    }
    if (text_.starts_with("\r\n")) take();
    if (!text_.empty()) take();
    return fields;
  }

 private:
  char take() {
    const char c = text_[0];
    text_.remove_prefix(1);
    if (c == '\n') ++line_;
    return c;
  }

  bool at_end_of_field() const {
    return text_.empty() || text_[0] == ',' || text_[0] == '\n' || text_.starts_with("\r\n");
  }

  std::string plain() {
    std::string out;
    while (!at_end_of_field()) {
      if (text_[0] == '"') throw fault("a quote inside a field that is not quoted");
      out += take();
    }
    return out;
  }

  std::string quoted() {
    const std::size_t begins = line_;
    std::string out;
    take();
    for (;;) {
      if (text_.empty()) {
        line_ = begins;
        throw fault("a quoted field is never closed");
      }
      const char c = take();
      if (c != '"') {
        out += c;
      } else if (!text_.empty() && text_[0] == '"') {
        out += take();
      } else {
        break;
      }
    }
    if (!at_end_of_field()) throw fault("text after a closing quote");
    return out;
  }

  Error fault(std::string message) const {
    return input_error(std::move(message), fmt::format("{}:{}", file_, line_),
                       "quote the whole field and double the quotes in it");
  }

  std::string_view text_, file_;
  std::size_t line_ = 1;
};

void check_header(const std::vector<std::string>& columns, const std::string& where) {
  if (columns.empty()) throw input_error("has no header line", where, "name the columns");
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].empty()) throw input_error(fmt::format("column {} has no name", i + 1), where);
    if (std::find(columns.begin(), columns.begin() + static_cast<std::ptrdiff_t>(i), columns[i]) !=
        columns.begin() + static_cast<std::ptrdiff_t>(i))
      throw input_error(fmt::format("two columns are named '{}'", columns[i]), where);
  }
}

}  // namespace

Records read_csv(std::string_view text, std::string_view file) {
  Scanner scanner(text, file);
  Records out;
  std::size_t line = 0;
  out.columns = scanner.record(line);
  for (std::string& column : out.columns) column = std::string(trimmed(column));
  check_header(out.columns, fmt::format("{}:{}", file, line));
  while (!scanner.done()) {
    Record row;
    row.values = scanner.record(row.line);
    if (row.values.empty()) break;
    if (row.values.size() != out.columns.size())
      row.fault =
          fmt::format("has {} fields; the header has {}", row.values.size(), out.columns.size());
    row.values.resize(out.columns.size());
    out.rows.push_back(std::move(row));
  }
  return out;
}

Records read_records(std::string_view text, std::string_view file) {
  const std::string_view start = trimmed(text.substr(0, text.find_last_not_of(" \t\r\n") + 1));
  if (start.empty()) throw input_error("is empty; expected runs", std::string(file));
  if (start.front() == '[') return read_json_array(text, file);
  if (start.front() == '{') return read_json_lines(text, file);
  return read_csv(text, file);
}

}  // namespace isoloop::law::detail
