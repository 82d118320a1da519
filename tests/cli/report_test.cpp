// isoloop report: pages from real results of every command, numbers that agree with the results
// they come from, and input that is refused.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "cli/report_results.h"

namespace {

using namespace isoloop::test;
using nlohmann::json;

json report_of(std::vector<std::string> files) {
  files.insert(files.begin(), "report");
  files.insert(files.end(), {"--format", "json"});
  const auto ran = run_cli(files);
  REQUIRE_MESSAGE(ran.code() == 0, ran.err);
  return json::parse(ran.out);
}

/// Charts of a report by name.
std::map<std::string, json> charts_of(const json& report) {
  std::map<std::string, json> charts;
  for (const json& block : report.at("blocks"))
    if (block.contains("chart")) charts[block.at("chart").at("name")] = block.at("chart");
  return charts;
}

std::vector<json> tables_of(const json& report) {
  std::vector<json> tables;
  for (const json& block : report.at("blocks"))
    if (block.contains("table")) tables.push_back(block.at("table"));
  return tables;
}

double sum_of(const json& bars, std::size_t panel, std::size_t series) {
  double sum = 0;
  for (const json& bar : bars.at("panels")[panel].at("bars")[series])
    sum += bar.at("value").get<double>();
  return sum;
}

json parsed(const TempFolder& folder, const std::string& name) {
  return json::parse(folder.read(name));
}

}  // namespace

TEST_CASE("every kind of result becomes a page, Markdown, CSV, text and SVG") {
  const TempFolder folder;
  for (const auto& result : every_result(folder)) {
    const std::string kind = result.first, file = result.second;
    CAPTURE(kind);
    const auto page = run_cli({"report", file, "-o", folder / (kind + ".html")});
    CHECK(page.code() == 0);
    CHECK(page.out == "");
    CHECK(page.err == "");
    CHECK(folder.read(kind + ".html").starts_with("<!DOCTYPE html>"));
    for (const char* format : {"md", "csv", "text"}) {
      const auto ran = run_cli({"report", file, "--format", format});
      CHECK(ran.code() == 0);
      CHECK(ran.out.size() > 100);
    }
    const auto charts = charts_of(report_of({file}));
    CHECK(charts.size() >= 1);
    for (const auto& [name, chart] : charts) {
      const auto svg = run_cli({"report", file, "--format", "svg", "--chart", name});
      CHECK(svg.code() == 0);
      CHECK(svg.out.starts_with("<?xml"));
    }
  }
}

TEST_CASE("several results share a page, each chart with a name of its own") {
  const TempFolder folder;
  const std::string one = made(folder, "one.json", "count qwen3-0.6b"),
                    two = made(folder, "two.json", "count ouro-1.4b");
  const auto charts = charts_of(report_of({one, two}));
  CHECK(charts.contains("count-rows"));
  CHECK(charts.contains("count-2-rows"));
  const auto page = run_cli({"report", one, two, "--title", "Two models"});
  CHECK(page.out.find("<h1>Two models</h1>") != page.out.npos);
  CHECK(page.out.find("href=\"#part-2\"") != page.out.npos);
}

TEST_CASE("bars of a count add up to its totals") {
  const TempFolder folder;
  for (const char* model : {"smelt-200m-e192", "qwen3-30b-a3b", "deepseek-v3"}) {
    CAPTURE(model);
    const json bars = charts_of(report_of({made(folder, "c.json", std::string("count ") + model)}))
                          .at("count-rows");
    const json counted = parsed(folder, "c.json").at("models")[0];
    CHECK(sum_of(bars, 0, 0) == counted.at("flops_per_token").at("train").get<double>());
    CHECK(sum_of(bars, 1, 0) == counted.at("params").at("total").get<double>());
    CHECK(sum_of(bars, 2, 0) == counted.at("kv_cache").at("bytes_per_token").get<double>());
  }
}

TEST_CASE("bars of a pair add up to the budgets of the match, whatever it was counted with") {
  const TempFolder folder;
  for (const char* options : {"", "--convention megatron", "--kv-dtype fp8 --context 8192",
                              "--attended 700.5 --convention palm", "--documents 1024,3072"}) {
    CAPTURE(options);
    const json report =
        report_of({made(folder, "m.json", std::string("match smelt-200m-e192 ") + options)});
    const auto charts = charts_of(report);
    REQUIRE(charts.contains("match-budgets-1"));
    const json bars = charts.at("match-budgets-1"), match = parsed(folder, "m.json");
    std::size_t panel = 0;
    for (const char* budget : {"flops", "params", "kv"}) {
      const double target = match.at("budget").at(budget),
                   off = match.at("answers")[0].at("mismatch").at(budget);
      CHECK(sum_of(bars, panel, 0) == doctest::Approx(target).epsilon(1e-12));
      CHECK(sum_of(bars, panel, 1) == doctest::Approx(target * (1 + off)).epsilon(1e-12));
      ++panel;
    }
  }
}

TEST_CASE("a match that cannot be recounted keeps its layers and says why bars are missing") {
  const TempFolder folder;
  json match =
      json::parse(folder.read((made(folder, "m.json", "match smelt-200m-e192"), "m.json")));
  match["answers"][0]["mismatch"]["flops"] = 0.005;
  const auto ran =
      run_cli({"report", folder.write("other.json", match.dump()), "--format", "text"});
  CHECK(ran.out.find("Budgets by row are left out for answer 1: recounting the models") !=
        ran.out.npos);
  CHECK(ran.out.find("match-budgets-1") == ran.out.npos);
  CHECK(ran.out.find("match-layers-1") != ran.out.npos);
}

TEST_CASE("percentages are rounded as isoloop match rounds them") {
  const TempFolder folder;
  const std::string file = made(folder, "m.json", "match smelt-200m-e192");
  CHECK(run_cli({"match", "smelt-200m-e192"}).out.find("-1.563") !=
        std::string::npos);  // exactly -1.5625 %
  CHECK(run_cli({"report", file, "--format", "csv"}).out.find("-1.563,1.563\r\n") !=
        std::string::npos);
}

TEST_CASE("a grid's cells are linked to its scatters and have pairs of their own") {
  const TempFolder folder;
  const json report = report_of({made(folder, "grid.json", "grid smelt")});
  const auto charts = charts_of(report);
  std::size_t points = 0;
  for (const json& series : charts.at("grid-mismatch").at("series"))
    points += series.at("points").size();
  CHECK(points == 16);
  CHECK(charts.at("grid-mismatch").at("table") == "grid-cells");
  CHECK(tables_of(report)[0].at("rows").size() == 16);
  const json cells = parsed(folder, "grid.json").at("cells");
  for (std::size_t i = 0; i < 16; ++i) {
    const json& bars = charts.at("grid-budgets-" + std::to_string(i + 1));
    CHECK(bars.at("row") == i);
    const double off = cells[i].at("mismatch").at("params");
    CHECK(sum_of(bars, 1, 1) / sum_of(bars, 1, 0) - 1 == doctest::Approx(off).epsilon(1e-9));
  }
}

TEST_CASE("grids and sweeps say what they were counted with, whatever was asked for") {
  const TempFolder folder;
  const std::string counted =
      " --convention palm --context 2048 --kv-dtype fp8 --tol flops=3%,params=3%,kv=5%";
  for (const std::string line : {"grid smelt", "sweep smelt-200m-e192 --span 2,6"}) {
    CAPTURE(line);
    const std::string file = made(folder, "r.json", line + counted);
    const json result = parsed(folder, "r.json");
    CHECK(result.at("convention") == "palm");
    CHECK(result.at("context_tokens") == 2048);
    CHECK(result.at("kv_dtype") == "fp8");
    CHECK(result.at("tolerance").at("kv") == 0.05);
    const auto charts = charts_of(report_of({file}));
    CHECK(charts.contains(line.substr(0, line.find(' ')) + "-budgets-1"));
  }
}

TEST_CASE("the stack draws prelude, loop and coda") {
  const TempFolder folder;
  const auto charts =
      charts_of(report_of({made(folder, "m.json", "match smelt-200m-e192 --loop 3+6x2+3")}));
  const json stack = charts.at("match-layers-1").at("stacks")[1];
  REQUIRE(stack.at("blocks").size() == 3);
  CHECK(stack.at("blocks")[1].at("name") == "recur");
  CHECK(stack.at("blocks")[1].at("count") == 6);
  CHECK(stack.at("repeats") == json::parse(R"([{"first": 1, "last": 1, "times": "2"}])"));
}

TEST_CASE("a plan's bars are its times by kind, beside the baseline's") {
  const TempFolder folder;
  const std::string line =
      "plan smelt-200m-e192 --loop middle --gpu h100-sxm5 --against smelt-200m-e192";
  const json bars = charts_of(report_of({made(folder, "p.json", line)})).at("plan-kinds"),
             plan = parsed(folder, "p.json");
  CHECK(bars.at("series").size() == 2);
  CHECK(bars.at("series")[0] == "smelt-200m-e192");  // first, as in charts of pairs: one colour
  CHECK(sum_of(bars, 0, 1) == doctest::Approx(plan.at("step_time_ms").at("mid").get<double>()));
  CHECK(sum_of(bars, 0, 0) ==
        doctest::Approx(plan.at("baseline").at("step_time_ms").at("mid").get<double>()));
}

TEST_CASE("a fit shows loss against compute by sparsity, bands where it has them, and residuals") {
  const TempFolder folder;
  const auto charts = charts_of(report_of({folder.write("fit.json", fit_result())}));
  const json series = charts.at("fit-loss").at("series");
  REQUIRE(series.size() == 4);
  CHECK(series[0].at("name") == "runs, S = 0.85");
  CHECK(series[0].at("points").size() == 1);
  CHECK(series[1].at("points").size() == 1);  // a run without compute has no place
  CHECK(series[2].at("mark") == "line");
  CHECK(series[2].at("colour") == series[0].at("colour"));
  CHECK(series[2].at("points")[0].at("range") == json::parse("[2.9, 3.1]"));
  CHECK(!series[3].at("points")[0].contains("range"));
  CHECK(charts.at("fit-residuals").at("series")[1].at("points")[0].at("y") ==
        doctest::Approx(-0.4));
  CHECK(charts.at("fit-residuals").at("table") == "fit-points");
}

TEST_CASE("a real fit: every run is a point, and every sparsity has a frontier with a band") {
  const TempFolder folder;
  const std::string file =
      made(folder, "fit.json", "fit " ISOLOOP_SOURCE_DIR "/examples/laws/baseline.csv --draws 50");
  const json fit = parsed(folder, "fit.json");
  const auto charts = charts_of(report_of({file}));
  std::size_t points = 0, curves = 0, banded = 0;
  for (const json& series : charts.at("fit-loss").at("series")) {
    if (series.at("mark") == "dots")
      points += series.at("points").size();
    else
      ++curves;
    if (series.at("mark") == "line" && series.at("points")[0].contains("range")) ++banded;
  }
  CHECK(points == fit.at("points").size());
  CHECK(curves == fit.at("frontiers").size());
  CHECK(banded == curves);
}

TEST_CASE("a gain's dots lie on its curves") {
  const TempFolder folder;
  const json series = charts_of(report_of({made(folder, "gain.json", "gain baseline smelt")}))
                          .at("gain-compute")
                          .at("series");
  REQUIRE(series.size() == 6);
  for (std::size_t s = 0; s < 3; ++s) {
    const json &dots = series[s].at("points"), &curve = series[s + 3].at("points");
    CHECK(series[s].at("colour") == series[s + 3].at("colour"));
    for (const json& dot : dots)
      for (std::size_t i = 1; i < curve.size(); ++i) {
        const double x = dot.at("x"), from = curve[i - 1].at("x"), to = curve[i].at("x");
        if (x < from || x > to) continue;
        const double a = curve[i - 1].at("y"), b = curve[i].at("y"), y = dot.at("y");
        CHECK(y >= std::min(a, b) - 1e-6);
        CHECK(y <= std::max(a, b) + 1e-6);
      }
  }
}

TEST_CASE("an exploration's front is a scatter with estimates as bars") {
  const TempFolder folder;
  const auto charts = charts_of(report_of({folder.write("explore.json", explore_result())}));
  const json points = charts.at("explore-mismatch-step-time").at("series")[0].at("points");
  REQUIRE(points.size() == 2);
  CHECK(charts.at("explore-mismatch-step-time").at("guides").size() == 1);
  CHECK(points[1].at("range") == json::parse("[0.8, 1.0]"));
  CHECK(points[1].at("row") == 1);
  CHECK(charts.contains("explore-budgets-1"));
  CHECK(!charts.contains("explore-budgets-2"));  // its stated mismatch is not its model's
  CHECK(charts.contains("explore-layers-2"));
}

TEST_CASE("results with nothing in them") {
  const TempFolder folder;
  for (const char* text :
       {R"({"schema": "isoloop/check/v1", "ok": true, "pairs": []})",
        R"({"schema": "isoloop/grid/v1", "name": "none", "cells": []})",
        R"({"schema": "isoloop/explore/v1", "front": []})",
        R"({"schema": "isoloop/gain/v1", "reference": "a", "target": "b", "rows": []})"}) {
    CAPTURE(text);
    const auto ran = run_cli({"report", folder.write("r.json", text)});
    CHECK(ran.code() == 0);
    CHECK(ran.err == "");
  }
  const auto none = run_cli(
      words("match smelt-200m-e192 --tol flops=0.0001%,params=0.0001%,kv=0% --format json"));
  CHECK(none.code() == 1);
  const auto ran = run_cli({"report", "-", "--format", "text"}, none.out);
  CHECK(ran.code() == 0);
  CHECK(ran.out.find("No architecture within tolerance.") != ran.out.npos);
}

TEST_CASE("markup in names stays text") {
  const TempFolder folder;
  json count = json::parse(folder.read((made(folder, "c.json", "count qwen3-0.6b"), "c.json")));
  count["models"][0]["name"] = "</script><img src=x onerror=alert(1)>";
  const auto ran = run_cli({"report", folder.write("evil.json", count.dump())});
  CHECK(ran.code() == 0);
  CHECK(ran.out.find("<img") == ran.out.npos);
  CHECK(ran.out.find("&lt;img src=x") != ran.out.npos);
}

TEST_CASE("files that are no results are refused") {
  const TempFolder folder;
  const std::string reads =
      "results of these commands are read: count, match, check, grid, sweep, explore, plan, fit, "
      "gain, allocate\n";
  const auto refuse = [&](const std::string& text, const std::string& message) {
    const auto ran = run_cli({"report", folder.write("r.json", text), "-o", folder / "page.html"});
    CHECK(ran.code() == 2);
    CHECK(folder.relative(ran.err) == "isoloop: " + message);
    CHECK(!std::filesystem::exists(folder / "page.html"));
  };
  refuse("flops,params\n1,2\n",
         "r.json:1:2: not valid JSON: invalid literal in value\n  hint: results are written by "
         "isoloop COMMAND ... --format json\n");
  refuse("[1]", "r.json: is a list; expected an object { … }\n");
  refuse(
      "{\"models\": []}",
      "r.json: field 'schema' is missing, so this is no result of isoloop\n  hint: write "
      "results with --format json; commands whose "
      "results are read: count, match, check, grid, sweep, explore, plan, fit, gain, allocate\n");
  refuse(R"({"schema": "isoloop/arch/v1"})",
         "r.json: schema: no page is made from 'isoloop/arch/v1'\n  hint: " + reads);
  refuse(R"({"schema": "isoloop/count/v2"})",
         "r.json: schema: no page is made from 'isoloop/count/v2'\n  hint: " + reads);
  refuse(R"({"schema": 7})", "r.json: schema: is 7; expected text in quotes\n");
  refuse(R"({"schema": "isoloop/count/v1"})", "r.json: field 'models' is missing\n");
  refuse(R"({"schema": "isoloop/grid/v1", "name": "x", "cells": [{"name": "a", "scale": "b"}]})",
         "r.json: cells[0]: field 'baseline' is missing\n");
  refuse(
      R"({"schema": "isoloop/gain/v1", "target": "a", "reference": "b", "rows": [{"compute": "x"}]})",
      "r.json: rows[0].compute: is \"x\"; expected a number\n");
  refuse(R"({"schema": "isoloop/match/v1", "baseline": {"schema": "isoloop/arch/v1"}})",
         "r.json: baseline: field 'hidden_size' is missing\n");
  const std::string whole = run_cli(words("count qwen3-0.6b --format json")).out;
  refuse(whole.substr(0, whole.size() / 2),
         "r.json:125:28: not valid JSON: invalid string: missing closing quote in value\n  hint: "
         "results are written by isoloop COMMAND ... --format json\n");
}

TEST_CASE("what cannot be asked for is refused") {
  const TempFolder folder;
  const std::string file = made(folder, "c.json", "count qwen3-0.6b");
  const auto refuse = [&](std::vector<std::string> args, const std::string& message) {
    args.insert(args.begin(), "report");
    const auto ran = run_cli(args);
    CHECK(ran.code() == 2);
    CHECK(ran.out == "");
    CHECK(folder.relative(ran.err) == "isoloop: " + message);
  };
  refuse({}, "report: RESULT is missing\n  hint: see isoloop report --help\n");
  refuse({folder / "no.json"},
         "no.json: cannot be read: No such file or directory\n  hint: name a file that exists and "
         "is readable; isoloop COMMAND ... --format json writes results\n");
  // A result may be larger than any configuration, but not without end.
  const std::string large = folder.write("large.json", std::string((64 << 20) + 1, ' ') + "{}");
  refuse({large},
         "large.json: field 'schema' is missing, so this is no result of isoloop\n  hint: write "
         "results with --format json; commands whose results are read: count, match, check, grid, "
         "sweep, explore, plan, fit, gain, allocate\n");
  std::filesystem::resize_file(large, (std::uintmax_t{1} << 30) + 1);
  refuse({large},
         "large.json: is larger than 1024 MiB\n  hint: ask a smaller question, e.g. with "
         "tighter tolerances\n");
  refuse({file, "--chart", "count-rows"},
         "--chart: chooses a chart for --format svg\n  hint: add --format svg, or leave it out\n");
  refuse(
      {file, "--format", "svg"},
      "--format svg: which chart?\n  hint: add --chart NAME, one of: count-rows, count-layers\n");
  refuse({file, "--format", "svg", "--chart", "count-row"},
         "--chart: unknown chart 'count-row'\n  hint: did you mean 'count-rows'?\n");
  refuse({file, "--format", "pdf"},
         "--format: unknown format 'pdf'\n  hint: known: text, json, md, csv, html, svg\n");
  folder.write("page.html", "mine");
  refuse({file, "-o", folder / "page.html"},
         "page.html: exists already\n  hint: add --force to replace it\n");
  CHECK(folder.read("page.html") == "mine");
  CHECK(run_cli({"report", file, "-o", folder / "page.html", "--force"}).code() == 0);
}

TEST_CASE("a page is not printed to a terminal") {
  const TempFolder folder;
  const std::string file = made(folder, "c.json", "count qwen3-0.6b");
  std::istringstream in;
  std::ostringstream out, err;
  isoloop::cli::Streams streams{in, out, err};
  streams.out_is_terminal = true;
  CHECK(static_cast<int>(isoloop::cli::run({"report", file}, streams)) == 2);
  CHECK(err.str() ==
        "isoloop: report: a page is not for a terminal\n  hint: add -o page.html, or --format "
        "text\n");
  CHECK(out.str() == "");
  CHECK(static_cast<int>(isoloop::cli::run({"report", file, "--format", "text"}, streams)) == 0);
}
