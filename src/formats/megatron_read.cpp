// The Megatron-LM reader: the architecture that a list of arguments builds.
//
// Source: see megatron.h; what a missing argument means is what arguments.py makes of it. Held by
// tests/formats/megatron_test.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "formats/megatron.h"

namespace isoloop::formats {
namespace {

struct Refusal {
  std::string_view flag, what, hint = {};
};
constexpr std::array refusals{
    Refusal{"hybrid-override-pattern", "layers without attention"},
    Refusal{"hybrid-layer-pattern", "layers without attention"},
    Refusal{"is-hybrid-model", "layers without attention"},
    Refusal{"experimental-attention-variant", "attention of another kind"},
    Refusal{"spec", "a layer specification in Python",
            "name the folder that isoloop emit wrote, or the architecture.json in it"},
    Refusal{"moe-latent-size", "experts of a latent width"},
    Refusal{"encoder-num-layers", "an encoder"},
    Refusal{"heterogeneous-layers-config-path", "layers described in another file"},
    Refusal{"apply-residual-connection-post-layernorm", "residuals taken after the norm"},
};

/// Arguments with what arguments.py takes for a missing one.
class Reader {
 public:
  Reader(std::string_view text, std::string_view file)
      : file_(file), flags_(parse_flags(text, file)) {}

  std::string where(std::string_view flag) const {
    const auto found = flags_.find(flag);
    if (found == flags_.end()) return file_;
    return fmt::format("{}:{}: --{}", file_, found->second.line, flag);
  }
  Error missing(std::string_view flag) const {
    return input_error(fmt::format("--{} is missing", flag), file_, "no dimension is ever assumed");
  }
  const std::string* find(std::string_view flag) const {
    const auto found = flags_.find(flag);
    return found == flags_.end() ? nullptr : &found->second.value;
  }
  bool on(std::string_view flag) const { return find(flag) != nullptr; }
  bool is(std::string_view flag, std::string_view value) const {
    return on(flag) && *find(flag) == value;
  }
  std::int64_t number(std::string_view flag, std::int64_t least) const {
    const std::string* text = find(flag);
    if (text == nullptr) throw missing(flag);
    std::int64_t value = 0;
    const auto [end, code] = std::from_chars(text->data(), text->data() + text->size(), value);
    if (code != std::errc() || end != text->data() + text->size() || value < least ||
        value > arch::max_dimension)
      throw input_error(fmt::format("'{}' is not a whole number of at least {}", *text, least),
                        where(flag),
                        text->find('$') == std::string::npos ? "" : "variables are not expanded");
    return value;
  }
  std::int64_t number_or(std::string_view flag, std::int64_t least, std::int64_t otherwise) const {
    return on(flag) ? number(flag, least) : otherwise;
  }
  /// One 0 or 1 for every layer; `of_integer` says what a plain number means.
  template <class F>
  std::vector<std::int64_t> layers(std::string_view flag, std::int64_t depth, F of_integer) const {
    const std::string* text = find(flag);
    std::vector<std::int64_t> result;
    if (text != nullptr && text->find('[') != std::string::npos) {
      result = parse_pattern(*text, where(flag));
      if (std::ssize(result) != depth)
        throw input_error(fmt::format("lists {} layers of {}", result.size(), depth), where(flag));
      return result;
    }
    const std::int64_t step = number_or(flag, 1, 1);
    for (std::int64_t i = 0; i < depth; ++i) result.push_back(of_integer(i, step) ? 1 : 0);
    return result;
  }

 private:
  std::string file_;
  Flags flags_;
};

arch::Attention read_mla(const Reader& args) {
  arch::Attention a;
  a.kind = arch::AttentionKind::mla;
  a.heads = args.number("num-attention-heads", 1);
  a.q_rank = args.number_or("q-lora-rank", 1, 0);
  a.kv_rank = args.number("kv-lora-rank", 1);
  a.nope_size = args.number("qk-head-dim", 1);
  a.rope_size = args.number("qk-pos-emb-head-dim", 1);
  a.value_size = args.number("v-head-dim", 1);
  if (!args.on("qk-layernorm"))
    throw input_error("MLA without norms of its low ranks cannot be read",
                      args.where("multi-latent-attention"), "add --qk-layernorm");
  return a;
}

arch::Attention read_attention(const Reader& args, std::int64_t hidden) {
  if (args.on("multi-latent-attention")) return read_mla(args);
  arch::Attention a;
  a.heads = args.number("num-attention-heads", 1);
  a.kv_heads = args.on("group-query-attention") ? args.number("num-query-groups", 1) : a.heads;
  if (!args.on("kv-channels") && hidden % a.heads != 0)
    throw input_error(fmt::format("{} heads do not divide the hidden size {}", a.heads, hidden),
                      args.where("num-attention-heads"), "state the head size: --kv-channels");
  a.head_size = args.number_or("kv-channels", 1, hidden / a.heads);
  if (args.on("qk-layernorm")) a.qk_norm = arch::QkNorm::per_head;
  if (args.on("qk-l2-norm")) a.qk_norm = arch::QkNorm::unweighted;
  const bool biased = !args.on("disable-bias-linear");
  a.qkv_bias = biased || args.on("add-qkv-bias");
  a.output_bias = biased;
  a.sinks = args.is("softmax-type", "learnable");
  a.output_gate = args.on("attention-output-gate");
  return a;
}

/// The window of each layer, 0 = full attention.
std::vector<std::int64_t> read_windows(const Reader& args, std::int64_t depth) {
  const std::string* text = args.find("window-size");
  std::vector<std::int64_t> windows(static_cast<std::size_t>(depth), 0);
  if (text == nullptr) return windows;
  std::int64_t before = 0;
  const std::size_t begin = text->starts_with("(") ? 1 : 0;
  const auto [end, code] =
      std::from_chars(text->data() + begin, text->data() + text->size(), before);
  if (code != std::errc() || *end != ',' || before < -1 || before >= arch::max_dimension)
    throw input_error(fmt::format("'{}' is not a window", *text), args.where("window-size"),
                      "write tokens before and after the query, e.g. 127,0");
  if (before == -1) return windows;
  const bool everywhere = !args.on("window-attn-skip-freq");
  const auto windowed = args.layers(
      "window-attn-skip-freq", depth,
      [&](std::int64_t i, std::int64_t step) { return everywhere || (i + 1) % step != 0; });
  // The query's own token is always seen.
  for (std::size_t i = 0; i < windows.size(); ++i) windows[i] = windowed[i] != 0 ? before + 1 : 0;
  return windows;
}

arch::Ffn read_dense(const Reader& args, bool needed) {
  arch::Ffn ffn;
  ffn.gated = args.on("swiglu");
  ffn.size = needed ? args.number("ffn-hidden-size", 1) : 1;
  ffn.bias = !args.on("disable-bias-linear");
  return ffn;
}

arch::Ffn read_moe(const Reader& args) {
  arch::Ffn ffn;
  ffn.moe = true;
  ffn.gated = args.on("swiglu");
  ffn.experts = args.number("num-experts", 1);
  ffn.top_k = args.number_or("moe-router-topk", 1, 2);
  ffn.expert_size = args.on("moe-ffn-hidden-size") ? args.number("moe-ffn-hidden-size", 1)
                                                   : args.number("ffn-hidden-size", 1);
  ffn.shared_size = args.number_or("moe-shared-expert-intermediate-size", 0, 0);
  ffn.shared_gate = ffn.shared_size > 0 && args.on("moe-shared-expert-gate");
  ffn.selection_bias = args.on("moe-router-enable-expert-bias");
  ffn.bias = ffn.router_bias = !args.on("disable-bias-linear");
  return ffn;
}

void read_segments(const Reader& args, std::int64_t depth, arch::Architecture& model) {
  const bool has_moe = args.on("num-experts");
  std::vector<std::int64_t> is_moe(static_cast<std::size_t>(depth), 0);
  if (has_moe)
    is_moe = args.layers("moe-layer-freq", depth,
                         [](std::int64_t i, std::int64_t step) { return i % step == 0; });
  const bool any_dense = std::find(is_moe.begin(), is_moe.end(), 0) != is_moe.end();
  const arch::Ffn dense = read_dense(args, any_dense);
  const arch::Ffn moe = has_moe ? read_moe(args) : arch::Ffn{};
  const arch::Attention attention = read_attention(args, model.hidden);
  const std::vector<std::int64_t> windows = read_windows(args, depth);
  for (std::size_t first = 0; first < is_moe.size();) {
    std::size_t end = first;
    while (end < is_moe.size() && (is_moe[end] != 0) == (is_moe[first] != 0)) ++end;
    arch::Segment segment;
    segment.name = fmt::format("{}{}", is_moe[first] != 0 ? "moe" : "dense", first);
    segment.layers = static_cast<std::int64_t>(end - first);
    segment.attention = attention;
    const auto begin = windows.begin() + static_cast<std::ptrdiff_t>(first);
    const auto stop = windows.begin() + static_cast<std::ptrdiff_t>(end);
    if (std::any_of(begin, stop, [](std::int64_t window) { return window > 0; }))
      segment.attention.windows = {begin, stop};
    segment.ffn = is_moe[first] != 0 ? moe : dense;
    model.segments.push_back(std::move(segment));
    first = end;
  }
  if (model.segments.size() == 1) model.segments.front().name = "layers";
}

void note_positions(const Reader& args, Import& result) {
  const bool rotary = args.on("use-rotary-position-embeddings") ||
                      (args.on("position-embedding-type") &&
                       !args.is("position-embedding-type", "learned_absolute"));
  if (!rotary)
    result.left_out.push_back(
        "learned position embeddings (the default without --position-embedding-type)");
}

}  // namespace

Import read_megatron(std::string_view text, std::string_view file, std::string_view name) {
  const Reader args(text, file);
  for (const Refusal& refusal : refusals)
    if (args.on(refusal.flag))
      throw input_error(fmt::format("{} cannot be read", refusal.what), args.where(refusal.flag),
                        std::string(refusal.hint));
  Import result;
  result.format = "megatron";
  arch::Architecture& model = result.architecture;
  model.name = name;
  const std::int64_t depth = args.number("num-layers", 1);
  if (depth > arch::max_layers)
    throw input_error(fmt::format("{} layers; more than {} are refused", depth, arch::max_layers),
                      args.where("num-layers"));
  model.hidden = args.number("hidden-size", 1);
  model.vocab = args.number_or("vocab-size", 1, 0);
  if (model.vocab == 0)
    result.warnings.push_back("no --vocab-size: embedding and head are not counted");
  model.tied = !args.on("untie-embeddings-and-output-weights");
  model.norm = args.is("normalization", "RMSNorm") || args.on("multi-latent-attention")
                   ? arch::NormKind::rms
                   : arch::NormKind::layer;
  model.context = args.number_or("seq-length", 1, model.context);
  model.mtp_layers = args.number_or("mtp-num-layers", 0, 0);
  read_segments(args, depth, model);
  note_positions(args, result);
  try {
    arch::validate(model);
  } catch (const Error& error) {
    throw input_error(error.message, fmt::format("{}: read as {}", file, error.where), error.hint);
  }
  return result;
}

}  // namespace isoloop::formats
