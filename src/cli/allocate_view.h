// What isoloop allocate has found, as text and JSON.
//
// Held by tests/cli/allocate_test.cpp.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <vector>

#include "cli/allocate_cost.h"
#include "isoloop/law.h"
#include "isoloop/report.h"

namespace isoloop::cli {

/// One budget at one sparsity.
struct AllocateRow {
  law::Allocation allocation;
  double loss_rounding = 0, flops_rounding = 0;  // 0 if the law is exact; flops: relative
  std::optional<law::AllocationRow> trained;     // --arch on the same budget
  std::optional<Estimate> gpu_hours;
};

struct AllocateView {
  law::Law law;
  std::vector<AllocateRow> rows;
  std::optional<Trained> trained;
  std::optional<Machine> machine;
  std::vector<law::Warning> warnings;
};

report::Document allocate_document(const AllocateView& view);
nlohmann::ordered_json allocate_json(const AllocateView& view);

}  // namespace isoloop::cli
