// GitHub-flavoured Markdown. Table sources are padded, so that they read well unrendered, too.
//
// Source: GitHub Flavored Markdown spec 0.29, sections 4.10 (tables), 4.5 (fenced code) and 2.4
// (backslash escapes). Held by tests/report/markdown_test.cpp.
#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "report/layout.h"

namespace isoloop::report {
namespace {

/// Plain text as Markdown source: no character of it may start emphasis, code, HTML, strikethrough
/// or mathematics.
std::string escaped(std::string_view text) {
  constexpr std::string_view special = "\\`*<~$";
  const auto word = [&](std::size_t i) {
    const char c = i < text.size() ? text[i] : ' ';
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  };
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool inside_word = i > 0 && word(i - 1) && word(i + 1);  // kv_heads needs no escape
    if (special.find(text[i]) != std::string_view::npos || (text[i] == '_' && !inside_word)) {
      result += '\\';
    }
    result += text[i];
  }
  return result;
}

std::string toned(std::string text, Tone tone) {
  return tone == Tone::strong && !text.empty() ? "**" + text + "**" : text;
}

/// The source of one table cell: a bar would end it, a line break would end the table.
std::string cell_source(const Cell& cell) {
  std::string result;
  for (const char c : escaped(cell.text)) {
    if (c == '|') {
      result += "\\|";
    } else if (c == '\n') {
      result += "<br>";
    } else if (c != '\r') {
      result += c;
    }
  }
  return toned(result, cell.tone);
}

std::string padded(const std::string& text, std::size_t to, Align align) {
  const std::string gap(to - std::min(to, width(text)), ' ');
  return align == Align::right ? gap + text : text + gap;
}

std::string table_source(const Table& table) {
  std::vector<std::vector<std::string>> lines(1);
  for (const Column& column : table.columns) lines[0].push_back(cell_source(header(column)));
  for (const auto& row : table.rows) {
    auto& line = lines.emplace_back();
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      line.push_back(cell_source(cell_at(row, i)));
    }
  }
  std::vector<std::size_t> widths(table.columns.size(), 3);  // "---"
  for (const auto& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], width(line[i]));
  }
  const auto joined = [&](const std::vector<std::string>& line) {
    std::string result = "|";
    for (std::size_t i = 0; i < line.size(); ++i) {
      result += " " + padded(line[i], widths[i], table.columns[i].align) + " |";
    }
    return result + "\n";
  };
  std::vector<std::string> alignment;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const std::string dashes(widths[i] - 1, '-');
    alignment.push_back(table.columns[i].align == Align::right ? dashes + ":" : dashes + "-");
  }
  std::string result = joined(lines[0]) + joined(alignment);
  for (std::size_t i = 1; i < lines.size(); ++i) result += joined(lines[i]);
  return result;
}

std::string source(const Heading& heading) { return "## " + escaped(heading.text) + "\n"; }

std::string source(const Paragraph& paragraph) {
  return toned(escaped(paragraph.text), paragraph.tone) + "\n";
}

std::string source(const Facts& facts) {
  std::string result;
  for (const auto& [name, value] : facts.lines) {
    result += "- " + escaped(name) + ": " + toned(escaped(value.text), value.tone) + "\n";
  }
  return result;
}

std::string source(const Code& code) {
  std::string fence = "```";
  while (code.text.find(fence) != std::string::npos) fence += '`';
  const std::string_view end = code.text.ends_with('\n') ? "" : "\n";
  return fence + "\n" + code.text + std::string(end) + fence + "\n";
}

std::string source(const Table& table) {
  std::string result;
  if (!table.title.empty()) result += "**" + escaped(table.title) + "**\n\n";
  result += table_source(table);
  if (!table.note.empty()) result += "\n" + escaped(table.note) + "\n";
  return result;
}

std::string source(const Chart&) { return {}; }

}  // namespace

std::string write_markdown(const Document& document) {
  std::string out;
  for (const Block& block : document.blocks) {
    append_block(out, std::visit([](const auto& each) { return source(each); }, block));
  }
  return out;
}

}  // namespace isoloop::report
