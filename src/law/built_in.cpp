// The laws and tables of data/laws/.
//
// Source: stated in each file. Held by tests/law/laws_test.cpp.
#include <nlohmann/json.hpp>

#include "base/json_reader.h"
#include "isoloop/law.h"
#include "law/numbers.h"
#include "law/published.h"

namespace isoloop::law {
namespace {

using json::Value;

constexpr std::string_view laws_file = "laws/paper.json", tables_file = "laws/paper_tables.json";

Law read_printed(const Value& entry, const Value& document) {
  Law law;
  law.name = entry.at("name");
  law.form = parse_form(entry.at("form").get<std::string>(), laws_file);
  law.source = document.at("source");
  law.size_meaning = document.at("size_meaning");
  const Value& compute = document.at("window").at("compute");
  law.window.compute = {compute.at(0), compute.at(1)};
  for (const Coefficient which : coefficients_of(law.form)) {
    const std::string digits = entry.at("printed").at(std::string(name(law.form.family, which)));
    law.coefficients[which] = detail::parse_number(digits).value();
    law.half_units[which] = detail::half_unit(digits);
  }
  return law;
}

Interval read_interval(const Value& entry) { return {entry.at("low"), entry.at("high")}; }

}  // namespace

std::vector<Law> built_in_laws() {
  const Value document = json::parse(data_file(laws_file), laws_file);
  std::vector<Law> out;
  for (const Value& entry : document.at("laws")) out.push_back(read_printed(entry, document));
  return out;
}

Law built_in_law(std::string_view name, std::string_view where) {
  std::vector<std::string> known;
  for (Law& law : built_in_laws()) {
    if (law.name == name) return std::move(law);
    known.push_back(law.name);
  }
  throw unknown_name(ErrorKind::usage, "law", name, known, where);
}

Published published() {
  const Value document = json::parse(data_file(tables_file), tables_file);
  Published out;
  out.source = document.at("source");
  out.tpp_compute = document.at("tpp_compute");
  for (const Value& entry : document.at("gains"))
    out.gains.push_back(
        {entry.at("compute"), entry.at("sparsity"), entry.at("gain"), read_interval(entry)});
  for (const Value& entry : document.at("tpp"))
    out.tpp.push_back({entry.at("sparsity"), entry.at("law"), entry.at("tokens_per_param"),
                       read_interval(entry)});
  return out;
}

}  // namespace isoloop::law
