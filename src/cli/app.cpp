// run(): parses arguments, runs one command, writes its answer, turns errors into exit codes.
//
// Held by tests/cli/commands_test.cpp and options_test.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <istream>
#include <new>
#include <ostream>

#include "base/utf8.h"
#include "cli/command.h"
#include "cli/output.h"
#include "isoloop/base.h"

namespace isoloop::cli {
namespace {

constexpr std::string_view first_screen =
    "isoloop finds the looped Mixture-of-Experts transformer that costs what your baseline costs.\n"
    "  isoloop count qwen3-0.6b                       what a model costs: parameters, FLOPs, KV cache\n"
    "  isoloop match smelt-200m-e192                  its equal-cost looped twin, proven optimal\n"
    "  isoloop emit qwen3-0.6b --to hf -o qwen3-run   a directory that trains it\n"
    "More: isoloop --help, isoloop COMMAND --help, isoloop list models.\n";

std::string format_name(OutputFormat format) {
  switch (format) {
    case OutputFormat::text: return "text";
    case OutputFormat::json: return "json";
    case OutputFormat::md: return "md";
    case OutputFormat::csv: return "csv";
    case OutputFormat::junit: return "junit";
    case OutputFormat::github: return "github";
    case OutputFormat::html: return "html";
    case OutputFormat::svg: return "svg";
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
  format = format_name(command.default_format);
  if (command.default_format != OutputFormat::text) choices += fmt::format(" (default {})", format);
  app.add_option("--format", format, "Output format: " + choices)->type_name("NAME");
  app.add_option(std::string(command.output_names), common.output, "Write the answer to this file")->type_name("PATH");
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

std::string shown_name(const CLI::Option& option) {
  return option.get_lnames().empty() ? option.get_name() : "--" + option.get_lnames().back();
}

/// The option a complaint of CLI11 is about, by the name it puts first; null if none.
const CLI::Option* option_of(const CLI::App& command, const std::string& message) {
  const CLI::Option* found = nullptr;
  std::size_t longest = 0;
  for (const CLI::Option* option : command.get_options())
    for (const std::string& name : {option->get_name(), option->get_lnames().empty() ? option->get_name() : option->get_lnames().back()})
      if (message.starts_with(name) && name.size() > longest) {
        found = option;
        longest = name.size();
      }
  return found;
}

/// An option or argument that no command knows, or not this one.
Error unexpected(const CLI::App& app, const CLI::App& command, const std::string& extra,
                 const std::string& where) {
  if (!extra.starts_with("-") || extra == "-") {
    if (&command != &app)
      return usage_error(fmt::format("'{}' was not expected", extra), where,
                         fmt::format("see isoloop {} --help", where));
    std::vector<std::string> known;
    for (const Command& c : commands()) known.emplace_back(c.name);
    return unknown_name(ErrorKind::usage, "command", extra, known, where);
  }
  const std::string name = extra.substr(0, extra.find('='));
  std::vector<std::string> known;
  for (const CLI::Option* option : command.get_options())
    for (const std::string& long_name : option->get_lnames()) known.push_back("--" + long_name);
  const std::string near = nearest(name, known);
  if (near.empty() && &command == &app)
    return usage_error(fmt::format("unknown option '{}'", name), where,
                       "options follow the command: isoloop COMMAND --help lists them");
  if (near.empty())
    return usage_error(fmt::format("unknown option '{}'", name), where,
                       fmt::format("isoloop {} --help lists the options", where));
  return unknown_name(ErrorKind::usage, "option", name, known, where);
}

/// CLI11's complaint as ours: where, what, what instead.
Error translate(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App* command = &app;
  for (const CLI::App* sub : app.get_subcommands()) command = sub;
  const std::string where = command == &app ? "" : command->get_name();
  const std::string help = fmt::format("see isoloop {}--help", where.empty() ? "" : where + " ");
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    // What the program itself did not take came before the command.
    std::vector<std::string> rest = app.remaining(false);
    if (!rest.empty()) return unexpected(app, app, rest.front(), "");
    rest = command->remaining(false);
    return unexpected(app, *command, rest.empty() ? "" : rest.front(), where);
  }
  const std::string message = error.what();
  const CLI::Option* option = option_of(*command, message);
  if (option == nullptr) return usage_error(message, where, help);
  const std::string name = shown_name(*option);
  const bool several = option->count() > 1 && option->get_items_expected_max() == 1;
  if (option->get_positional()) return usage_error(fmt::format("{} is missing", name), where, help);
  if (several) return usage_error("is given more than once", name, "keep one of them");
  if (option->get_items_expected_max() == 0) return usage_error("takes no value", name, help);
  return usage_error("has no value", name, help);
}

/// An option that is given says something: "" is a variable that was not set.
void refuse_empty(const CLI::App& command) {
  for (const CLI::Option* option : command.get_options())
    if (option->get_items_expected_max() > 0)
      for (const std::string& value : option->results())
        if (value.empty())
          throw usage_error("is empty", shown_name(*option),
                            fmt::format("see isoloop {} --help", command.get_name()));
}

/// Refuses a command whose answer could not be delivered before it starts.
void check_targets(const CLI::App& command, const Common& common) {
  std::string folder;
  if (const CLI::Option* option = command.get_option_no_throw("--directory"); option && option->count() > 0)
    folder = option->results().front();
  if (!common.output.empty()) check_file(common.output, common.force);
  if (!folder.empty()) check_folder(folder, common.force);
  const auto plain = [](const std::string& path) {
    return std::filesystem::path(path).lexically_normal().lexically_relative(".").string();
  };
  if (!common.output.empty() && !folder.empty() && plain(common.output) == plain(folder))
    throw usage_error("is also the folder to write", "--output", "give the file another name");
}

struct Parsed {
  const Command* command = nullptr;
  CLI::App* sub = nullptr;
  Action action;
  Common common;
  std::string format = "text";
};

ExitCode execute(Parsed& parsed, const Streams& streams) {
  refuse_empty(*parsed.sub);
  parsed.common.format = parse_format(*parsed.command, parsed.format);
  check_targets(*parsed.sub, parsed.common);
  Context context{streams, parsed.common};
  const Answer answer = parsed.action(context);
  write_answer(answer, context);
  return answer.exit;
}

/// CLI11's help in the words of the rest of the program.
void set_words(CLI::App& app) {
  const auto formatter = app.get_formatter();
  formatter->column_width(32);
  formatter->label("REQUIRED", "");
  formatter->label("TEXT", "");
  formatter->label("Positionals", "Arguments");
  formatter->label("SUBCOMMAND", "COMMAND");
  app.set_help_flag("-h,--help", "This help");
  app.set_version_flag("--version", std::string("isoloop ") + ISOLOOP_VERSION, "Version");
}

ExitCode parse_and_run(std::vector<std::string> args, const Streams& streams) {
  CLI::App app("Equal-cost looped Mixture-of-Experts transformers: count, match, prove.", "isoloop");
  set_words(app);
  app.require_subcommand(0, 1);
  app.footer("isoloop COMMAND --help explains a command and shows an example.");
  std::vector<Parsed> parsed(commands().size());
  for (std::size_t i = 0; i < commands().size(); ++i) {
    const Command& command = commands()[i];
    CLI::App* sub = app.add_subcommand(std::string(command.name), std::string(command.summary));
    sub->footer(fmt::format("Example:\n  {}", command.example));
    sub->group("Commands");
    parsed[i].command = &command;
    parsed[i].sub = sub;
    parsed[i].action = command.declare(*sub);
    declare_common(*sub, command, parsed[i].common, parsed[i].format);
    for (CLI::Option* option : sub->get_options())
      if (option->get_items_expected_max() == 0) option->disable_flag_override();
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
  for (Parsed& each : parsed)
    if (each.sub->parsed()) return execute(each, streams);
  streams.out << first_screen;
  return ExitCode::done;
}

/// Bytes of the character that `text` begins with; 0 if it begins with none, or with a control
/// character.
std::size_t character_length(std::string_view text) {
  const std::size_t length = utf8_length(text);
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (length == 1 && (byte(0) < 0x20 || byte(0) == 0x7F)) return 0;
  if (length == 2 && byte(0) == 0xC2 && byte(1) < 0xA0) return 0;  // U+0080 to U+009F
  return length;
}

/// Text for a terminal: control characters and broken UTF-8 from files or arguments are shown, not
/// obeyed.
std::string printable(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = character_length(text.substr(i));
    if (length == 0)
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[i]));
    else
      out += text.substr(i, length);
    i += std::max<std::size_t>(length, 1);
  }
  return out;
}

std::string error_text(const Error& error) {
  std::string text = "isoloop: ";
  if (!error.where.empty()) text += printable(error.where) + ": ";
  text += printable(error.message) + "\n";
  if (!error.hint.empty()) text += "  hint: " + printable(error.hint) + "\n";
  return text;
}

}  // namespace

void Context::warn(std::string_view text) const {
  if (!common.quiet) streams.err << "isoloop: warning: " << printable(text) << '\n';
}

ExitCode run(const std::vector<std::string>& args, const Streams& streams) {
  try {
    return parse_and_run(args, streams);
  } catch (const Error& error) {
    streams.err << error_text(error);
    return error.kind == ErrorKind::internal ? ExitCode::internal : ExitCode::usage;
  } catch (const std::bad_alloc&) {
    streams.err << error_text(usage_error("not enough memory", "", "narrow the ranges of --free"));
    return ExitCode::usage;
  } catch (const std::exception& error) {
    streams.err << "isoloop: internal fault: " << error.what() << '\n';
    return ExitCode::internal;
  }
}

}  // namespace isoloop::cli
