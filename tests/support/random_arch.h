// Random small architectures with every feature of the format, and a copy without loops.
#pragma once

#include <random>

#include "isoloop/arch.h"

namespace isoloop::test {

/// Valid; one to three segments, GQA (with or without attention experts) or MLA, dense or MoE,
/// windows, whole or fractional visits, every cache policy.
arch::Architecture random_architecture(std::mt19937_64& random);

/// Every whole-visit segment replaced by one copy per visit, with what the loop stored per visit
/// stored in the copies.
arch::Architecture unrolled_copies(const arch::Architecture& model);

}  // namespace isoloop::test
