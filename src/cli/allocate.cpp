// isoloop allocate: the best size and token count for a budget under a law, and what it takes on
// GPUs.
//
// Held by tests/cli/allocate_test.cpp; the numbers by tests/law/frontier_test.cpp.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/json_writer.h"
#include "cli/allocate_view.h"
#include "cli/input.h"
#include "cli/law_view.h"

namespace isoloop::cli {
namespace {

struct Flags {
  std::string law, budgets = "1e21", sparsities, sizes = "0.25,0.5,2,4";
  MachineFlags machine;
};

/// How far rounded coefficients may move the answer.
void add_rounding(const law::Law& law, AllocateRow& row) {
  if (!law::is_rounded(law)) return;
  const law::FrontierPoint& best = row.allocation.best;
  const auto moved = [&](double law::FrontierPoint::*value) {
    return law::rounding(std::span(&law, 1),
                         [&](std::span<const law::Law> laws) {
                           return law::frontier(laws[0], best.sparsity, std::span(&best.compute, 1))
                                      .points.front().*
                                  value;
                         })
        .total;
  };
  row.loss_rounding = moved(&law::FrontierPoint::loss);
  row.flops_rounding = moved(&law::FrontierPoint::flops_per_token) / best.flops_per_token;
}

AllocateRow row_of(const AllocateView& view, double sparsity, double compute,
                   const std::vector<double>& sizes) {
  AllocateRow row;
  row.allocation = law::allocate(view.law, sparsity, compute, sizes);
  add_rounding(view.law, row);
  if (view.trained) {
    const double factor = view.trained->flops_per_token / row.allocation.best.flops_per_token;
    row.trained = law::allocate(view.law, sparsity, compute, std::span(&factor, 1)).rows.front();
  }
  if (view.machine) row.gpu_hours = view.machine->gpu_hours(compute);
  return row;
}

std::vector<double> sparsities_under(const Flags& flags, const law::Law& law) {
  if (has_sparsity(law)) return sparsities_of(flags.sparsities);
  if (!flags.sparsities.empty())
    throw usage_error(fmt::format("{} knows no sparsity", law.name), "--sparsity", "leave it out");
  return {0};
}

void add_warnings_of(const law::Law& law, const Flags& flags, double sparsity, AllocateView& view) {
  // Once for all budgets; every row would repeat them.
  view.warnings = law::frontier(law, sparsity, budgets_of(flags.budgets)).warnings;
}

AllocateView view_of(const Flags& flags, const Context& context) {
  AllocateView view;
  view.law = load_law(flags.law, context);
  view.trained = flags.machine.trained(context);
  if (view.trained && view.law.form.family == law::Family::chinchilla)
    throw usage_error("has F, but a law of the form chinchilla asks for N", "--arch",
                      "leave it out, or take a law of the form smelt");
  view.machine = flags.machine.machine(view.trained, context);
  const std::vector<double> sizes = sizes_of(flags.sizes);
  const std::vector<double> sparsities = sparsities_under(flags, view.law);
  for (const double compute : budgets_of(flags.budgets))
    for (const double sparsity : sparsities)
      view.rows.push_back(row_of(view, sparsity, compute, sizes));
  add_warnings_of(view.law, flags, sparsities.front(), view);
  return view;
}

}  // namespace

Action declare_allocate(CLI::App& app) {
  const auto flags = std::make_shared<Flags>();
  app.add_option("LAW", flags->law, "Built-in name, file of fit --law, or E=...,A=...,...")
      ->required();
  app.add_option("--compute", flags->budgets, "Budgets C in training FLOPs (default 1e21)")
      ->type_name("C,...");
  app.add_option("--sparsity", flags->sparsities, sparsity_help)->type_name("S,...");
  app.add_option("--sizes", flags->sizes, "Other sizes on a budget, as F / F* (0.25,0.5,2,4)")
      ->type_name("X,...");
  flags->machine.declare(app);
  return [flags](Context& context) {
    const AllocateView view = about(flags->law, [&] { return view_of(*flags, context); });
    Answer answer;
    answer.document = allocate_document(view);
    answer.json = json::pretty(allocate_json(view));
    return answer;
  };
}

}  // namespace isoloop::cli
