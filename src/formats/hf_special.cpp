// Ling, MiniMax and JetMoE: what the table of families cannot say.
//
// Source: modeling files of inclusionAI/Ling-*, MiniMaxAI/MiniMax-M2 and jetmoe/jetmoe-8b. Held by
// tests/formats/hf_traps_test.cpp.
#include "formats/hf_special.h"

#include <fmt/format.h>

namespace isoloop::formats {

std::string_view ling_variant(Config& config) {
  // Both generations say model_type bailing_moe. Only the second has these keys or this class.
  bool second = config.states({"use_qk_norm"}) || config.states({"moe_router_enable_expert_bias"});
  if (const json::Value* classes = config.find({"architectures"}))
    second = second || *classes == json::Value{"BailingMoeV2ForCausalLM"};
  return second ? "bailing_moe_v2" : "";
}

void minimax(Draft& draft) {
  const auto type = draft.config.text({"qk_norm_type"});
  for (arch::Segment& segment : draft.model.segments) {
    if (segment.attention.qk_norm == arch::QkNorm::none || !type || *type == "per_layer") continue;
    if (*type != "per_head") {
      throw draft.config.error("qk_norm_type", fmt::format("'{}' is not understood", *type),
                               "per_layer or per_head");
    }
    segment.attention.qk_norm = arch::QkNorm::per_head;
  }
  for (const std::int64_t kind :
       draft.config.list({"attn_type_list"}).value_or(std::vector<std::int64_t>{})) {
    if (kind == 1) continue;
    throw draft.config.error("attn_type_list", "has lightning attention (linear attention) layers",
                             "only attention and feed-forward layers can be read");
  }
}

void jetmoe(Draft& draft) {
  for (arch::Segment& segment : draft.model.segments) {
    arch::Attention& attention = segment.attention;
    attention.experts = segment.ffn.experts;
    attention.top_k = segment.ffn.top_k;
    // Every active expert brings as many query heads as there are kv heads.
    if (attention.heads % attention.top_k != 0 ||
        attention.heads / attention.top_k != attention.kv_heads) {
      throw draft.config.error(
          "num_attention_heads",
          fmt::format("is {}, but {} active attention experts of {} heads each make {}",
                      attention.heads, attention.top_k, attention.kv_heads,
                      (Int(attention.top_k) * Int(attention.kv_heads)).str()));
    }
  }
}

}  // namespace isoloop::formats
