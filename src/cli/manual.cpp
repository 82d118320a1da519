// isoloop man and isoloop completion: made from the same table that parses the command line.
//
// Held by tests/cli/manual_test.cpp, which also runs the bash completion.
#include <fmt/format.h>

#include <algorithm>

#include "cli/command.h"
#include "isoloop/base.h"

namespace isoloop::cli {
namespace {

struct OptionText {
  std::string names, type, help;
  bool positional = false;
};

struct CommandText {
  const Command* command = nullptr;
  std::vector<OptionText> options;
};

/// Options as CLI11 knows them after the command declared them.
std::vector<CommandText> describe() {
  std::vector<CommandText> result;
  for (const Command& command : commands()) {
    CLI::App app;
    command.declare(app);
    CommandText text{&command, {}};
    for (const CLI::Option* option : app.get_options()) {
      if (option->get_name(false, true).find("--help") != std::string::npos) continue;
      if (option->get_group().empty()) continue;  // not listed
      const bool positional = option->get_positional();
      text.options.push_back({option->get_name(positional, true), option->get_type_name(),
                              option->get_description(), positional});
    }
    text.options.push_back({"--format", "NAME", "Output format: text, json, md, csv", false});
    text.options.push_back({"--output", "PATH", "Write the answer to this file", false});
    text.options.push_back({"--force", "", "Replace existing files", false});
    text.options.push_back({"--quiet", "", "No warnings", false});
    result.push_back(std::move(text));
  }
  return result;
}

std::string long_names(const CommandText& command) {
  std::string words = "--help";
  for (const OptionText& option : command.options) {
    if (option.positional) continue;
    const std::size_t at = option.names.find("--");
    if (at != std::string::npos) words += " " + option.names.substr(at, option.names.find(',', at) - at);
  }
  return words;
}

std::string command_words() {
  std::string words;
  for (const Command& c : commands()) words += (words.empty() ? "" : " ") + std::string(c.name);
  return words;
}

std::string bash() {
  std::string cases;
  for (const CommandText& c : describe())
    cases += fmt::format("    {}) words=\"{}\" ;;\n", c.command->name, long_names(c));
  return fmt::format(R"(# bash completion for isoloop; load with: source <(isoloop completion bash)
_isoloop() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} words
  case ${{COMP_WORDS[1]}} in
{}    *) words="{}" ;;
  esac
  if [[ $COMP_CWORD -eq 1 ]]; then words="{}"; fi
  if [[ $COMP_CWORD -gt 1 && $current != -* ]]; then
    COMPREPLY=($(compgen -f -- "$current"))
  else
    COMPREPLY=($(compgen -W "$words" -- "$current"))
  fi
}}
complete -o filenames -F _isoloop isoloop
)", cases, command_words(), command_words());
}

std::string zsh() {
  return "#compdef isoloop\n# zsh completion for isoloop; load with: source <(isoloop completion zsh)\n"
         "autoload -U +X bashcompinit && bashcompinit\n" + bash();
}

std::string fish() {
  std::string out = "# fish completion for isoloop; load with: isoloop completion fish | source\n";
  for (const Command& c : commands())
    out += fmt::format("complete -c isoloop -n __fish_use_subcommand -a {} -d '{}'\n", c.name, c.summary);
  for (const CommandText& c : describe())
    for (const OptionText& option : c.options) {
      const std::size_t at = option.names.find("--");
      if (option.positional || at == std::string::npos) continue;
      std::string help = option.help;
      std::replace(help.begin(), help.end(), '\'', '"');
      const std::string name = option.names.substr(at + 2, option.names.find(',', at) - at - 2);
      out += fmt::format("complete -c isoloop -n '__fish_seen_subcommand_from {}' -l {}{} -d '{}'\n",
                         c.command->name, name, option.type.empty() ? "" : " -r", help);
    }
  return out;
}

/// Escapes for roff: backslashes, hyphens, and a leading dot or quote.
std::string roff(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') out += "\\e";
    else if (c == '-') out += "\\-";
    else out += c;
  }
  return out.starts_with(".") || out.starts_with("'") ? "\\&" + out : out;
}

std::string manual() {
  std::string out = fmt::format(
      ".TH ISOLOOP 1 \"\" \"isoloop {}\" \"User Commands\"\n.SH NAME\nisoloop \\- equal\\-cost looped "
      "Mixture\\-of\\-Experts transformers: count, match, prove\n.SH SYNOPSIS\n.B isoloop\n"
      ".I COMMAND\n[ARGUMENTS] [\\-\\-format NAME] [\\-\\-output PATH]\n.SH COMMANDS\n", ISOLOOP_VERSION);
  for (const CommandText& c : describe()) {
    out += fmt::format(".SS {}\n{}.\n", c.command->name, roff(std::string(c.command->summary)));
    for (const OptionText& option : c.options)
      out += fmt::format(".TP\n.B {}\n{}\n", roff(option.names + (option.type.empty() ? "" : " " + option.type)),
                         roff(option.help));
    out += fmt::format(".PP\nExample:\n.PP\n.nf\n    {}\n.fi\n", roff(std::string(c.command->example)));
  }
  return out + ".SH EXIT STATUS\n0 done, 1 the answer is no, 2 usage or input, 3 internal fault.\n";
}

Action plain_text(std::function<std::string()> make) {
  return [make = std::move(make)](Context& context) {
    Answer answer;
    context.common.format = OutputFormat::json;  // the text as it is, unwrapped
    answer.json = make();
    return answer;
  };
}

}  // namespace

Action declare_completion(CLI::App& app) {
  const auto shell = std::make_shared<std::string>();
  app.add_option("SHELL", *shell, "bash, zsh or fish")->required();
  return plain_text([shell] {
    const std::vector<std::string> known = {"bash", "zsh", "fish"};
    if (*shell == "bash") return bash();
    if (*shell == "zsh") return zsh();
    if (*shell == "fish") return fish();
    throw unknown_name(ErrorKind::usage, "shell", *shell, known, "completion");
  });
}

Action declare_man(CLI::App&) { return plain_text(manual); }

}  // namespace isoloop::cli
