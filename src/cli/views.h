// Views shared by commands: architectures and counts as short text.
#pragma once

#include <string>
#include <vector>

#include "isoloop/cost.h"
#include "isoloop/report.h"

namespace isoloop::cli {

/// "12 layers, hidden 1280, 20 heads x 64 (4 kv), 192 experts of 432, top-8, loop 3+6x2+3".
std::string shape_text(const arch::Architecture& model);
/// "24,576 B per token (bf16, 18 slots) · 96.0 MiB at 4,096 tokens".
std::string kv_text(const cost::Count& count, const cost::Options& options);
/// Weights, gradients, Adam; says how many bytes each takes per parameter.
std::string memory_text(const cost::Count& count, const cost::Options& options);
std::string activation_text(const cost::Count& count);

/// The ledger summed by kind of part, in the order parts first occur.
struct PartSum {
  std::string name;
  Ratio params, active, train;
};
std::vector<PartSum> sum_by_part(const std::vector<cost::Row<Ratio>>& rows,
                                 const cost::Options& options);

/// The architecture with a loop in the short grammar put in; "" leaves it as it is.
arch::Architecture looped(const arch::Architecture& model, const std::string& loop);

}  // namespace isoloop::cli
