// Laws from text and from fits; rounding; law files; the laws and tables compiled in.
//
// Source: digits as printed in arXiv 2609.01343; data/schemas/law.schema.json. Holds
// src/law/laws.cpp, law_file.cpp and built_in.cpp.
#include <nlohmann/json.hpp>

#include "law/published.h"
#include "law/support.h"

namespace isoloop::law {

using enum Coefficient;
using test::close;
using test::error_of;

namespace {

constexpr const char* printed = "E=1.4439,A=1.366e3,K=1.975e6,a=0.3703,b=0.1530,c=0.6594";

double gain_percent(std::span<const Law> laws) {
  const double sparsity[] = {0.95}, compute[] = {1e21};
  return 100 * gain(laws[0], laws[1], sparsity, compute).rows[0].gain;
}

}  // namespace

TEST_CASE("pasted coefficients are rounded by the digits they were written with") {
  const Law law = parse_law(Family::smelt, printed, "--law");
  CHECK(law.coefficients == test::baseline_coefficients());
  CHECK(is_rounded(law));
  CHECK(law.half_units[E] == doctest::Approx(5e-5));
  CHECK(law.half_units[A] == doctest::Approx(0.5));
  CHECK(law.half_units[K] == doctest::Approx(500));
  CHECK(law.half_units[b] == doctest::Approx(5e-5));
  const Law chinchilla =
      parse_law(Family::chinchilla, "E=1.69,A=406.4,B=410.7,alpha=0.34,beta=0.28", "--law");
  CHECK(chinchilla.half_units[a] == doctest::Approx(0.005));
  const Law dense = parse_law(Family::smelt, "A=100,a=0.3,K=1e5,c=0.5", "");
  CHECK(!dense.form.floor);
  CHECK(!dense.form.sparsity);
}

TEST_CASE("mistakes in pasted coefficients are named") {
  const auto of = [](const char* text) {
    return std::string(error_of([&] { parse_law(Family::smelt, text, "--law"); }).what());
  };
  CHECK(of("E=1,A=2,K=3,a=0.3,b=0.1") == "--law: c is missing");
  CHECK(of("E=1,A=2,b=0.1") == "--law: a is missing");
  CHECK(of("E=1,E=2") == "--law: E is given twice");
  CHECK(of("E=x") == "--law: 'x' is no number");
  CHECK(of("F=1") == "--law: unknown coefficient 'F'\n  hint: known: E, A, K, a, b, c");
}

TEST_CASE("trap: rounded coefficients move the answer, and by how much is said") {
  const Law laws[] = {built_in_law("baseline", ""), built_in_law("smelt", "")};
  const Rounding result = rounding(laws, gain_percent);
  CHECK(result.value == doctest::Approx(15.676).epsilon(1e-4));
  REQUIRE(result.lines.size() == 12);
  CHECK(result.lines[3].coefficient == "a of baseline");
  CHECK(result.lines[3].half_unit == doctest::Approx(5e-5));
  // One half-digit of a moves the gain by about 0.3 points; all together allow about 0.9.
  CHECK(std::abs(result.lines[3].change) == doctest::Approx(0.3).epsilon(0.3));
  CHECK(result.total > 0.7);
  CHECK(result.total < 1.3);
  double sum = 0;
  for (const RoundingLine& line : result.lines) sum += std::abs(line.change);
  CHECK(result.total == doctest::Approx(sum));
}

TEST_CASE("trap: chinchilla's printed exponents bias its loss") {
  // The unrounded exponents are from the source of arXiv 2203.15556, as arXiv 2404.10102 found
  // them.
  const Law rounded =
      parse_law(Family::chinchilla, "E=1.69,A=406.4,B=410.7,alpha=0.34,beta=0.28", "");
  const Law exact =
      parse_law(Family::chinchilla, "E=1.6934,A=406.4,B=410.7,alpha=0.3392,beta=0.2849", "");
  const double bias = loss(rounded, 70e9, 0, 1.4e12) - loss(exact, 70e9, 0, 1.4e12);
  CHECK(bias > 0.01);
  const Rounding line = rounding(std::span(&rounded, 1), [](std::span<const Law> laws) {
    return loss(laws[0], 70e9, 0, 1.4e12);
  });
  CHECK(line.total > bias);  // the rounding line covers it
}

TEST_CASE("exact laws have no rounding lines") {
  const Law law = test::smelt_law(test::baseline_coefficients());
  CHECK(!is_rounded(law));
  CHECK(rounding(std::span(&law, 1), [](std::span<const Law> l) {
          return loss(l[0], 1e9, 0.9, 1e10);
        }).lines.empty());
}

TEST_CASE("a law file keeps every digit, the window and the draws") {
  FitOptions options;
  options.size_meaning = "F with attention";
  Form form;
  pin(form, "b=0.15", "");
  const Fit result = fit(test::cell_runs(test::baseline_coefficients()), form, options);
  BootstrapOptions few;
  few.draws = 7;
  few.seed = 18446744073709551615U;
  const Law law = law_of(result, "mine", bootstrap(result, few));
  const std::string text = write_law(law);
  const Law back = read_law(text, "mine.json");
  CHECK(back.name == "mine");
  CHECK(back.form == law.form);
  CHECK(back.coefficients == law.coefficients);
  CHECK(back.size_meaning == "F with attention");
  CHECK(back.source == "fitted to 72 runs");
  CHECK(back.window == law.window);
  REQUIRE(back.draws);
  CHECK(back.draws->values == law.draws->values);
  CHECK(back.draws->seed == few.seed);
  CHECK(back.draws->units == law.draws->units);
  CHECK(write_law(back) == text);
  CHECK(read_law("{\"schema\": \"isoloop/fit/v1\", \"law\": " + text + "}", "fit.json")
            .coefficients == law.coefficients);
}

TEST_CASE("a rounded law stays rounded in its file") {
  for (const Law& law : built_in_laws()) {
    const Law back = read_law(write_law(law), "f");
    CHECK(back.half_units == law.half_units);
    CHECK(back.coefficients == law.coefficients);
    CHECK(back.window == law.window);
  }
  Law chinchilla = parse_law(Family::chinchilla, "A=406.4,B=410.7,alpha=0.34,beta=0.28", "");
  CHECK(read_law(write_law(chinchilla), "f").form == chinchilla.form);
}

TEST_CASE("the schema names the fields that are written, and no others") {
  const nlohmann::json schema =
      nlohmann::json::parse(data_file("schemas/law.schema.json")).at("properties");
  BootstrapOptions few;
  few.draws = 2;
  Form form;
  pin(form, "E=1.4439", "");
  FitOptions options;
  options.size_meaning = "F";
  const Fit result = fit(test::cell_runs(test::baseline_coefficients()), form, options);
  Law law = law_of(result, "all", bootstrap(result, few));
  law.half_units[A] = 0.5;
  law.form.sparsity = false;
  const nlohmann::json written = nlohmann::json::parse(write_law(law));
  CHECK(written.size() == schema.size());
  for (const auto& item : written.items()) CHECK(schema.contains(item.key()));
  for (const char* part : {"window", "draws"})
    for (const auto& item : written.at(part).items())
      CHECK(schema.at(part).at("properties").contains(item.key()));
  CHECK(written.at("window").size() == schema.at("window").at("properties").size());
  CHECK(written.at("draws").size() == schema.at("draws").at("properties").size());
}

TEST_CASE("law files are read strictly") {
  const std::string text = write_law(built_in_law("baseline", ""));
  const auto with = [&](const std::string& pointer, const nlohmann::json& value) {
    nlohmann::json document = nlohmann::json::parse(text);
    if (value.is_discarded())
      document.erase(pointer);
    else
      document[nlohmann::json::json_pointer("/" + pointer)] = value;
    return std::string(error_of([&] { read_law(document.dump(), "law.json"); }).what());
  };
  const nlohmann::json gone(nlohmann::json::value_t::discarded);
  CHECK(with("schema", "isoloop/law/v2") ==
        "law.json: schema: is 'isoloop/law/v2'; expected 'isoloop/law/v1'");
  CHECK(with("form", "smelter") ==
        "law.json: form: unknown form 'smelter'\n  hint: did you mean 'smelt'?");
  CHECK(with("coefficients", gone) == "law.json: field 'coefficients' is missing");
  CHECK(with("coefficients/E", "1.4").starts_with("law.json: coefficients.E: "));
  CHECK(with("coefficients/K", -1) == "law.json: coefficients.K: is -1; it must be positive");
  CHECK(with("coefficients/d", 1).starts_with("law.json: coefficients: unknown field 'd'"));
  CHECK(with("name2", "x").starts_with("law.json: unknown field 'name2'"));
  CHECK(with("pinned", {"f"}).starts_with("law.json: pinned: unknown coefficient 'f'"));
  CHECK(with("left_out", {"date"}) ==
        "law.json: left_out: unknown term 'date'\n  hint: did you mean 'data'?");
  CHECK(with("draws", {{"seed", "1"}, {"values", {{1, 2}}}})
            .starts_with("law.json: draws.values: every draw is a list of 6 numbers"));
  CHECK(with("draws", {{"seed", "-1"}, {"values", nlohmann::json::array()}}) ==
        "law.json: draws.seed: is '-1', not a whole number");
  CHECK(with("draws", {{"seed", "1"}}) == "law.json: draws: field 'values' is missing");
  CHECK(error_of([] { read_law("{", "law.json"); }).where.starts_with("law.json:1:"));
}

TEST_CASE("the compiled-in laws are the paper's, marked as rounded, with their source") {
  const std::vector<Law> laws = built_in_laws();
  REQUIRE(laws.size() == 2);
  CHECK(laws[0].name == "baseline");
  CHECK(laws[0].coefficients == test::baseline_coefficients());
  CHECK(laws[1].name == "smelt");
  CHECK(laws[1].coefficients == test::looped_coefficients());
  for (const Law& law : laws) {
    CHECK(is_rounded(law));
    CHECK(law.source.find("arXiv 2609.01343") != std::string::npos);
    CHECK(!law.size_meaning.empty());
    CHECK(law.window.compute == Range{1.3e19, 2.2e21});
  }
  CHECK(std::string(error_of([] { built_in_law("smlt", "REFERENCE"); }).what()) ==
        "REFERENCE: unknown law 'smlt'\n  hint: did you mean 'smelt'?");
  CHECK(published().source.find("arXiv 2609.01343") != std::string::npos);
}

TEST_CASE("loss is the law written out") {
  const Law law = built_in_law("smelt", "");
  CHECK(close(loss(law, 1e9, 0.95, 3e10),
              1.4493 + 1963 * std::pow(0.05, 0.146) / std::pow(1e9, 0.3892) +
                  5.264e6 / std::pow(3e10, 0.7011),
              1e-14));
  Law chinchilla = parse_law(Family::chinchilla, "E=1.69,A=406.4,B=410.7,alpha=0.34,beta=0.28", "");
  CHECK(close(loss(chinchilla, 1e9, 0.5, 2e10),
              1.69 + 406.4 / std::pow(1e9, 0.34) + 410.7 / std::pow(2e10, 0.28), 1e-14));
  chinchilla.form.floor = false;
  CHECK(close(loss(chinchilla, 1e9, 0, 2e10),
              406.4 / std::pow(1e9, 0.34) + 410.7 / std::pow(2e10, 0.28), 1e-14));
}

}  // namespace isoloop::law
