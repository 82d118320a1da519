// Sums over the kernels of a plan, and the notes that go with them.
//
// Held by tests/gpu/plan_test.cpp.
#pragma once

#include "gpu/ops.h"

namespace isoloop::gpu {

/// GPUs that keep the same experts.
double expert_replicas(const Sharding& sharding);
/// Parameters whose optimizer state this GPU keeps: it is split over replicas.
double owned_params(const LocalParams& params, const Sharding& sharding);

void add_totals(Plan& plan, const Sharding& sharding, const DeviceModel& model);
void add_notes(Plan& plan, const arch::Architecture& architecture, const Sharding& sharding,
               const DeviceModel& model);

}  // namespace isoloop::gpu
