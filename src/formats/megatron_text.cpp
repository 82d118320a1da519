// The text of Megatron-LM arguments: words of a shell script, keys of YAML, list expressions.
//
// Source: see megatron.h. Held by tests/formats/megatron_test.cpp.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "formats/megatron.h"

namespace isoloop::formats {
namespace {

struct Word {
  std::string text;
  std::size_t line;
  bool quoted;
};

/// Words of shell text: quotes hold words together, # begins a comment, parentheses of arrays and
/// a backslash at the end of a line only separate.
std::vector<Word> shell_words(std::string_view text, std::string_view file) {
  std::vector<Word> words;
  std::size_t line = 1;
  Word word{"", 1, false};
  const auto end_word = [&] {
    if (!word.text.empty() || word.quoted) words.push_back(word);
    word = {"", line, false};
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\n') ++line;
    if (c == '"' || c == '\'') {
      const std::size_t close = text.find(c, i + 1);
      if (close == std::string_view::npos)
        throw input_error("a quote is not closed", fmt::format("{}:{}", file, line));
      word.text += text.substr(i + 1, close - i - 1);
      word.quoted = true;
      line += static_cast<std::size_t>(std::count(text.begin() + i, text.begin() + close, '\n'));
      i = close;
    } else if (c == '#' && word.text.empty()) {
      i = std::min(text.find('\n', i), text.size()) - 1;
    } else if (c == '\\' && i + 1 < text.size() && text[i + 1] == '\n') {
      end_word();
    } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '(' || c == ')' ||
               c == ';') {
      end_word();
    } else {
      word.text += c;
    }
  }
  end_word();
  return words;
}

void add(Flags& flags, std::string name, std::string value, std::size_t line,
         std::string_view file) {
  std::replace(name.begin(), name.end(), '_', '-');
  const auto [at, is_new] = flags.emplace(name, Flag{value, line});
  if (!is_new && at->second.value != value)
    throw input_error(fmt::format("--{} is '{}' here and '{}' in line {}", name, value,
                                  at->second.value, at->second.line),
                      fmt::format("{}:{}", file, line), "keep one of the two");
}

Flags shell_flags(std::string_view text, std::string_view file) {
  Flags flags;
  const std::vector<Word> words = shell_words(text, file);
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!words[i].text.starts_with("--") || words[i].text.size() < 3) continue;
    std::string name = words[i].text.substr(2), value;
    if (const std::size_t equals = name.find('='); equals != std::string::npos) {
      value = name.substr(equals + 1);
      name.erase(equals);
    } else if (i + 1 < words.size() && !words[i + 1].text.starts_with("--")) {
      value = words[i + 1].text;
    }
    add(flags, name, value, words[i].line, file);
  }
  return flags;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blank = " \t\r";
  const std::size_t begin = text.find_first_not_of(blank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blank) - begin + 1);
}

std::string_view unquoted(std::string_view text) {
  const bool quoted = text.size() >= 2 && text.front() == text.back() &&
                      (text.front() == '"' || text.front() == '\'');
  return quoted ? text.substr(1, text.size() - 2) : text;
}

/// "key: value" of one line without its comment; an empty key if it is something else.
std::pair<std::string_view, std::string_view> yaml_line(std::string_view line) {
  if (const std::size_t comment = line.find(" #"); comment != std::string_view::npos)
    line = line.substr(0, comment);
  line = trimmed(line);
  const std::size_t colon = line.find(':');
  if (line.starts_with("#") || colon == std::string_view::npos) return {};
  std::string_view key = unquoted(trimmed(line.substr(0, colon)));
  if (key.starts_with("--")) key.remove_prefix(2);
  const bool word = !key.empty() && std::all_of(key.begin(), key.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  });
  if (!word) return {};
  return {key, unquoted(trimmed(line.substr(colon + 1)))};
}

/// Calls f(line, number) for every line.
template <class F>
void each_line(std::string_view text, F f) {
  std::size_t number = 1;
  for (std::size_t at = 0; at <= text.size(); ++number) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    f(text.substr(at, end - at), number);
    at = end + 1;
  }
}

bool is_yaml(std::string_view text) {
  bool found = false;
  each_line(text, [&](std::string_view line, std::size_t) {
    const auto key = yaml_line(line).first;
    found = found || key == "num-layers" || key == "num_layers";
  });
  return found;
}

/// A recursive reader of "([0]*3+[1]*58)".
class PatternReader {
 public:
  PatternReader(std::string_view text, std::string_view where) : text_(text), where_(where) {}

  std::vector<std::int64_t> read() {
    std::vector<std::int64_t> result = sum(0);
    if (at_ != text_.size()) fail();
    return result;
  }

 private:
  [[noreturn]] void fail() const {
    throw input_error(fmt::format("'{}' is not a list of layers", text_), std::string(where_),
                      "write e.g. ([0]*3+[1]*58)");
  }
  bool take(char c) {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return true;
  }
  std::int64_t number() {
    std::int64_t value = 0;
    const std::size_t begin = at_;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9' && value < arch::max_layers)
      value = value * 10 + (text_[at_++] - '0');
    if (at_ == begin || value > arch::max_layers) fail();
    return value;
  }
  std::vector<std::int64_t> sum(int depth) {
    std::vector<std::int64_t> result = product(depth);
    while (take('+')) {
      const std::vector<std::int64_t> next = product(depth);
      result.insert(result.end(), next.begin(), next.end());
      if (std::ssize(result) > arch::max_layers) fail();
    }
    return result;
  }
  std::vector<std::int64_t> product(int depth) {
    std::vector<std::int64_t> result = atom(depth);
    while (take('*')) {
      const std::int64_t times = number();
      if (times == 1) continue;
      if (std::ssize(result) * times > arch::max_layers) fail();
      const std::vector<std::int64_t> once = result;
      result.clear();
      for (std::int64_t i = 0; i < times; ++i)
        result.insert(result.end(), once.begin(), once.end());
    }
    return result;
  }
  std::vector<std::int64_t> atom(int depth) {
    constexpr int deepest = 50;
    if (depth > deepest) fail();
    if (take('(')) {
      std::vector<std::int64_t> result = sum(depth + 1);
      if (!take(')')) fail();
      return result;
    }
    if (!take('[')) fail();
    std::vector<std::int64_t> result{number()};
    while (take(',')) result.push_back(number());
    if (!take(']')) fail();
    return result;
  }

  std::string_view text_, where_;
  std::size_t at_ = 0;
};

}  // namespace

bool is_megatron(std::string_view text) {
  return text.find("--num-layers") != std::string_view::npos || is_yaml(text);
}

Flags parse_flags(std::string_view text, std::string_view file) {
  if (!is_yaml(text)) return shell_flags(text, file);
  Flags flags;
  each_line(text, [&](std::string_view line, std::size_t number) {
    const auto [key, value] = yaml_line(line);
    const bool off = value == "null" || value == "false" || value == "False" || value == "None";
    if (!key.empty() && !value.empty() && !off)
      add(flags, std::string(key), std::string(value), number, file);
  });
  return flags;
}

namespace {

/// The shortest length after which a pattern repeats to its end.
std::size_t period(const std::vector<std::int64_t>& pattern) {
  std::size_t length = 1;
  while (!std::equal(pattern.begin() + static_cast<std::ptrdiff_t>(length), pattern.end(),
                     pattern.begin()))
    ++length;
  return length;
}

}  // namespace

std::string pattern_text(const std::vector<std::int64_t>& pattern) {
  const std::size_t repeats = period(pattern);
  if (repeats > 1 && repeats < pattern.size() && pattern.size() % repeats == 0)
    return fmt::format("([{}]*{})",
                       fmt::join(pattern.begin(),
                                 pattern.begin() + static_cast<std::ptrdiff_t>(repeats), ","),
                       pattern.size() / repeats);
  std::string text;
  for (std::size_t first = 0; first < pattern.size();) {
    std::size_t end = first + 1;
    while (end < pattern.size() && pattern[end] == pattern[first]) ++end;
    text += fmt::format("{}[{}]*{}", text.empty() ? "" : "+", pattern[first], end - first);
    first = end;
  }
  return fmt::format("({})", text);
}

std::vector<std::int64_t> parse_pattern(std::string_view text, std::string_view where) {
  return PatternReader(text, where).read();
}

}  // namespace isoloop::formats
