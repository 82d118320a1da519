// Python files of data/templates with their @names@ filled in. See templates.h.
//
// Held by tests/formats/templates_test.cpp.
#include "formats/templates.h"

#include <fmt/format.h>

#include <algorithm>

#include "isoloop/base.h"

namespace isoloop::formats {
namespace {

bool is_name(char c) { return (c >= 'a' && c <= 'z') || c == '_'; }

/// The end of the @name@ that begins at `at`, or npos: decorators have an @ too.
std::size_t name_end(std::string_view text, std::size_t at) {
  std::size_t end = at + 1;
  while (end < text.size() && is_name(text[end])) ++end;
  return end > at + 1 && end < text.size() && text[end] == '@' ? end : std::string_view::npos;
}

}  // namespace

std::string filled(std::string_view path, const Values& values) {
  const std::string_view text = data_file(fmt::format("templates/{}", path));
  std::vector<bool> used(values.size());
  std::string result;
  std::size_t from = 0;
  for (std::size_t at = text.find('@'); at != std::string_view::npos; at = text.find('@', at)) {
    const std::size_t end = name_end(text, at);
    if (end == std::string_view::npos) {
      ++at;
      continue;
    }
    const std::string_view name = text.substr(at + 1, end - at - 1);
    const auto value = std::find_if(values.begin(), values.end(),
                                    [&](const auto& pair) { return pair.first == name; });
    if (value == values.end())
      throw internal_error(fmt::format("{}: nothing is filled in for @{}@", path, name));
    used[static_cast<std::size_t>(value - values.begin())] = true;
    result += text.substr(from, at - from);
    result += value->second;
    at = from = end + 1;
  }
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!used[i]) throw internal_error(fmt::format("{}: has no @{}@", path, values[i].first));
  return result + std::string(text.substr(from));
}

}  // namespace isoloop::formats
