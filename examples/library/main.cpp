// Uses isoloop as a library: matches a small baseline and prints what was found.
#include <iostream>

#include "isoloop/solve.h"

int main() {
  using namespace isoloop;
  const arch::Architecture baseline = arch::from_json(R"({
    "schema": "isoloop/arch/v1", "name": "tiny", "hidden_size": 768, "vocab_size": 32000,
    "segments": [{"name": "layers", "layers": 8,
      "attention": {"kind": "gqa", "heads": 12, "kv_heads": 3, "head_size": 64},
      "ffn": {"kind": "moe", "experts": 32, "top_k": 4, "expert_size": 256}}]})",
                                                      "example");
  solve::MatchRequest request;
  request.baseline = baseline;
  request.alignment.experts = 1;  // a small model: steps of 8 experts would be too coarse
  const solve::MatchResult result = solve::match(request);
  if (result.answers.empty()) return 1;
  const solve::MatchAnswer& answer = result.answers.front();
  std::cout << arch::to_json(answer.architecture) << "largest mismatch "
            << percent(answer.largest) << " of " << result.certificate.points.str() << " points\n";
}
