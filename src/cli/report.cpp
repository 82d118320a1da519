// isoloop report: one self-contained page from the results of other commands.
//
// Results are recognised by their "schema". Held by tests/cli/report_test.cpp, and the page in a
// browser by tests/page/page_test.py.
#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "cli/input.h"
#include "cli/report_parts.h"

namespace isoloop::cli {
namespace {

struct Flags {
  std::vector<std::string> results;
  std::string title, chart;
};

struct Kind {
  std::string_view name;  // of the command; the schema is isoloop/NAME/v1
  void (*add)(json::Fields& result, Page& page);
};
constexpr Kind kinds[] = {
    {"count", add_count}, {"match", add_match},       {"check", add_check}, {"grid", add_grid},
    {"sweep", add_sweep}, {"explore", add_explore},   {"plan", add_plan},   {"fit", add_fit},
    {"gain", add_gain},   {"allocate", add_allocate},
};

std::string schema_of(const Kind& kind) { return fmt::format("isoloop/{}/v1", kind.name); }

std::string kinds_text() {
  std::string text;
  for (const Kind& kind : kinds) text += fmt::format("{}{}", text.empty() ? "" : ", ", kind.name);
  return text;
}

const Kind& kind_of(json::Fields& result) {
  const auto schema = result.optional_text("schema");
  if (!schema)
    throw input_error(
        "field 'schema' is missing, so this is no result of isoloop", result.where(),
        fmt::format("write results with --format json; commands whose results are read: {}",
                    kinds_text()));
  for (const Kind& kind : kinds)
    if (*schema == schema_of(kind)) return kind;
  throw input_error(fmt::format("no page is made from '{}'", *schema), result.where("schema"),
                    fmt::format("results of these commands are read: {}", kinds_text()));
}

json::Value parsed(const std::string& text, const std::string& shown) {
  try {
    return json::parse(text, shown);
  } catch (const Error& error) {
    throw Error(error.kind, error.message, error.where,
                "results are written by isoloop COMMAND ... --format json");
  }
}

Page page_of(const Flags& flags, const Context& context) {
  Page page;
  std::map<std::string, int> seen;
  std::vector<std::string> titles;
  for (const std::string& path : flags.results) {
    const std::string shown = path == "-" ? "standard input" : path;
    const json::Value value = parsed(read_result(path, context), shown);
    json::Fields result(value, shown, {}, json::Nulls::absent);
    const Kind& kind = kind_of(result);
    const int number = ++seen[std::string(kind.name)];
    page.prefix = number == 1 ? std::string(kind.name) : fmt::format("{}-{}", kind.name, number);
    about(shown, [&] { kind.add(result, page); });
    titles.push_back(path == "-" ? shown : std::filesystem::path(path).filename().string());
  }
  page.document.title =
      flags.title.empty() ? fmt::format("isoloop: {}", list_text(titles)) : flags.title;
  return page;
}

/// The chart asked for, or the only one.
const report::Chart& chosen(const report::Document& document, const std::string& name) {
  const std::vector<std::string> names = report::chart_names(document);
  if (names.empty())
    throw usage_error("there is no chart in these results", "--format svg",
                      "isoloop report --format html shows their tables");
  if (name.empty() && names.size() > 1)
    throw usage_error("which chart?", "--format svg",
                      fmt::format("add --chart NAME, one of: {}", list_text(names)));
  for (const report::Block& block : document.blocks)
    if (const auto* chart = std::get_if<report::Chart>(&block))
      if (name.empty() || chart->name == name) return *chart;
  throw unknown_name(ErrorKind::usage, "chart", name, names, "--chart");
}

/// Text cannot draw; it names what can be had.
void name_charts(report::Document& document) {
  const std::vector<std::string> names = report::chart_names(document);
  if (names.empty()) return;
  document.blocks.emplace_back(report::Heading{"Charts"});
  document.blocks.emplace_back(report::Paragraph{
      fmt::format("isoloop report ... --format svg --chart NAME, where NAME is one of: {}",
                  list_text(names)),
      report::Tone::dim});
}

void refuse_terminal(const Context& context) {
  if (context.common.format == OutputFormat::html && context.common.output.empty() &&
      context.streams.out_is_terminal)
    throw usage_error("a page is not for a terminal", "report",
                      "add -o page.html, or --format text");
}

}  // namespace

Action declare_report(CLI::App& app) {
  const auto flags = std::make_shared<Flags>();
  app.add_option("RESULT", flags->results,
                 fmt::format("JSON of {}, or -", kinds_text()))
      ->required();
  app.add_option("--title", flags->title, "Title of the page (default: the files' names)")
      ->type_name("WORDS");
  app.add_option("--chart", flags->chart, "With --format svg: which chart")->type_name("NAME");
  return [flags](Context& context) {
    refuse_terminal(context);
    const bool svg = context.common.format == OutputFormat::svg;
    if (!flags->chart.empty() && !svg)
      throw usage_error("chooses a chart for --format svg", "--chart",
                        "add --format svg, or leave it out");
    Page page = page_of(*flags, context);
    Answer answer;
    if (context.common.format == OutputFormat::html)
      answer.other = {{OutputFormat::html, report::write(page.document, report::Format::html)}};
    if (svg)
      answer.other = {{OutputFormat::svg, report::write_svg(chosen(page.document, flags->chart))}};
    if (context.common.format == OutputFormat::json)
      answer.json = report::write_json(page.document);
    answer.document = std::move(page.document);
    if (context.common.format == OutputFormat::text) name_charts(answer.document);
    return answer;
  };
}

}  // namespace isoloop::cli
