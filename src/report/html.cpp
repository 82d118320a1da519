// One HTML page that needs nothing beside it.
//
// The page is complete as written: tables are tables and charts are SVG, so that it reads without
// scripts and in viewers that forbid them. Scripts then make tables sort and filter, draw the
// charts anew with D3 to the width of the window, and link the two. Names come from files and are
// never markup: text is escaped, data sits in JSON without "<", and the page's content security
// policy runs only the scripts written here, so that neither network nor inline handlers can be
// reached.
//
// Source: HTML Living Standard; Content Security Policy Level 3. Held by
// tests/report/html_test.cpp, and in a browser by tests/page/page_test.py.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <variant>

#include "base/hash.h"
#include "isoloop/base.h"
#include "report/assets.h"
#include "report/chart.h"
#include "report/layout.h"
#include "report/markup.h"
#include "report/svg.h"

namespace isoloop::report {
namespace {

constexpr std::string_view page_folder = "templates/page/";

std::string_view tone_class(Tone tone) {
  switch (tone) {
    case Tone::plain:
      return "";
    case Tone::good:
      return "good";
    case Tone::bad:
      return "bad";
    case Tone::warn:
      return "warn";
    case Tone::dim:
      return "dim";
    case Tone::strong:
      return "strong";
  }
  return "";
}

std::string class_attribute(std::string_view names) {
  return names.empty() ? "" : fmt::format(" class=\"{}\"", names);
}

std::string join(std::string_view a, std::string_view b) {
  return std::string(a) + (a.empty() || b.empty() ? "" : " ") + std::string(b);
}

/// What belongs to a document: numbers of its headings, and the first row of each table that charts
/// are about.
struct Page {
  std::size_t headings = 0;
  std::map<std::string, std::size_t> first_rows;
};

std::string markup(const Heading& heading, Page& page) {
  return fmt::format("<h2 id=\"part-{}\">{}</h2>\n", ++page.headings, escaped_markup(heading.text));
}

std::string markup(const Paragraph& paragraph, Page&) {
  return fmt::format("<p{}>{}</p>\n", class_attribute(tone_class(paragraph.tone)),
                     escaped_markup(paragraph.text));
}

std::string markup(const Facts& facts, Page&) {
  std::string out = "<dl>\n";
  for (const auto& [name, value] : facts.lines)
    out += fmt::format("<dt>{}</dt><dd{}>{}</dd>\n", escaped_markup(name),
                       class_attribute(tone_class(value.tone)), escaped_markup(value.text));
  return out + "</dl>\n";
}

std::string markup(const Code& code, Page&) {
  return fmt::format("<pre tabindex=\"0\"><code>{}</code></pre>\n", escaped_markup(code.text));
}

std::string head_cell(const Column& column) {
  std::string unit;
  if (!column.unit.empty())
    unit = fmt::format(" <span class=\"unit\">{}</span>", escaped_markup(column.unit));
  return fmt::format("<th scope=\"col\"{} data-title=\"{}\">{}{}</th>",
                     class_attribute(column.align == Align::right ? "n" : ""),
                     escaped_markup(column.title), escaped_markup(column.title), unit);
}

std::string row_markup(const Table& table, std::size_t r) {
  const bool ruled =
      r > 0 && std::find(table.rules.begin(), table.rules.end(), r) != table.rules.end();
  std::string out = fmt::format("<tr{}>", class_attribute(ruled ? "rule" : ""));
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const Cell cell = cell_at(table.rows[r], i);
    const bool number = table.columns[i].align == Align::right;
    out += fmt::format("<td{}>{}</td>",
                       class_attribute(join(number ? "n" : "", tone_class(cell.tone))),
                       escaped_markup(cell.text));
  }
  return out + "</tr>\n";
}

std::string markup(const Table& table, Page&) {
  std::string out = "<div class=\"table\"";
  if (!table.id.empty()) out += fmt::format(" data-table=\"{}\"", escaped_markup(table.id));
  out += ">\n<div class=\"bar\">";
  if (!table.title.empty()) out += fmt::format("<h3>{}</h3>", escaped_markup(table.title));
  out += "</div>\n<div class=\"scroll\" tabindex=\"0\" role=\"group\"";
  if (!table.title.empty()) out += fmt::format(" aria-label=\"{}\"", escaped_markup(table.title));
  out += "><table>\n<thead><tr>";
  for (const Column& column : table.columns) out += head_cell(column);
  out += "</tr></thead>\n<tbody>\n";
  for (std::size_t r = 0; r < table.rows.size(); ++r) out += row_markup(table, r);
  out += "</tbody>\n</table></div>\n";
  if (!table.note.empty())
    out += fmt::format("<p class=\"note\">{}</p>\n", escaped_markup(table.note));
  return out + "</div>\n";
}

/// Charts about a row are drawn when it is selected; the page as written shows the first row's.
std::string markup(const Chart& chart, Page& page) {
  const bool waits = chart.row && *chart.row != page.first_rows.at(chart.table);
  const Bars* bars = std::get_if<Bars>(&chart.body);
  const bool wide = bars != nullptr && bars->panels.size() > 1;
  std::string out = fmt::format(
      "<figure data-chart=\"{}\"{}{}>\n<figcaption>{}</figcaption>\n<div class=\"drawing\">",
      chart.name, class_attribute(wide ? "wide" : ""), waits ? " hidden" : "",
      escaped_markup(chart.title));
  if (!waits) out += svg(chart, true);
  out += "</div>\n";
  if (!chart.note.empty())
    out += fmt::format("<p class=\"note\">{}</p>\n", escaped_markup(chart.note));
  return out + "</figure>\n";
}

std::string navigation(const Document& document) {
  std::string out;
  std::size_t number = 0;
  for (const Block& block : document.blocks)
    if (const Heading* heading = std::get_if<Heading>(&block))
      out += fmt::format("<li><a href=\"#part-{}\">{}</a></li>\n", ++number,
                         escaped_markup(heading->text));
  if (number < 2) return {};
  return "<nav aria-label=\"Contents\"><ul>\n" + out + "</ul></nav>\n";
}

std::string charts_json(const Document& document) {
  nlohmann::ordered_json charts = nlohmann::ordered_json::array();
  for (const Block& block : document.blocks)
    if (const Chart* chart = std::get_if<Chart>(&block)) charts.push_back(chart_json(*chart));
  using Json = nlohmann::ordered_json;
  return script_safe(charts.dump(-1, ' ', false, Json::error_handler_t::replace));
}

std::string page_scripts() {
  std::string out;
  for (const DataFile& file : data_files())
    if (file.path.starts_with(page_folder) && file.path.ends_with(".js")) out += file.text;
  return out;
}

std::string foot() {
  return fmt::format(
      "<footer>\n<p>Written by isoloop {}. This page needs no network.</p>\n"
      "<details><summary>Charts by D3; its "
      "licence</summary>\n<pre>{}</pre>\n</details>\n</footer>\n",
      ISOLOOP_VERSION, escaped_markup(data_file("templates/page/d3-licences.txt")));
}

}  // namespace

std::string write_html(const Document& document) {
  Page page;
  for (const Block& block : document.blocks)
    if (const Chart* chart = std::get_if<Chart>(&block); chart && chart->row) {
      const auto [at, fresh] = page.first_rows.emplace(chart->table, *chart->row);
      if (!fresh) at->second = std::min(at->second, *chart->row);
    }
  std::string body;
  bool among_charts = false;  // neighbours stand side by side where there is room
  for (const Block& block : document.blocks) {
    const bool chart = std::holds_alternative<Chart>(block);
    if (chart != among_charts) body += chart ? "<div class=\"charts\">\n" : "</div>\n";
    among_charts = chart;
    body += std::visit([&](const auto& each) { return markup(each, page); }, block);
  }
  if (among_charts) body += "</div>\n";
  const std::string charts = charts_json(document), nonce = fnv1a(body + charts);
  const std::string title =
      escaped_markup(document.title.empty() ? "isoloop report" : document.title);

  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
      "script-src 'nonce-{0}'; style-src 'nonce-{0}'; img-src data:; base-uri 'none'; form-action "
      "'none'\">\n"
      "<title>{1}</title>\n<style nonce=\"{0}\">\n",
      nonce, title);
  out += data_file("templates/page/page.css");
  out += fmt::format("</style>\n</head>\n<body>\n<header><h1>{}</h1></header>\n", title);
  out += navigation(document) + "<main>\n" + body + "</main>\n" + foot();
  out += "<script type=\"application/json\" id=\"charts\">" + charts + "</script>\n";
  out += fmt::format("<script nonce=\"{}\">\n", nonce);
  out += d3_script;
  out += fmt::format("\n</script>\n<script nonce=\"{}\">\n", nonce);
  out += page_scripts();
  return out + "</script>\n</body>\n</html>\n";
}

}  // namespace isoloop::report
