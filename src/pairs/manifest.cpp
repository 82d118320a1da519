// The manifest's JSON, in and out.
//
// Held by tests/pairs/manifest_test.cpp.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

#include "base/json_reader.h"
#include "base/json_writer.h"
#include "isoloop/pairs.h"

namespace isoloop::pairs {
namespace {

constexpr std::string_view schema = "isoloop/pairs/v1";
constexpr json::Range positive{1, arch::max_dimension};

std::vector<solve::BudgetTolerance> read_tolerance(json::Fields& owner) {
  std::vector<solve::BudgetTolerance> result;
  auto fields = owner.optional_object("tolerance");
  if (!fields) return result;
  for (const std::string& budget : cost::budget_names())
    if (const auto text = fields->optional_text(budget)) {
      result.push_back({cost::parse_budget(budget, budget),
                        solve::parse_tolerance(*text, fields->where(budget))});
    }
  fields->finish();
  if (result.empty())
    throw owner.error("tolerance", "names no budget", "write e.g. {\"flops\": \"1%\"}");
  return result;
}

Recorded read_recorded(json::Fields& owner, std::string_view key) {
  Recorded result;
  auto side = owner.optional_object(key);
  if (!side) return result;
  for (const std::string& row : side->unread()) {
    json::Fields budgets = side->object(row);
    for (const std::string& budget : cost::budget_names())
      if (const auto value = budgets.optional_ratio(budget)) result[row][budget] = *value;
    budgets.finish();
  }
  return result;
}

Pair read_pair(json::Fields& fields) {
  Pair pair;
  pair.name = fields.text("name");
  pair.baseline = fields.text("baseline");
  pair.match = fields.text("match");
  pair.tolerance = read_tolerance(fields);
  if (auto recorded = fields.optional_object("recorded")) {
    pair.baseline_rows = read_recorded(*recorded, "baseline");
    pair.match_rows = read_recorded(*recorded, "match");
    recorded->finish();
  }
  fields.finish();
  return pair;
}

/// Unknown names are usage errors of the command line; in a file they are errors of the file.
convention::Convention read_convention(json::Fields& fields) {
  try {
    return convention::find(fields.text("convention"), fields.where("convention"));
  } catch (const Error& error) {
    throw input_error(error.message, error.where, error.hint);
  }
}

void check_names(const std::vector<Pair>& pairs, const json::Fields& fields) {
  std::set<std::string> names;
  for (std::size_t i = 0; i < pairs.size(); ++i)
    if (!names.insert(pairs[i].name).second)
      throw fields.error(fmt::format("pairs[{}].name", i),
                         fmt::format("is '{}', the name of an earlier pair", pairs[i].name),
                         "give every pair its own name");
}

cost::Options read_options(json::Fields& fields) {
  cost::Options options;
  options.convention = read_convention(fields);
  if (const auto context = fields.optional_integer("context", positive)) options.context = *context;
  options.attended = fields.optional_ratio("attended");
  options.documents = fields.optional_integers("documents", positive);
  if (const auto dtype = fields.optional_text("dtype"))
    options.dtype = parse_dtype(*dtype, fields.where("dtype"));
  if (const auto dtype = fields.optional_text("kv_dtype"))
    options.kv_dtype = parse_dtype(*dtype, fields.where("kv_dtype"));
  if (const auto multiple = fields.optional_integer("vocab_multiple", positive))
    options.vocab_multiple = *multiple;
  return options;
}

using Output = nlohmann::ordered_json;

Output ratio_value(const Ratio& value) {
  if (value.is_integer()) return value.num().str();
  return value.str();
}

Output write_tolerance(const std::vector<solve::BudgetTolerance>& tolerance) {
  Output result = Output::object();
  for (const solve::BudgetTolerance& t : tolerance) {
    const Ratio percentage = t.tolerance * Ratio(100);
    const bool round = percentage == parse_ratio(decimal(percentage, 3), "");
    std::string text = round ? decimal(percentage, 3) : t.tolerance.str();
    while (round && text.find('.') != std::string::npos &&
           (text.back() == '0' || text.back() == '.')) {
      const bool point = text.back() == '.';
      text.pop_back();
      if (point) break;
    }
    result[std::string(cost::name(t.budget).name)] = round ? text + "%" : text;
  }
  return result;
}

Output write_recorded(const Recorded& recorded) {
  Output result = Output::object();
  for (const auto& [row, budgets] : recorded)
    for (const auto& [budget, value] : budgets) result[row][budget] = ratio_value(value);
  return result;
}

}  // namespace

Manifest from_json(std::string_view text, std::string_view file) {
  const json::Value document = json::parse(text, file);
  json::Fields fields(document, std::string(file));
  const std::string found = fields.text("schema");
  if (found != schema)
    throw fields.error("schema", fmt::format("is '{}'", found),
                       fmt::format("expected '{}'", schema));
  Manifest manifest;
  manifest.options = read_options(fields);
  manifest.tolerance = read_tolerance(fields);
  for (json::Fields& entry : fields.optional_objects("pairs"))
    manifest.pairs.push_back(read_pair(entry));
  fields.finish();
  if (manifest.pairs.empty())
    throw fields.error("pairs", "has no pair to check",
                       "each pair has a name, a baseline file and a match file");
  check_names(manifest.pairs, fields);
  for (const Pair& pair : manifest.pairs)
    if (pair.tolerance.empty() && manifest.tolerance.empty())
      throw fields.error("tolerance", fmt::format("is missing and pair '{}' has none", pair.name),
                         "write e.g. {\"flops\": \"1%\", \"params\": \"1%\", \"kv\": \"2%\"}");
  return manifest;
}

std::string to_json(const Manifest& manifest) {
  const cost::Options& o = manifest.options;
  Output document;
  document["schema"] = schema;
  document["convention"] = o.convention.name;
  if (o.context > 0) document["context"] = o.context;
  if (o.attended) {
    if (o.attended->is_integer())
      document["attended"] = o.attended->num().to_int64();
    else
      document["attended"] = o.attended->str();
  }
  if (!o.documents.empty()) document["documents"] = o.documents;
  document["dtype"] = name(o.dtype);
  document["kv_dtype"] = name(o.kv_dtype);
  if (o.vocab_multiple > 1) document["vocab_multiple"] = o.vocab_multiple;
  if (!manifest.tolerance.empty()) document["tolerance"] = write_tolerance(manifest.tolerance);
  document["pairs"] = Output::array();
  for (const Pair& pair : manifest.pairs) {
    Output entry;
    entry["name"] = pair.name;
    entry["baseline"] = pair.baseline;
    entry["match"] = pair.match;
    if (!pair.tolerance.empty()) entry["tolerance"] = write_tolerance(pair.tolerance);
    if (!pair.baseline_rows.empty()) {
      entry["recorded"]["baseline"] = write_recorded(pair.baseline_rows);
      entry["recorded"]["match"] = write_recorded(pair.match_rows);
    }
    document["pairs"].push_back(std::move(entry));
  }
  return json::pretty(document);
}

}  // namespace isoloop::pairs
