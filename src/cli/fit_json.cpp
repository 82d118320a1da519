// A fit as JSON, with everything a picture needs: points with residuals, frontiers with bands.
//
// Held by tests/cli/fit_test.cpp; docs/laws.md lists the keys.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/fit_view.h"
#include "cli/law_view.h"

namespace isoloop::cli {
namespace {

using Json = nlohmann::ordered_json;

Json optional_number(const std::optional<double>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json coefficients_json(const law::Form& form, const law::Coefficients& values) {
  Json out = Json::object();
  for (const law::Coefficient which : law::coefficients_of(form))
    out[std::string(law::name(form.family, which))] = values[which];
  return out;
}

Json intervals_json(const FitView& view) {
  Json out = Json::object();
  if (!view.intervals) return out;
  for (const law::Coefficient which : law::coefficients_of(view.fit.form))
    out[std::string(law::name(view.fit.form.family, which))] =
        interval_json((*view.intervals)[static_cast<std::size_t>(which)]);
  return out;
}

std::optional<double> compute_of(const law::Form& form, const law::Run& run) {
  const auto& size = form.family == law::Family::smelt ? run.flops : run.params;
  if (!size || !run.tokens) return run.compute;
  return (form.family == law::Family::smelt ? 1 : 6) * *size * *run.tokens;
}

Json points_json(const law::Fit& fit) {
  Json out = Json::array();
  for (std::size_t i = 0; i < fit.residuals.size(); ++i) {
    const law::Residual& r = fit.residuals[i];
    const law::Run& run = fit.used[i];
    out.push_back({{"line", r.line},
                   {"cell", run.cell},
                   {"flops_per_token", optional_number(run.flops)},
                   {"params", optional_number(run.params)},
                   {"tokens", optional_number(run.tokens)},
                   {"sparsity", optional_number(run.sparsity)},
                   {"compute", optional_number(compute_of(fit.form, run))},
                   {"observed_nats", r.observed},
                   {"predicted_nats", r.predicted},
                   {"log_residual", r.log_ratio}});
  }
  return out;
}

/// The sparsities of the rows, or the window's ends and middle where there are many.
std::vector<double> shown_sparsities(const law::Fit& fit) {
  constexpr std::size_t most = 8;
  const auto has = law::coefficients_of(fit.form);
  if (std::find(has.begin(), has.end(), law::Coefficient::b) == has.end())
    return {0};
  std::set<double> all;
  for (const law::Run& run : fit.used) all.insert(*run.sparsity);
  if (all.size() <= most) return {all.begin(), all.end()};
  const law::Range& window = fit.window.sparsity;
  return {window.low, 0.5 * (window.low + window.high), window.high};
}

Json correlations_json(const law::Fit& fit) {
  Json names = Json::array();
  for (const law::Coefficient which : fit.free) names.push_back(law::name(fit.form.family, which));
  Json matrix = Json::array();
  for (const auto& row : fit.correlations) {
    Json values = Json::array();
    for (const double value : row) values.push_back(finite_json(value));
    matrix.push_back(values);
  }
  return {{"of", names}, {"matrix", matrix}};
}

Json search_json(const law::Fit& fit) {
  Json out;
  out["starts"] = {{"tried", fit.starts.tried},
                   {"converged", fit.starts.converged},
                   {"reached", fit.starts.reached},
                   {"dead", fit.starts.dead}};
  out["second_basin"] = nullptr;
  if (fit.second_basin)
    out["second_basin"] = {
        {"objective", fit.second_basin->objective},
        {"reached", fit.second_basin->reached},
        {"coefficients", coefficients_json(fit.form, fit.second_basin->coefficients)}};
  out["gradient_norm"] = fit.gradient_norm;
  out["relative_gradient"] = fit.relative_gradient;
  out["iterations"] = fit.iterations;
  out["stop"] = law::name(fit.stop);
  out["condition"] = {{"centred", finite_json(fit.condition)},
                      {"raw", finite_json(fit.condition_raw)}};
  out["correlations"] = correlations_json(fit);
  return out;
}

Json rows_json(const law::Fit& fit) {
  Json out;
  out["rows"] = fit.rows;
  out["excluded"] = Json::array();
  for (const law::Excluded& e : fit.excluded)
    out["excluded"].push_back({{"rule", e.rule}, {"rows", e.rows}});
  out["skipped"] = Json::array();
  for (const law::Skipped& s : fit.skipped)
    out["skipped"].push_back({{"line", s.line}, {"reason", s.reason}});
  out["compute_check"] = nullptr;
  if (const auto& c = fit.compute_check)
    out["compute_check"] = {
        {"rows", c->rows}, {"above", c->above}, {"worst", c->worst}, {"line", c->line}};
  return out;
}

Json refits_json(const law::Fit& fit, const RefitTable& refits) {
  Json out = Json::array();
  for (const law::Refit& refit : refits.sensitivity.refits)
    out.push_back({{"what", refit.what},
                   {"rows", refit.rows},
                   {"objective", refit.objective},
                   {"coefficients", coefficients_json(fit.form, refit.coefficients)}});
  return out;
}

/// The law file without its draws: those are in the file that --law writes.
Json law_json(law::Law law) {
  law.draws.reset();
  return Json::parse(law::write_law(law));
}

}  // namespace

Json fit_json(const FitView& view) {
  const law::Fit& fit = view.fit;
  Json j;
  j["schema"] = "isoloop/fit/v1";
  j["name"] = view.law.name;
  j["form"] = law::name(fit.form.family);
  j["equation"] = law::equation(fit.form);
  j["size_meaning"] = fit.options.size_meaning;
  j["coefficients"] = coefficients_json(fit.form, fit.coefficients);
  j["intervals"] = intervals_json(view);
  j["objective"] = fit.objective;
  j["penalty"] = law::name(fit.options.penalty);
  j["delta"] = fit.options.delta;
  j["inside_delta"] = fit.inside_delta;
  j["rmse"] = fit.rmse_nats;
  j.update(search_json(fit));
  j.update(rows_json(fit));
  j["draws"] = nullptr;
  if (const auto& draws = view.law.draws)
    j["draws"] = {{"by", draws->by_cell ? "cell" : "row"},
                  {"count", draws->values.size()},
                  {"failed", draws->failed},
                  {"seed", std::to_string(draws->seed)}};
  j["points"] = points_json(fit);
  j["frontiers"] = frontiers_json(view.law, shown_sparsities(fit), picture_budgets(view.law));
  for (const RefitTable& refits : view.refits) j["refits"][refits.key] = refits_json(fit, refits);
  j["law"] = law_json(view.law);
  j["warnings"] = warnings_json(view.warnings);
  return j;
}

}  // namespace isoloop::cli
