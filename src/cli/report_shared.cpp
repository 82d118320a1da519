// Numbers, architectures and options as they stand in results.
//
// Held by tests/cli/report_test.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/options.h"
#include "cli/report_parts.h"

namespace isoloop::cli {

std::string number_text(json::Fields& fields, std::string_view key) {
  const json::Value* value = fields.find(key);
  if (value == nullptr) return "";
  if (value->is_string()) return value->get<std::string>();
  if (value->is_number_integer()) return grouped(Ratio(value->get<std::int64_t>()));
  const double number = fields.number(key);
  if (std::abs(number) < 9e15 && number == std::floor(number))
    return grouped(Ratio(static_cast<std::int64_t>(number)));
  return fmt::format("{:.6g}", number);
}

std::string fixed(double value, int digits) {
  const double scale = std::pow(10, digits);
  const double rounded = std::round(value * scale) / scale;
  return fmt::format("{:.{}f}", std::isfinite(rounded) ? rounded : value, digits);
}

std::string signed_percent(double fraction) {
  return fraction == 0 ? "0" : (fraction > 0 ? "+" : "") + fixed(fraction * 100, 3);
}

std::string chart_word(std::string_view text) {
  std::string word;
  for (const char c : text) {
    if (c >= 'A' && c <= 'Z')
      word += static_cast<char>(c - 'A' + 'a');
    else if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))
      word += c;
    else if (!word.empty() && word.back() != '-')
      word += '-';
  }
  while (word.ends_with('-')) word.pop_back();
  return word;
}

std::string list_text(const std::vector<std::string>& texts) {
  return fmt::format("{}", fmt::join(texts, ", "));
}

arch::Architecture architecture(json::Fields& fields, std::string_view key) {
  if (auto model = optional_architecture(fields, key)) return *std::move(model);
  throw fields.missing(key);
}

std::optional<arch::Architecture> optional_architecture(json::Fields& fields,
                                                        std::string_view key) {
  const json::Value* value = fields.find(key);
  if (value == nullptr) return std::nullopt;
  return arch::from_json(value->dump(), fields.where(key));
}

Values values_of(json::Fields& fields, std::string_view key) {
  Values values;
  if (!fields.has(key)) return values;
  const json::Value& object = *fields.find(key);
  json::Fields inside = fields.object(key);  // throws if it is no object
  std::vector<std::string> names = cost::budget_names();
  std::erase_if(names, [&](const std::string& name) { return !object.contains(name); });
  for (const auto& [name, value] : object.items())
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  for (const std::string& name : names)
    if (const auto number = inside.optional_number(name)) values.emplace_back(name, *number);
  return values;
}

double value_or(const Values& values, std::string_view name, double otherwise) {
  for (const auto& [key, value] : values)
    if (key == name) return value;
  return otherwise;
}

cost::Options counting(json::Fields& result) {
  cost::Options options;
  if (const auto name = result.optional_text("convention"))
    options.convention = convention::find(*name, result.where("convention"));
  constexpr std::int64_t most = arch::max_dimension;
  // A manifest of pairs, which an exploration holds, names the same without units.
  const bool manifest = result.has("context");
  options.context =
      result.optional_integer(manifest ? "context" : "context_tokens", {0, most}).value_or(0);
  options.attended = result.optional_ratio(manifest ? "attended" : "attended_tokens");
  options.documents =
      result.optional_integers(manifest ? "documents" : "document_tokens", {1, most});
  if (const auto type = result.optional_text("dtype"))
    options.dtype = parse_dtype(*type, result.where("dtype"));
  if (const auto type = result.optional_text("kv_dtype"))
    options.kv_dtype = parse_dtype(*type, result.where("kv_dtype"));
  options.vocab_multiple = result.optional_integer("vocab_multiple", {1, most}).value_or(1);
  return options;
}

std::vector<report::Column> shape_columns() {
  return {{"layers"},    {"hidden"},  {"heads"}, {"kv heads"},
          {"head size"}, {"experts"}, {"top-k"}, {"expert size"}};
}

void add_shape(const arch::Architecture& model, std::vector<report::Cell>& row) {
  const arch::Segment& s = model.segments.front();
  const auto text = [](std::int64_t value) {
    return value == 0 ? std::string() : grouped(Ratio(value));
  };
  row.emplace_back(text(arch::depth(model)));
  for (const std::int64_t value :
       {model.hidden, s.attention.heads, s.attention.kv_heads, s.attention.head_size, s.ffn.experts,
        s.ffn.top_k, s.ffn.moe ? s.ffn.expert_size : s.ffn.size})
    row.emplace_back(text(value));
}

report::Series& series_of(report::Plot& plot, const std::string& name) {
  for (report::Series& s : plot.series)
    if (s.name == name) return s;
  plot.series.push_back({name, report::Mark::dots, plot.series.size(), false, {}});
  return plot.series.back();
}

}  // namespace isoloop::cli
