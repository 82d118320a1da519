// What a result was counted with, in its JSON: keys convention, context_tokens, and of the rest
// what differs from the default (attended_tokens, document_tokens, dtype, kv_dtype,
// vocab_multiple).
//
// Held by tests/cli/report_test.cpp, which recounts results from them.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "isoloop/cost.h"

namespace isoloop::cli {

void add_counting(nlohmann::ordered_json& result, const cost::Options& options);

}  // namespace isoloop::cli
