// isoloop check: are the pairs of a manifest within tolerance?
//
// Text for people, JSON for programs, JUnit XML for CI servers, workflow commands for GitHub.
// Held by tests/cli/check_test.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
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

std::string sentence_of_all(std::size_t pairs) {
  return pairs == 1 ? "the pair is within tolerance." : fmt::format("all {} pairs are within tolerance.", pairs);
}

/// Every budget that some pair has, in the order of the budgets' table.
std::vector<std::string> budgets_of(const std::vector<pairs::PairCheck>& checks) {
  std::vector<std::string> result;
  for (const std::string& name : cost::budget_names())
    for (const pairs::PairCheck& pair : checks)
      if ((result.empty() || result.back() != name) &&
          std::any_of(pair.budgets.begin(), pair.budgets.end(),
                      [&](const pairs::BudgetCheck& b) { return budget_name(b) == name; }))
        result.push_back(name);
  return result;
}

report::Document document(const std::vector<pairs::PairCheck>& checks, bool ok, bool updated) {
  report::Document d;
  report::Table table;
  table.columns = {{"pair", "", Align::left}, {"", "", Align::left}};
  const std::vector<std::string> budgets = budgets_of(checks);
  for (const std::string& budget : budgets) table.columns.push_back({budget});
  table.columns.push_back({"tolerance", "", Align::left});
  for (const pairs::PairCheck& pair : checks) {
    std::vector<Cell> row = {pair.name, pair.ok ? Cell("ok", Tone::good) : Cell("FAIL", Tone::bad)};
    std::string tolerance;
    row.resize(row.size() + budgets.size());
    for (const pairs::BudgetCheck& b : pair.budgets) {
      const auto at = std::find(budgets.begin(), budgets.end(), budget_name(b)) - budgets.begin();
      row[2 + static_cast<std::size_t>(at)] = {percent(b.mismatch, 3), b.ok ? Tone::plain : Tone::bad};
      tolerance += fmt::format("{}{} %", tolerance.empty() ? "" : ", ", decimal(b.tolerance * Ratio(100), 2));
    }
    row.emplace_back(tolerance);
    table.rows.push_back(std::move(row));
  }
  d.blocks.emplace_back(std::move(table));
  for (const pairs::PairCheck& pair : checks)
    for (const pairs::BudgetCheck& b : pair.budgets)
      if (!b.ok)
        d.blocks.emplace_back(report::Paragraph{fmt::format("{}: {}", pair.name, failure_text(pair, b)), Tone::bad});
  const auto failed = std::count_if(checks.begin(), checks.end(), [](const auto& p) { return !p.ok; });
  std::string last = ok ? sentence_of_all(checks.size())
                        : fmt::format("{} of {} pairs {} out of budget.", failed, checks.size(),
                                      failed == 1 ? "is" : "are");
  last.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(last.front())));
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

/// A file named in a manifest; relative names start at the manifest's folder.
std::filesystem::path path_of(const std::string& manifest, const std::string& file) {
  return (std::filesystem::path(manifest).parent_path() / file).lexically_normal();
}

arch::Architecture open_named(const std::string& manifest, const std::string& file,
                              const Context& context) {
  try {
    return load_file(path_of(manifest, file).string(), context).architecture;
  } catch (const Error& error) {
    if (error.kind != ErrorKind::usage) throw;
    throw Error(error.kind, error.message, error.where,
                fmt::format("it is named in {}; names are relative to that file", manifest));
  }
}

std::string github(const std::vector<pairs::PairCheck>& checks, const std::string& manifest) {
  std::string out;
  for (const pairs::PairCheck& pair : checks)
    for (const pairs::BudgetCheck& b : pair.budgets)
      if (!b.ok)
        out += fmt::format("::error file={},title={}::{}\n",
                           github_text(path_of(manifest, pair.match).string(), true),
                           github_text(pair.name + " out of budget", true),
                           github_text(failure_text(pair, b), false));
  if (out.empty()) out = fmt::format("::notice title=isoloop check::{}\n", sentence_of_all(checks.size()));
  return out;
}

}  // namespace

Action declare_check(CLI::App& app) {
  const auto flags = std::make_shared<Flags>();
  app.add_option("PAIRS", flags->manifest, "Manifest written by match or grid, or by hand")->required();
  app.add_flag("--update", flags->update, "Record the present counts in the manifest");
  return [flags](Context& context) {
    const pairs::Manifest manifest =
        pairs::from_json(read_text(flags->manifest, context),
                         flags->manifest == "-" ? "standard input" : flags->manifest);
    if (flags->update && flags->manifest == "-")
      throw usage_error("standard input cannot be updated", "--update", "name the manifest's file");
    std::map<std::string, arch::Architecture> opened;  // a baseline often serves several pairs
    const auto open = [&](const std::string& file) {
      if (const auto at = opened.find(file); at != opened.end()) return at->second;
      return opened[file] = open_named(flags->manifest, file, context);
    };
    const std::vector<pairs::PairCheck> checks =
        about(flags->manifest, [&] { return pairs::check(manifest, open); });
    const bool ok = std::all_of(checks.begin(), checks.end(), [](const auto& p) { return p.ok; });
    if (flags->update) write_file(flags->manifest, pairs::to_json(pairs::record(manifest, open)), true);
    Answer answer;
    answer.exit = ok ? ExitCode::done : ExitCode::no;
    answer.document = document(checks, ok, flags->update);
    answer.json = json::pretty(check_json(checks, ok));
    answer.other = {{OutputFormat::junit, junit(checks)}, {OutputFormat::github, github(checks, flags->manifest)}};
    return answer;
  };
}

}  // namespace isoloop::cli
