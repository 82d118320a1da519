// Options of counting as JSON.
//
// Held by tests/cli/report_test.cpp.
#include "cli/counting.h"

#include <nlohmann/json.hpp>

namespace isoloop::cli {

void add_counting(nlohmann::ordered_json& result, const cost::Options& options) {
  const cost::Options defaults;
  result["convention"] = options.convention.name;
  result["context_tokens"] = options.context;
  if (options.attended) result["attended_tokens"] = options.attended->str();
  if (!options.documents.empty()) result["document_tokens"] = options.documents;
  if (options.dtype != defaults.dtype) result["dtype"] = name(options.dtype);
  if (options.kv_dtype != defaults.kv_dtype) result["kv_dtype"] = name(options.kv_dtype);
  if (options.vocab_multiple != defaults.vocab_multiple)
    result["vocab_multiple"] = options.vocab_multiple;
}

}  // namespace isoloop::cli
