// Charts as SVG: well formed, every mark where its value belongs, nothing a name could break.
//
// Source: positions follow from the values by hand. Holds src/report/svg*.cpp.
#include "report/svg.h"

#include <doctest/doctest.h>

#include <cstdlib>

#include "report/axis.h"
#include "report/charts.h"

namespace isoloop::report {
namespace {

using namespace isoloop::test;

/// The number after each occurrence of `before`.
std::vector<double> numbers_after(const std::string& text, const std::string& before) {
  std::vector<double> result;
  for (std::size_t at = text.find(before); at != text.npos; at = text.find(before, at + 1))
    result.push_back(std::strtod(text.c_str() + at + before.size(), nullptr));
  return result;
}

}  // namespace

TEST_CASE("every kind of chart is a well-formed file of its own") {
  for (const Chart& chart :
       {plot_of({{1, 2, {}, "a"}, {3, 4, Range{3, 5}, "b"}}), bars_of(), stacks_of()}) {
    CAPTURE(chart.name);
    const std::string file = write_svg(chart);
    CHECK(ill_formed(file) == "");
    CHECK(file.starts_with(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\""));
    CHECK(file.find("<title>" + chart.title + "</title>") != file.npos);
    CHECK(file.find("nan") == file.npos);
    CHECK(file.find("inf") == file.npos);
    CHECK(file.find("var(") == file.npos);  // programs that know no style sheets draw it, too
  }
}

TEST_CASE("dots stand where their values are") {
  Plot plot;
  plot.x = {"x"};
  plot.y = {"y"};
  plot.series.push_back({"s", Mark::dots, 0, false, {{0, 0}, {5, 5}, {10, 10}}});
  const std::string body = draw(plot).body;
  const std::vector<double> x = numbers_after(body, "translate(");
  REQUIRE(x.size() == 4);  // the y title, then the dots
  CHECK(x[2] == doctest::Approx((x[1] + x[3]) / 2).epsilon(0.001));
  CHECK(x[3] == doctest::Approx(svg_width - 18));
}

TEST_CASE("a band needs the range of every point") {
  const auto bands = [](std::vector<Point> points) {
    Plot plot;
    plot.x = {"x"};
    plot.y = {"y"};
    plot.series.push_back({"s", Mark::line, 0, false, std::move(points)});
    return count_of(draw(plot).body, "class=\"band");
  };
  CHECK(bands({{0, 1, Range{0, 2}}, {1, 2, Range{1, 3}}}) == 1);
  CHECK(bands({{0, 1, Range{0, 2}}, {1, 2}}) == 0);
  CHECK(bands({}) == 0);
}

TEST_CASE("nothing, one point, and no extent") {
  CHECK(write_svg(plot_of({})).find("nothing to draw") != std::string::npos);
  for (const std::vector<Point>& points :
       {std::vector<Point>{}, {{1, 1}}, {{1, 1}, {1, 1}}, {{0, 0}}}) {
    const std::string file = write_svg(plot_of(points));
    CHECK(ill_formed(file) == "");
    CHECK(file.find("nan") == file.npos);
  }
  for (const Chart& empty :
       {Chart{"a", "", "", Bars{}, "", {}}, Chart{"a", "", "", Stacks{}, "", {}},
        Chart{"a", "", "", Stacks{{Stack{}}}, "", {}}, Chart{"a", "", "", Plot{}, "", {}}}) {
    const std::string file = write_svg(empty);
    CHECK(ill_formed(file) == "");
    CHECK(file.find("nan") == file.npos);
    CHECK(file.find("inf") == file.npos);
  }
}

TEST_CASE("lengths of bars are their values") {
  const std::string body = draw(std::get<Bars>(bars_of().body)).body;
  // First panel: 100, 200 and 110, 190 over 0..200.
  const std::vector<double> widths = numbers_after(body, "\" width=\"");
  REQUIRE(widths.size() == 2 + 8);  // legend boxes first
  CHECK(widths[3] == doctest::Approx(2 * widths[2]).epsilon(0.005));
  CHECK(widths[5] == doctest::Approx(1.9 * widths[2]).epsilon(0.005));
}

TEST_CASE("a stack has a slab per layer and an arrow per loop") {
  const std::string body = draw(std::get<Stacks>(stacks_of().body)).body;
  CHECK(count_of(body, "class=\"slab") == 24);
  CHECK(count_of(body, "class=\"slab c1\"") == 6);
  CHECK(count_of(body, "class=\"head") == 1);
  CHECK(count_of(body, ">× 2<") == 1);
}

TEST_CASE("names cannot leave their place") {
  Chart plot = plot_of({{1, 1, {}, hostile}});
  plot.title = plot.note = hostile;
  auto& p = std::get<Plot>(plot.body);
  p.x.title = p.y.unit = p.series[0].name = p.guides[0].text = hostile;
  Chart bars = bars_of();
  auto& b = std::get<Bars>(bars.body);
  b.categories[0] = b.series[0] = b.panels[0].title = hostile;
  Chart stacks = stacks_of();
  auto& s = std::get<Stacks>(stacks.body).stacks[1];
  s.name = s.text = s.blocks[0].name = s.repeats[0].times = hostile;
  for (const Chart& chart : {plot, bars, stacks}) {
    const std::string file = write_svg(chart);
    CHECK(ill_formed(file) == "");
    CHECK(file.find("<img") == file.npos);
    CHECK(file.find('\x01') == file.npos);
  }
}

TEST_CASE("text is cut to its room between characters") {
  CHECK(fitted("short", 200) == "short");
  const std::string cut = fitted("größte Abweichung über alles", 60);
  CHECK(cut.ends_with("…"));
  CHECK(text_width(cut) <= 72);
  CHECK(fitted("×××××××××××××××××××", 40).find("\xC3…") == std::string::npos);
}

}  // namespace isoloop::report
