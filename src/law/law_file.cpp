// Law files: JSON, schema "isoloop/law/v1", numbers with all their digits.
//
// A law may also stand as the field "law" of a larger result, such as that of a fit.
//
// Source: data/schemas/law.schema.json. Held by tests/law/laws_test.cpp.
#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/json_reader.h"
#include "base/json_writer.h"
#include "isoloop/law.h"
#include "law/numbers.h"

namespace isoloop::law {
namespace {

using json::Fields;
using Ordered = nlohmann::ordered_json;

constexpr std::string_view schema = "isoloop/law/v1";
constexpr std::array<std::string_view, 5> ranges = {"compute", "size", "tokens", "sparsity",
                                                    "loss"};
constexpr std::array<Range Window::*, 5> range_members = {
    &Window::compute, &Window::size, &Window::tokens, &Window::sparsity, &Window::loss};
constexpr std::array<std::string_view, 4> terms = {"floor", "size", "sparsity", "data"};
constexpr std::array<bool Form::*, 4> term_members = {&Form::floor, &Form::size, &Form::sparsity,
                                                      &Form::data};

// ---- Writing

Ordered coefficient_object(const Form& form, const Coefficients& values, bool only_set) {
  Ordered out = Ordered::object();
  for (const Coefficient which : coefficients_of(form))
    if (!only_set || values[which] != 0) out[std::string(name(form.family, which))] = values[which];
  return out;
}

void write_form(const Form& form, Ordered& out) {
  out["form"] = name(form.family);
  out["equation"] =
      equation(Form{form.family, form.floor, form.size, form.sparsity, form.data, {}});
  Ordered left_out = Ordered::array(), pinned = Ordered::array();
  for (std::size_t i = 0; i < terms.size(); ++i)
    if (!(form.*term_members[i]) && (i != 2 || form.family == Family::smelt))
      left_out.push_back(terms[i]);
  for (const Coefficient which : coefficients_of(form))
    if (form.pinned[static_cast<std::size_t>(which)]) pinned.push_back(name(form.family, which));
  if (!left_out.empty()) out["left_out"] = left_out;
  if (!pinned.empty()) out["pinned"] = pinned;
}

Ordered draws_object(const Draws& draws) {
  Ordered out;
  out["by_cell"] = draws.by_cell;
  out["seed"] = std::to_string(draws.seed);
  out["units"] = draws.units;
  out["failed"] = draws.failed;
  out["values"] = Ordered::array();
  for (const Coefficients& drawn : draws.values) out["values"].push_back(drawn.values);
  return out;
}

// ---- Reading

double finite(const Fields& fields, std::string_view key, double value) {
  if (!std::isfinite(value)) throw fields.error(key, "is too large for a number");
  return value;
}

Coefficients read_coefficients(Fields fields, const Form& form, bool all_needed) {
  Coefficients out;
  for (const Coefficient which : coefficients_of(form)) {
    const std::string_view key = name(form.family, which);
    const auto value = all_needed ? fields.number(key) : fields.optional_number(key).value_or(0);
    out[which] = finite(fields, key, value);
    const bool amplitude = static_cast<std::size_t>(which) < 3;
    if (all_needed && amplitude && !(value > 0))
      throw fields.error(key, fmt::format("is {}; it must be positive", value));
  }
  fields.finish();
  return out;
}

Form read_form(Fields& fields) {
  const std::string where = fields.where("form");
  Form form = parse_form(fields.text("form"), where);
  fields.optional_text("equation");
  for (const std::string& term : fields.optional_texts("left_out"))
    leave_out(form, term, fields.where("left_out"));
  return form;
}

Window read_window(Fields& fields) {
  Window out;
  auto window = fields.optional_object("window");
  if (!window) return out;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    auto range = window->optional_object(ranges[i]);
    if (!range) continue;
    out.*range_members[i] = {range->number("low"), range->number("high")};
    range->finish();
  }
  window->finish();
  return out;
}

Coefficients read_drawn(const json::Value& row, const Fields& fields) {
  Coefficients out;
  if (!row.is_array() || row.size() != out.values.size())
    throw fields.error("values",
                       fmt::format("every draw is a list of {} numbers", out.values.size()),
                       "E, A, K, a, b, c, with 0 for those the form has not");
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (!row[i].is_number()) throw fields.error("values", "holds something that is no number");
    out.values[i] = row[i].get<double>();
  }
  return out;
}

std::optional<Draws> read_draws(Fields& fields) {
  auto object = fields.optional_object("draws");
  if (!object) return {};
  Draws out;
  out.by_cell = object->optional_boolean("by_cell").value_or(true);
  const std::string seed = object->text("seed");
  const auto [end, error] = std::from_chars(seed.data(), seed.data() + seed.size(), out.seed);
  if (error != std::errc() || end != seed.data() + seed.size())
    throw object->error("seed", fmt::format("is '{}', not a whole number", seed));
  out.units = object->optional_texts("units");
  out.failed = static_cast<std::size_t>(
      object->optional_integer("failed", {0, std::int64_t{1} << 40}).value_or(0));
  const json::Value* values = object->find("values");
  if (!values || !values->is_array()) throw object->missing("values");
  for (const json::Value& row : *values) out.values.push_back(read_drawn(row, *object));
  object->finish();
  return out;
}

Law read_fields(Fields fields) {
  const std::string found = fields.text("schema");
  if (found != schema)
    throw fields.error("schema", fmt::format("is '{}'; expected '{}'", found, schema));
  Law law;
  law.name = fields.optional_text("name").value_or("");
  law.form = read_form(fields);
  law.coefficients = read_coefficients(fields.object("coefficients"), law.form, true);
  for (const std::string& pinned : fields.optional_texts("pinned")) {
    const Coefficient which = parse_coefficient(law.form.family, pinned, fields.where("pinned"));
    law.form.pinned[static_cast<std::size_t>(which)] = law.coefficients[which];
  }
  if (auto half = fields.optional_object("half_units"))
    law.half_units = read_coefficients(*half, law.form, false);
  law.source = fields.optional_text("source").value_or("");
  law.size_meaning = fields.optional_text("size_meaning").value_or("");
  law.window = read_window(fields);
  law.draws = read_draws(fields);
  fields.finish();
  return law;
}

}  // namespace

std::string write_law(const Law& law) {
  Ordered out;
  out["schema"] = schema;
  if (!law.name.empty()) out["name"] = law.name;
  write_form(law.form, out);
  out["coefficients"] = coefficient_object(law.form, law.coefficients, false);
  if (is_rounded(law)) out["half_units"] = coefficient_object(law.form, law.half_units, true);
  if (!law.source.empty()) out["source"] = law.source;
  if (!law.size_meaning.empty()) out["size_meaning"] = law.size_meaning;
  Ordered window = Ordered::object();
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const Range& range = law.window.*range_members[i];
    if (range != Range{})
      window[std::string(ranges[i])] = {{"low", range.low}, {"high", range.high}};
  }
  if (!window.empty()) out["window"] = window;
  if (law.draws) out["draws"] = draws_object(*law.draws);
  return json::pretty(out);
}

Law read_law(std::string_view text, std::string_view file) {
  const json::Value document = json::parse(text, file);
  const Fields whole(document, std::string(file));
  if (const auto inner = document.find("law"); inner != document.end())
    return read_fields(Fields(*inner, std::string(file), "law"));
  return read_fields(whole);
}

}  // namespace isoloop::law
