// JSON text; see json_writer.h. The library's own indenting puts each number of a list on a line
// of its own, which makes window patterns and schedules unreadable.
//
// Held by tests/base/json_writer_test.cpp.
#include "base/json_writer.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "isoloop/base.h"

namespace isoloop::json {
namespace {

using Ordered = nlohmann::ordered_json;

bool is_plain(const Ordered& value) { return value.is_primitive() || value.empty(); }

std::string plain_text(const Ordered& value) {
  try {
    return value.dump();
  } catch (const Ordered::type_error&) {
    throw input_error("a text to be written as JSON is not valid UTF-8");
  }
}

void write(const Ordered& value, std::size_t indent, std::string& out) {
  if (is_plain(value)) {
    out += plain_text(value);
    return;
  }
  const bool is_list = value.is_array();
  const bool one_line = is_list && std::all_of(value.begin(), value.end(), is_plain);
  const std::string line_end = one_line ? "" : "\n" + std::string(indent + 2, ' ');
  const std::string_view separator = one_line ? ", " : ",";
  out += is_list ? '[' : '{';
  bool first = true;
  for (const auto& item : value.items()) {
    if (!first) out += separator;
    first = false;
    out += line_end;
    if (!is_list) out += plain_text(Ordered(item.key())) + ": ";
    write(item.value(), indent + 2, out);
  }
  if (!one_line) out += "\n" + std::string(indent, ' ');
  out += is_list ? ']' : '}';
}

}  // namespace

std::string pretty(const Ordered& document) {
  std::string out;
  write(document, 0, out);
  out += '\n';
  return out;
}

}  // namespace isoloop::json
