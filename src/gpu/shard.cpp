// Which plans are possible: options a device supports, and dimensions that split evenly.
//
// Heads, FFN widths and the vocabulary split over TP; experts over EP and never over TP; routers
// and norms are not split but see a share of the tokens. Key heads fewer than TP are replicated.
//
// Held by tests/gpu/plan_errors_test.cpp.
#include <fmt/core.h>

#include <algorithm>

#include "gpu/attention_shapes.h"
#include "gpu/ops.h"

namespace isoloop::gpu {
namespace {

void at_least(std::string_view option, std::int64_t value, std::int64_t least) {
  if (value < least)
    throw input_error(fmt::format("is {}; expected at least {}", value, least),
                      std::string(option));
}

/// "1, 2, 4, 8": what divides `value`, up to a few.
std::string divisors(std::int64_t value, std::int64_t most) {
  std::string text;
  int shown = 0;
  for (std::int64_t d = 1; d <= std::min(value, most) && shown < 12; ++d) {
    if (value % d != 0) continue;
    text += (text.empty() ? "" : ", ") + std::to_string(d);
    ++shown;
  }
  return text;
}

void divides(std::string_view where, std::string_view what, std::int64_t value,
             std::string_view option, std::int64_t parts) {
  if (value % parts == 0) return;
  throw input_error(fmt::format("{} {} cannot be split over {} {}", value, what, option, parts),
                    std::string(where), fmt::format("{} may be {}", option, divisors(value, 1024)));
}

void check_segment(const arch::Segment& s, const std::string& path, const PlanOptions& o) {
  const arch::Attention& a = s.attention;
  divides(path + ".attention.heads", "heads", a.heads, "TP", o.tp);
  if (a.kind == arch::AttentionKind::gqa && a.kv_heads % o.tp != 0 && o.tp % a.kv_heads != 0)
    throw input_error(fmt::format("{} key heads can neither be split nor replicated over TP {}",
                                  a.kv_heads, o.tp),
                      path + ".attention.kv_heads",
                      fmt::format("TP may be {}", divisors(a.kv_heads, 1024)));
  if (a.experts > 0 && o.tp > 1)
    throw input_error("attention experts cannot be split over TP", path + ".attention.experts",
                      "plan with TP 1");
  if (s.ffn.moe) {
    divides(path + ".ffn.experts", "experts", s.ffn.experts, "EP", o.ep);
    if (s.ffn.shared_size > 0)
      divides(path + ".ffn.shared_size", "columns of the shared experts", s.ffn.shared_size, "TP",
              o.tp);
  } else {
    divides(path + ".ffn.size", "FFN columns", s.ffn.size, "TP", o.tp);
  }
}

Precision half_precision(const Device& device) {
  const bool bf16 = device.dense_tflops[static_cast<std::size_t>(Precision::bf16)] > 0;
  return bf16 ? Precision::bf16 : Precision::fp16;
}

}  // namespace

void check_options(const Device& device, const PlanOptions& o) {
  at_least("tokens", o.tokens, 1);
  at_least("sequence", o.sequence, 0);
  at_least("tp", o.tp, 1);
  at_least("ep", o.ep, 1);
  at_least("pp", o.pp, 1);
  at_least("dp", o.dp, 0);
  at_least("microbatches", o.microbatches, 1);
  at_least("vocab_multiple", o.vocab_multiple, 1);
  peak_flops(device, tensor_precision(o.dtype));
  newest_attention(device);
  divides("tokens", "tokens", o.tokens, "TP", o.tp);
  if (o.dp > 0 && o.dp * o.tp % o.ep != 0)
    throw input_error(fmt::format("EP {} does not divide DP x TP = {}", o.ep, o.dp * o.tp), "ep",
                      fmt::format("EP may be {}", divisors(o.dp * o.tp, 1024)));
  const bool linked = o.tp > 1 || o.ep > 1 || o.pp > 1 || o.dp > 1;
  if (linked && o.link_gbs_both_ways <= 0 && device.nvlink_gbs_both_ways <= 0)
    throw input_error(fmt::format("{} has no NVLink", device.name), "link_gbs_both_ways",
                      "state the bandwidth of the link between GPUs");
}

Sharding shard(const Device& device, const PlanOptions& o, std::int64_t context) {
  Sharding s;
  s.options = o;
  s.decode = o.phase == Phase::decode;
  s.tokens = o.tokens;
  s.local_tokens = o.tokens / o.tp;
  s.sequence = o.sequence > 0 ? o.sequence : context;
  if (s.decode) {
    s.sequences = o.tokens;  // one new token each
  } else {
    if (o.sequence == 0) s.sequence = std::min(s.sequence, o.tokens);
    if (o.tokens % s.sequence != 0)
      throw input_error(
          fmt::format("{} tokens are not whole sequences of {}", o.tokens, s.sequence), "tokens",
          fmt::format("for example {}", (o.tokens / s.sequence + 1) * s.sequence));
    s.sequences = o.tokens / s.sequence;
  }
  s.dp = o.dp > 0 ? o.dp : std::max<std::int64_t>(1, (o.ep + o.tp - 1) / o.tp);
  s.precision = tensor_precision(o.dtype);
  const bool half = s.precision == Precision::bf16 || s.precision == Precision::fp16;
  s.attention_precision = half ? s.precision : half_precision(device);
  s.cache_precision =
      o.kv_dtype == DType::fp8 && device.dense_tflops[static_cast<std::size_t>(Precision::fp8)] > 0
          ? Precision::fp8
          : s.attention_precision;
  s.activation_bytes = o.dtype == DType::fp32 ? 4 : 2;
  s.link_gbs = o.link_gbs_both_ways > 0 ? o.link_gbs_both_ways : device.nvlink_gbs_both_ways;
  return s;
}

void check_shards(const arch::Architecture& model, const Sharding& s) {
  const PlanOptions& o = s.options;
  Ratio executed = 0;
  for (std::size_t i = 0; i < model.segments.size(); ++i) {
    check_segment(model.segments[i], fmt::format("segments[{}]", i), o);
    executed += Ratio(model.segments[i].layers) * model.segments[i].visits.forward;
  }
  if (o.pp > 1 && executed.is_integer() && executed.num().to_int64() % o.pp != 0)
    divides("segments", "executed layers", executed.num().to_int64(), "PP", o.pp);
  const std::int64_t vocab = round_up(model.vocab, o.vocab_multiple).to_int64();
  if (vocab % o.tp != 0)
    throw input_error(fmt::format("{} vocabulary entries cannot be split over TP {}", vocab, o.tp),
                      "vocab_size", fmt::format("pad the vocabulary to a multiple of {}", o.tp));
}

}  // namespace isoloop::gpu
