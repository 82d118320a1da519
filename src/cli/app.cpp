// run(): parses arguments, runs one command, writes its answer, turns errors into exit codes.
//
// Held by tests/cli/app_test.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <istream>
#include <ostream>

#include "cli/command.h"
#include "cli/output.h"
#include "isoloop/base.h"

namespace isoloop::cli {
namespace {

constexpr std::string_view first_screen =
    "isoloop finds the looped Mixture-of-Experts transformer that costs what your baseline costs.\n"
    "  isoloop count smelt-200m-e192              what a model costs: parameters, FLOPs, KV cache\n"
    "  isoloop match smelt-200m-e192              its equal-cost looped twin, proven optimal\n"
    "  isoloop grid smelt                         a published grid, recounted and matched better\n"
    "More: isoloop --help, isoloop COMMAND --help, isoloop list models.\n";

std::string format_name(OutputFormat format) {
  switch (format) {
    case OutputFormat::text: return "text";
    case OutputFormat::json: return "json";
    case OutputFormat::md: return "md";
    case OutputFormat::csv: return "csv";
    case OutputFormat::junit: return "junit";
    case OutputFormat::github: return "github";
  }
  return {};
}

std::vector<OutputFormat> formats_of(const Command& command) {
  std::vector<OutputFormat> result = {OutputFormat::text, OutputFormat::json, OutputFormat::md,
                                      OutputFormat::csv};
  result.insert(result.end(), command.extra_formats.begin(), command.extra_formats.end());
  return result;
}

void declare_common(CLI::App& app, const Command& command, Common& common, std::string& format) {
  std::string choices;
  for (const OutputFormat f : formats_of(command))
    choices += (choices.empty() ? "" : "|") + format_name(f);
  app.add_option("--format", format, "Output format: " + choices)->type_name("NAME");
  app.add_option("--output", common.output, "Write the answer to this file")->type_name("PATH");
  app.add_flag("--force", common.force, "Replace existing files");
  app.add_flag("--quiet", common.quiet, "No warnings");
}

OutputFormat parse_format(const Command& command, const std::string& text) {
  std::vector<std::string> known;
  for (const OutputFormat f : formats_of(command)) {
    known.push_back(format_name(f));
    if (known.back() == text) return f;
  }
  throw unknown_name(ErrorKind::usage, "format", text, known, "--format");
}

/// CLI11's complaint as ours: an unknown option or command gets the nearest known one.
Error translate(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App* command = &app;
  for (const CLI::App* sub : app.get_subcommands()) command = sub;
  const std::string where = command == &app ? "" : command->get_name();
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    const std::vector<std::string> rest = command->remaining(true);
    const std::string extra = rest.empty() ? "" : rest.front();
    std::vector<std::string> known;
    if (extra.starts_with("-")) {
      for (const CLI::Option* option : command->get_options())
        for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
      return unknown_name(ErrorKind::usage, "option", extra.substr(0, extra.find('=')), known, where);
    }
    if (command != &app)
      return usage_error(fmt::format("'{}' was not expected", extra), where,
                         fmt::format("see isoloop {} --help", where));
    for (const Command& c : commands()) known.emplace_back(c.name);
    return unknown_name(ErrorKind::usage, "command", extra, known, where);
  }
  std::string message = error.what();
  return usage_error(message, where, fmt::format("see isoloop {}--help", where.empty() ? "" : where + " "));
}

struct Parsed {
  const Command* command = nullptr;
  Action action;
  Common common;
  std::string format = "text";
};

ExitCode execute(Parsed& parsed, const Streams& streams) {
  parsed.common.format = parse_format(*parsed.command, parsed.format);
  Context context{streams, parsed.common};
  const Answer answer = parsed.action(context);
  write_answer(answer, context);
  return answer.exit;
}

ExitCode parse_and_run(std::vector<std::string> args, const Streams& streams) {
  CLI::App app("Equal-cost looped Mixture-of-Experts transformers: count, match, prove.", "isoloop");
  app.set_version_flag("--version", std::string("isoloop ") + ISOLOOP_VERSION);
  app.require_subcommand(0, 1);
  app.get_formatter()->column_width(36);
  std::vector<Parsed> parsed(commands().size());
  for (std::size_t i = 0; i < commands().size(); ++i) {
    const Command& command = commands()[i];
    CLI::App* sub = app.add_subcommand(std::string(command.name), std::string(command.summary));
    sub->footer(fmt::format("Example:\n  {}", command.example));
    parsed[i].command = &command;
    parsed[i].action = command.declare(*sub);
    declare_common(*sub, command, parsed[i].common, parsed[i].format);
  }
  try {
    std::reverse(args.begin(), args.end());  // CLI11 takes them from the back
    app.parse(args);
  } catch (const CLI::Success& request) {  // --help, --version
    app.exit(request, streams.out, streams.err);
    return ExitCode::done;
  } catch (const CLI::ParseError& error) {
    throw translate(app, error);
  }
  for (std::size_t i = 0; i < commands().size(); ++i)
    if (app.got_subcommand(std::string(commands()[i].name))) return execute(parsed[i], streams);
  streams.out << first_screen;
  return ExitCode::done;
}

}  // namespace

void Context::warn(std::string_view text) const {
  if (!common.quiet) streams.err << "isoloop: warning: " << text << '\n';
}

ExitCode run(const std::vector<std::string>& args, const Streams& streams) {
  try {
    return parse_and_run(args, streams);
  } catch (const Error& error) {
    streams.err << "isoloop: " << error.what() << '\n';
    return error.kind == ErrorKind::internal ? ExitCode::internal : ExitCode::usage;
  } catch (const std::exception& error) {
    streams.err << "isoloop: internal fault: " << error.what() << '\n';
    return ExitCode::internal;
  }
}

}  // namespace isoloop::cli
