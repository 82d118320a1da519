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
  // As given; "" = not given. Numbers are text because isoloop reads them exactly.
  std::string convention, context, attended, documents, dtype, kv_dtype, vocab_multiple;
  void declare(CLI::App& app, const std::string& default_convention);
  /// Options to count with; `convention` may be "all" only where `all` is set.
  cost::Options options(bool& all) const;
  cost::Options options() const;
  /// `base` with what was given put in. Another convention, context or packing also drops the mean
  /// attended length that `base` states.
  cost::Options over(cost::Options base) const;

 private:
  void read_documents(cost::Options& options) const;
};

/// What is matched: tolerances, alignment, unknowns, ranking.
struct MatchFlags {
  std::string tolerance, alignment, loop, square, gqa, expert_ratio, attention_ratio, top, min_head,
      tp, ep, pp;
  std::vector<std::string> fixed, freed, rank;
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
