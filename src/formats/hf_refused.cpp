// Model types that are known and cannot be read, each with the reason.
//
// Source: the model classes of the transformers library. Held by tests/formats/refused_test.cpp.
#include <algorithm>
#include <array>

#include "formats/hf_families.h"

namespace isoloop::formats {
namespace {

struct Refused {
  std::string_view type, why;
};

constexpr std::string_view encoder = "an encoder and no decoder";
constexpr std::string_view pair = "an encoder in front of its decoder";

constexpr std::array refused{
    Refused{"albert", encoder},
    Refused{"bailing_moe_linear", "lightning attention (linear attention) layers"},
    Refused{"bamba", "Mamba-2 layers"},
    Refused{"bart", pair},
    Refused{"bert", encoder},
    Refused{"deberta", encoder},
    Refused{"deberta-v2", encoder},
    Refused{"distilbert", encoder},
    Refused{"electra", encoder},
    Refused{"falcon_h1", "Mamba-2 layers beside attention"},
    Refused{"falcon_mamba", "Mamba layers"},
    Refused{"granitemoehybrid", "Mamba-2 layers"},
    Refused{"jamba", "Mamba layers"},
    Refused{"kimi_linear", "Kimi delta attention (linear attention) layers"},
    Refused{"lfm2", "short convolution layers"},
    Refused{"lfm2_moe", "short convolution layers"},
    Refused{"mamba", "Mamba layers"},
    Refused{"mamba2", "Mamba-2 layers"},
    Refused{"minimax", "lightning attention (linear attention) layers"},
    Refused{"minimax_m1", "lightning attention (linear attention) layers"},
    Refused{"minimax_text_01", "lightning attention (linear attention) layers"},
    Refused{"modernbert", encoder},
    Refused{"nemotron_h", "Mamba-2 layers"},
    Refused{"qwen3_5", "gated DeltaNet (linear attention) layers"},
    Refused{"qwen3_5_moe", "gated DeltaNet (linear attention) layers"},
    Refused{"qwen3_next", "gated DeltaNet (linear attention) layers"},
    Refused{"recurrent_gemma", "RG-LRU recurrent layers"},
    Refused{"roberta", encoder},
    Refused{"rwkv", "RWKV recurrent layers"},
    Refused{"rwkv7", "RWKV recurrent layers"},
    Refused{"t5", pair},
    Refused{"whisper", pair},
    Refused{"xlm-roberta", encoder},
    Refused{"xlstm", "xLSTM recurrent layers"},
    Refused{"zamba", "Mamba layers"},
    Refused{"zamba2", "Mamba-2 layers"},
};

}  // namespace

std::string_view refusal(std::string_view type) {
  const auto* found = std::find_if(refused.begin(), refused.end(),
                                   [&](const Refused& entry) { return entry.type == type; });
  return found == refused.end() ? std::string_view() : found->why;
}

}  // namespace isoloop::formats
