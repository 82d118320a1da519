// The few things about Hugging Face families that their table cannot say, one function each.
//
// Source: the modeling class of each family. Held by tests/formats/hf_loops_test.cpp and
// tests/formats/hf_traps_test.cpp.
#pragma once

#include "formats/hf_families.h"

namespace isoloop::formats {

/// "bailing_moe_v2" if the config is of Ling's second generation, else "".
std::string_view ling_variant(Config& config);
/// Query and key norms per head or over all heads; refuses layers without softmax attention.
void minimax(Draft& draft);
/// Turns the heads of the active experts into attention experts.
void jetmoe(Draft& draft);

/// The exit gate.
void ouro(Draft& draft);
/// Prelude + recurrent block + coda.
std::int64_t huginn_depth(Config& config);
void huginn(Draft& draft);
/// Layers of one stack.
std::int64_t hrm_depth(Config& config);
void hrm(Draft& draft);

}  // namespace isoloop::formats
