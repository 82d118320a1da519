// Whether an architecture can be spread over ranks, and what a padded vocabulary costs.
//
// Source: Megatron-LM's checks of its arguments (heads, query groups, experts, layers), which the
// other trainers share. Held by tests/cli/emit_test.cpp.
#pragma once

#include <string>

#include "isoloop/formats.h"

namespace isoloop::cli {

/// Throws Error (kind usage) at --tp, --ep or --pp with what does not divide and the valid sizes.
void check_sharding(const arch::Architecture& model, const formats::Target& target,
                    const formats::Sharding& sharding);

/// The vocabulary as the trainer stores it.
Int padded_vocab(const arch::Architecture& model, const formats::Target& target,
                 const formats::Sharding& sharding);
/// How padding changes the budget; "" if the trainer does not pad.
std::string padding_text(const arch::Architecture& model, const formats::Target& target,
                         const formats::Sharding& sharding);

}  // namespace isoloop::cli
