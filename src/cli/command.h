// A command: its entry in the table of commands, and what it is handed when it runs.
//
// One table (commands.cpp) feeds parsing, --help, completion, the man page and the README.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "isoloop/cli.h"
#include "isoloop/report.h"

namespace isoloop::cli {

enum class OutputFormat { text, json, md, csv, junit, github, html, svg };

/// Options every command has.
struct Common {
  OutputFormat format = OutputFormat::text;
  std::string output;  // path; "" = standard output
  bool quiet = false;  // no warnings
  bool force = false;  // replace existing files
};

struct Context {
  const Streams& streams;
  Common common;
  /// A note for the person, on stderr, unless --quiet.
  void warn(std::string_view text) const;
};

/// What a command answers: a document for text, Markdown and CSV, and JSON for programs.
struct Answer {
  ExitCode exit = ExitCode::done;
  report::Document document;
  std::string json;  // complete document with newline
  /// Other formats (check's JUnit XML, ...) by name, already complete.
  std::vector<std::pair<OutputFormat, std::string>> other;
};

using Action = std::function<Answer(Context&)>;

struct Command {
  std::string_view name;
  std::string_view summary;
  std::string_view example;  // one complete command line
  /// Declares the command's options on its subcommand and returns what to do.
  Action (*declare)(CLI::App& app);
  std::vector<OutputFormat> extra_formats = {};
  OutputFormat default_format = OutputFormat::text;
  std::string_view output_names = "--output";
};

/// All commands in the order of the help.
const std::vector<Command>& commands();

Action declare_count(CLI::App& app);
Action declare_explain(CLI::App& app);
Action declare_match(CLI::App& app);
Action declare_check(CLI::App& app);
Action declare_grid(CLI::App& app);
Action declare_sweep(CLI::App& app);
Action declare_explore(CLI::App& app);
Action declare_merge(CLI::App& app);
Action declare_emit(CLI::App& app);
Action declare_plan(CLI::App& app);
Action declare_fit(CLI::App& app);
Action declare_gain(CLI::App& app);
Action declare_allocate(CLI::App& app);
Action declare_report(CLI::App& app);
Action declare_import(CLI::App& app);
Action declare_list(CLI::App& app);
Action declare_completion(CLI::App& app);
Action declare_man(CLI::App& app);

}  // namespace isoloop::cli
