// Options several commands share, and the small languages inside them.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "isoloop/cost.h"
#include "isoloop/solve.h"

namespace isoloop::cli {

/// What is counted: convention, context, types.
struct CountFlags {
  std::string convention;  // "" = the command's default
  std::int64_t context = 0;
  std::string attended;
  std::string documents;
  std::string dtype = "bf16", kv_dtype;
  std::int64_t vocab_multiple = 1;
  void declare(CLI::App& app, const std::string& default_convention);
  /// Options to count with; `convention` may be "all" only where `all` is set.
  cost::Options options(bool& all) const;
  cost::Options options() const;
  bool given() const;
};

/// What is matched: tolerances, alignment, unknowns, ranking.
struct MatchFlags {
  std::string tolerance, alignment, loop, square, gqa, expert_ratio, attention_ratio;
  std::vector<std::string> fixed, freed, rank;
  std::int64_t top = 1, min_head = 0, tp = 1, ep = 1, pp = 1;
  void declare(CLI::App& app, const std::string& defaults_note);
  /// Overwrites in `request` what was given.
  void apply(solve::MatchRequest& request) const;
};

/// "flops=1%,params=0.5%": replaces the tolerances named, "kv=off" removes one.
void apply_tolerance(const std::string& text, const std::string& where,
                     std::vector<solve::BudgetTolerance>& budgets);
std::string tolerance_text(const std::vector<solve::BudgetTolerance>& tolerance);
std::vector<std::string> split(const std::string& text, char separator);

}  // namespace isoloop::cli
