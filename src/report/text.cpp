// Plain text for a terminal: aligned columns under thin rules, units on a line of their own below
// the titles, colours only on request. No line ends in a space.
//
// Source: widths in code points (report.h); ECMA-48 select graphic rendition for colours.
// Held by tests/report/text_test.cpp.
#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "report/layout.h"

namespace isoloop::report {
namespace {

constexpr std::string_view column_gap = "  ", code_indent = "  ";

std::string_view colour_code(Tone tone) {
  switch (tone) {
    case Tone::plain:
      return "";
    case Tone::good:
      return "\x1b[32m";
    case Tone::bad:
      return "\x1b[31m";
    case Tone::warn:
      return "\x1b[33m";
    case Tone::dim:
      return "\x1b[2m";
    case Tone::strong:
      return "\x1b[1m";
  }
  return "";
}

/// One line as it will stand: control characters become spaces, spaces at the end go.
std::string one_line(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    result += byte < 0x20 || byte == 0x7F ? ' ' : c;
  }
  result.erase(result.find_last_not_of(' ') + 1);
  return result;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  for (;;) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  if (lines.size() > 1 && lines.back().empty()) lines.pop_back();
  return lines;
}

/// One line broken at spaces into lines of at most `limit` code points; a longer word stays whole.
/// The indentation of the line is kept on all of them.
std::vector<std::string> wrapped(const std::string& line, std::size_t limit) {
  const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
  std::vector<std::string> lines;
  std::string current;
  for (std::size_t at = indent; at < line.size();) {
    const std::size_t end = std::min(line.find(' ', at), line.size());
    const std::string word = line.substr(at, end - at);
    if (!current.empty() && width(current) + 1 + width(word) > limit) {
      lines.push_back(std::move(current));
      current.clear();
    }
    current += current.empty() ? std::string(indent, ' ') + word : " " + word;
    at = std::min(line.find_first_not_of(' ', end), line.size());
  }
  lines.push_back(std::move(current));
  return lines;
}

class TextWriter {
 public:
  explicit TextWriter(const Style& style) : style_(style) {}

  void operator()(const Heading& heading) {
    const std::string text = one_line(heading.text);
    put(text, Tone::strong);
    end_line();
    put_rule(width(text));
  }

  void operator()(const Paragraph& paragraph) {
    const auto limit = static_cast<std::size_t>(std::max(style_.width, 1));
    for (const std::string_view line : lines_of(paragraph.text)) {
      for (const std::string& part : wrapped(one_line(line), limit)) {
        put(part, paragraph.tone);
        end_line();
      }
    }
  }

  void operator()(const Facts& facts) {
    std::size_t widest = 0;
    for (const auto& [name, value] : facts.lines) {
      widest = std::max(widest, width(one_line(name)));
    }
    for (const auto& [name, value] : facts.lines) {
      const std::size_t indent = widest + column_gap.size();
      const auto limit = static_cast<std::size_t>(std::max(style_.width, 1));
      // Too narrow a column of values reads worse than a long line.
      const std::size_t room = std::max<std::size_t>(limit - std::min(limit, indent), 40);
      put_aligned(name, Tone::plain, widest, Align::left);
      skip(column_gap.size());
      bool first = true;
      for (const std::string& part : wrapped(one_line(value.text), room)) {
        if (!std::exchange(first, false)) skip(indent);
        put(part, value.tone);
        end_line();
      }
    }
  }

  void operator()(const Code& code) {
    for (const std::string_view line : lines_of(code.text)) {
      skip(code_indent.size());
      put(one_line(line), Tone::plain);
      end_line();
    }
  }

  void operator()(const Chart&) {}  // text cannot draw

  void operator()(const Table& table) {
    const std::vector<std::size_t> widths = widths_of(table);
    std::size_t total = column_gap.size() * (widths.size() - 1);
    for (const std::size_t each : widths) total += each;

    if (!table.title.empty()) {
      put(one_line(table.title), Tone::strong);
      end_line();
    }
    put_row(table, widths,
            [&](std::size_t i) { return Cell(table.columns[i].title, Tone::strong); });
    if (std::ranges::any_of(table.columns, [](const Column& c) { return !c.unit.empty(); })) {
      put_row(table, widths, [&](std::size_t i) { return Cell(table.columns[i].unit, Tone::dim); });
    }
    put_rule(total);
    for (std::size_t r = 0; r <= table.rows.size(); ++r) {
      if (r > 0 && std::ranges::find(table.rules, r) != table.rules.end()) put_rule(total);
      if (r == table.rows.size()) break;
      put_row(table, widths, [&](std::size_t i) { return cell_at(table.rows[r], i); });
    }
    if (!table.note.empty()) {
      put(one_line(table.note), Tone::dim);
      end_line();
    }
  }

  /// What was written since the last call.
  std::string take() { return std::exchange(out_, {}); }

 private:
  static std::vector<std::size_t> widths_of(const Table& table) {
    std::vector<std::size_t> widths;
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      std::size_t widest =
          std::max(width(one_line(table.columns[i].title)), width(one_line(table.columns[i].unit)));
      for (const auto& row : table.rows) {
        widest = std::max(widest, width(one_line(cell_at(row, i).text)));
      }
      widths.push_back(widest);
    }
    return widths;
  }

  template <class CellOf>
  void put_row(const Table& table, const std::vector<std::size_t>& widths, CellOf cell_of) {
    for (std::size_t i = 0; i < widths.size(); ++i) {
      if (i > 0) skip(column_gap.size());
      const Cell cell = cell_of(i);
      put_aligned(cell.text, cell.tone, widths[i], table.columns[i].align);
    }
    end_line();
  }

  void put_aligned(std::string_view raw, Tone tone, std::size_t to, Align align) {
    const std::string text = one_line(raw);
    const std::size_t gap = to - std::min(to, width(text));
    if (align == Align::right) skip(gap);
    put(text, tone);
    if (align == Align::left) skip(gap);
  }

  void put_rule(std::size_t length) {
    std::string rule;
    for (std::size_t i = 0; i < length; ++i) rule += "─";
    put(rule, Tone::dim);
    end_line();
  }

  /// Text with its colour, after the spaces skipped before it.
  void put(std::string_view text, Tone tone) {
    if (text.empty()) return;
    out_.append(skipped_, ' ');
    skipped_ = 0;
    const std::string_view code = style_.colour ? colour_code(tone) : "";
    out_ += code;
    out_ += text;
    if (!code.empty()) out_ += "\x1b[0m";
  }
  /// Spaces, which appear only if text follows on the line.
  void skip(std::size_t spaces) { skipped_ += spaces; }
  void end_line() {
    skipped_ = 0;
    out_ += '\n';
  }

  Style style_;
  std::string out_;
  std::size_t skipped_ = 0;
};

}  // namespace

std::string write_text(const Document& document, const Style& style) {
  TextWriter writer(style);
  std::string out;
  for (const Block& block : document.blocks) {
    std::visit(writer, block);
    append_block(out, writer.take());
  }
  return out;
}

}  // namespace isoloop::report
