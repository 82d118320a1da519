// The page: well formed, complete without scripts, closed against markup in names and the network.
//
// Holds src/report/html.cpp. What a browser makes of it: tests/page/page_test.py.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "report/assets.h"
#include "report/charts.h"

namespace isoloop::report {
namespace {

using namespace isoloop::test;

const std::vector<std::string> voids = {"meta", "img", "br", "input", "link"};

std::string page(const Document& document) { return write(document, Format::html); }

Document every_block(const std::string& text) {
  Table table{text,
              {{text, text, Align::left}, {text}},
              {{Cell(text, Tone::bad), Cell(text)}, {Cell(text)}},
              {1},
              text,
              "t"};
  Chart plot = plot_of({{1, 1, {}, text, 0}, {2, 2, {}, text, 1}});
  plot.table = "t";
  plot.title = plot.note = text;
  Chart late = bars_of();
  late.table = "t";
  late.row = 1;
  std::get<Bars>(late.body).categories[0] = text;
  return {{Heading{text}, Paragraph{text, Tone::warn}, Facts{{{text, Cell(text)}}}, Code{text},
           table, plot, late, stacks_of(), Heading{text}},
          text};
}

/// The embedded charts.
nlohmann::json charts_in(const std::string& html) {
  const std::string open = "<script type=\"application/json\" id=\"charts\">";
  const std::size_t from = html.find(open) + open.size();
  return nlohmann::json::parse(html.substr(from, html.find("</script>", from) - from));
}

}  // namespace

TEST_CASE("the page is well formed and holds every block") {
  const std::string html = page(every_block("a name"));
  CHECK(ill_formed(html, voids) == "");
  CHECK(html.starts_with("<!DOCTYPE html>\n<html lang=\"en\">"));
  CHECK(html.find("<title>a name</title>") != html.npos);
  CHECK(count_of(html, "<h2 id=") == 2);
  CHECK(count_of(html, "<figure") == 3);
  CHECK(count_of(html, "<svg") == 3);  // complete without scripts
  CHECK(charts_in(html).size() == 3);
}

TEST_CASE("an empty document is a page, too") {
  const std::string html = page({});
  CHECK(ill_formed(html, voids) == "");
  CHECK(html.find("<h1>isoloop report</h1>") != html.npos);
  CHECK(charts_in(html).empty());
  CHECK(html.find("<nav") == html.npos);
}

TEST_CASE("markup in names stays text everywhere") {
  const std::string html = page(every_block(hostile)), harmless = page(every_block("x"));
  CHECK(ill_formed(html, voids) == "");
  CHECK(html.find("<img") == html.npos);
  for (const char* tag : {"<script", "</script", "<title", "</title", "<svg", "</svg", "<!--"})
    CHECK_MESSAGE(count_of(html, tag) == count_of(harmless, tag), tag);
  CHECK(charts_in(html)[0].at("title") == hostile);
}

TEST_CASE("broken text is replaced, not refused") {
  const std::string html = page(every_block("\xff\xc0 name"));
  CHECK(ill_formed(html, voids) == "");
  CHECK(html.find('\xff') == html.npos);
}

TEST_CASE("nothing is fetched and no script runs but ours") {
  const std::string html = page(every_block("x"));
  CHECK(html.find("default-src 'none'") != html.npos);
  CHECK(html.substr(0, html.find("</head>")).find("unsafe") == html.npos);
  for (const char* fetching :
       {"src=\"", "<link", "@import", "url(", "fetch(\"", " style=\"", " onclick"})
    CHECK_MESSAGE(
        html.substr(0, html.find(std::string(d3_script.substr(0, 40)))).find(fetching) == html.npos,
        fetching);
  const std::size_t at = html.find("'nonce-") + 7;
  CHECK(count_of(html, "nonce=\"" + html.substr(at, 16) + "\"") == 3);  // style, D3, ours
}

TEST_CASE("D3 is there with its licence, and cannot end its script element") {
  CHECK(d3_script.find("Mike Bostock") < 200);
  CHECK(d3_script.find("</script") == d3_script.npos);
  CHECK(d3_script.find("<!--") == d3_script.npos);
  const std::string html = page({});
  CHECK(html.find("Copyright 2010-2022 Mike Bostock") != html.npos);
  CHECK(html.find("THIS SOFTWARE IS PROVIDED BY THE COPYRIGHT HOLDERS") != html.npos);
}

TEST_CASE("charts about a row wait for it, the first row's are there at once") {
  Document document = every_block("x");
  Chart first = stacks_of();
  first.name = "first";
  first.table = "t";
  first.row = 0;
  document.blocks.emplace_back(first);
  const std::string html = page(document);
  CHECK(html.find("<figure data-chart=\"bars\" class=\"wide\" hidden>") != html.npos);
  CHECK(html.find("<figure data-chart=\"first\">") != html.npos);
}

TEST_CASE("the same bytes each time") { CHECK(page(every_block("x")) == page(every_block("x"))); }

}  // namespace isoloop::report
