// isoloop check: are the pairs of a manifest within tolerance?
//
// Text for people, JSON for programs, JUnit XML for CI servers, workflow commands for GitHub.
// Held by tests/cli/check_test.cpp.
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/json_writer.h"
#include "cli/input.h"
#include "cli/options.h"
#include "cli/output.h"
#include "isoloop/pairs.h"

namespace isoloop::cli {
namespace {

using Json = nlohmann::ordered_json;
using report::Align;
using report::Cell;
using report::Tone;

struct Flags {
  std::string manifest;
  bool update = false;
};

std::string budget_name(const pairs::BudgetCheck& b) { return std::string(cost::name(b.budget).name); }

std::string moved_text(const pairs::BudgetCheck& b) {
  return fmt::format("moved most: {}: {}, {} -> {}", b.moved_side, b.moved_row, grouped(b.moved_from),
                     grouped(b.moved_to));
}

/// "flops off by +3.10 % (tolerance 1.00 %); moved most: match: recur / routed experts, a -> b".
std::string failure_text(const pairs::PairCheck& pair, const pairs::BudgetCheck& b) {
  std::string text = fmt::format("{} off by {} (tolerance {} %)", budget_name(b), percent(b.mismatch, 3),
                                 decimal(b.tolerance * Ratio(100), 2));
  if (!pair.recorded) return text + "; never recorded: isoloop check --update records the rows";
  if (b.moved_row.empty()) return text + "; no row moved since it was recorded";
  return text + "; " + moved_text(b);
}

report::Document document(const std::vector<pairs::PairCheck>& checks, bool ok, bool updated) {
  report::Document d;
  report::Table table;
  table.columns = {{"pair", "", Align::left}, {"", "", Align::left}};
  for (const pairs::BudgetCheck& b : checks.front().budgets) table.columns.push_back({budget_name(b)});
  table.columns.push_back({"tolerance", "", Align::left});
  for (const pairs::PairCheck& pair : checks) {
    std::vector<Cell> row = {pair.name, pair.ok ? Cell("ok", Tone::good) : Cell("FAIL", Tone::bad)};
    std::string tolerance;
    for (const pairs::BudgetCheck& b : pair.budgets) {
      row.push_back({percent(b.mismatch, 3), b.ok ? Tone::plain : Tone::bad});
      tolerance += fmt::format("{}{} %", tolerance.empty() ? "" : ", ", decimal(b.tolerance * Ratio(100), 2));
    }
    while (row.size() + 1 < table.columns.size()) row.emplace_back("");
    row.resize(table.columns.size() - 1);
    row.emplace_back(tolerance);
    table.rows.push_back(std::move(row));
  }
  d.blocks.emplace_back(std::move(table));
  for (const pairs::PairCheck& pair : checks)
    for (const pairs::BudgetCheck& b : pair.budgets)
      if (!b.ok)
        d.blocks.emplace_back(report::Paragraph{fmt::format("{}: {}", pair.name, failure_text(pair, b)), Tone::bad});
  const auto failed = std::count_if(checks.begin(), checks.end(), [](const auto& p) { return !p.ok; });
  std::string last = ok ? fmt::format("All {} pairs are within tolerance.", checks.size())
                        : fmt::format("{} of {} pairs are out of budget.", failed, checks.size());
  if (updated) last += " The manifest now records the present counts.";
  d.blocks.emplace_back(report::Paragraph{last, ok ? Tone::good : Tone::bad});
  return d;
}

Json check_json(const std::vector<pairs::PairCheck>& checks, bool ok) {
  Json j;
  j["schema"] = "isoloop/check/v1";
  j["ok"] = ok;
  j["pairs"] = Json::array();
  for (const pairs::PairCheck& pair : checks) {
    Json p;
    p["name"] = pair.name;
    p["ok"] = pair.ok;
    p["baseline"] = pair.baseline;
    p["match"] = pair.match;
    p["recorded"] = pair.recorded;
    for (const pairs::BudgetCheck& b : pair.budgets) {
      p["mismatch"][budget_name(b)] = fraction(b.mismatch);
      p["tolerance"][budget_name(b)] = fraction(b.tolerance);
      if (b.moved_row.empty()) continue;
      p["moved"][budget_name(b)] = {{"side", b.moved_side},
                                    {"row", b.moved_row},
                                    {"from", number(b.moved_from)},
                                    {"to", number(b.moved_to)}};
    }
    j["pairs"].push_back(std::move(p));
  }
  return j;
}

std::string xml(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\n': out += "&#10;"; break;
      default:
        if (static_cast<unsigned char>(c) >= 0x20 || c == '\t') out += c;  // others are not XML 1.0
    }
  }
  return out;
}

/// One test case per pair and budget, after the JUnit schema that CI servers read.
std::string junit(const std::vector<pairs::PairCheck>& checks) {
  std::size_t tests = 0, failures = 0;
  std::string cases;
  for (const pairs::PairCheck& pair : checks)
    for (const pairs::BudgetCheck& b : pair.budgets) {
      ++tests;
      cases += fmt::format("    <testcase classname=\"{}\" name=\"{}\"", xml(pair.name), xml(budget_name(b)));
      if (b.ok) {
        cases += "/>\n";
        continue;
      }
      ++failures;
      const std::string text = xml(failure_text(pair, b));
      cases += fmt::format(">\n      <failure type=\"budget\" message=\"{}\">{}</failure>\n    </testcase>\n", text, text);
    }
  return fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
                     "  <testsuite name=\"isoloop check\" tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"0\">\n{}"
                     "  </testsuite>\n</testsuites>\n", tests, failures, cases);
}

/// Escapes of GitHub workflow commands: data, and property values.
std::string github_text(const std::string& text, bool property) {
  std::string out;
  for (const char c : text) {
    if (c == '%') out += "%25";
    else if (c == '\r') out += "%0D";
    else if (c == '\n') out += "%0A";
    else if (property && c == ':') out += "%3A";
    else if (property && c == ',') out += "%2C";
    else out += c;
  }
  return out;
}

std::string github(const std::vector<pairs::PairCheck>& checks, const std::filesystem::path& folder) {
  std::string out;
  for (const pairs::PairCheck& pair : checks)
    for (const pairs::BudgetCheck& b : pair.budgets)
      if (!b.ok)
        out += fmt::format("::error file={},title={}::{}\n",
                           github_text((folder / pair.match).lexically_normal().string(), true),
                           github_text(pair.name + " out of budget", true),
                           github_text(failure_text(pair, b), false));
  if (out.empty()) out = fmt::format("::notice title=isoloop check::all {} pairs are within tolerance\n", checks.size());
  return out;
}

}  // namespace

Action declare_check(CLI::App& app) {
  const auto flags = std::make_shared<Flags>();
  app.add_option("PAIRS", flags->manifest, "Manifest written by match or grid, or by hand")->required();
  app.add_flag("--update", flags->update, "Record the present counts in the manifest");
  return [flags](Context& context) {
    const pairs::Manifest manifest =
        pairs::from_json(read_text(flags->manifest, context), flags->manifest);
    const std::filesystem::path folder = std::filesystem::path(flags->manifest).parent_path();
    std::map<std::string, arch::Architecture> opened;  // a baseline often serves several pairs
    const auto open = [&](const std::string& file) {
      if (const auto at = opened.find(file); at != opened.end()) return at->second;
      return opened[file] = load((folder / file).string(), context).architecture;
    };
    const std::vector<pairs::PairCheck> checks = pairs::check(manifest, open);
    const bool ok = std::all_of(checks.begin(), checks.end(), [](const auto& p) { return p.ok; });
    if (flags->update) write_file(flags->manifest, pairs::to_json(pairs::record(manifest, open)), true);
    Answer answer;
    answer.exit = ok ? ExitCode::done : ExitCode::no;
    answer.document = document(checks, ok, flags->update);
    answer.json = json::pretty(check_json(checks, ok));
    answer.other = {{OutputFormat::junit, junit(checks)}, {OutputFormat::github, github(checks, folder)}};
    return answer;
  };
}

}  // namespace isoloop::cli
