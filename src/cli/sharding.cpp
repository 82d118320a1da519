// Sharding checked at emission, with the sizes that would do.
//
// Source: see sharding.h. Held by tests/cli/emit_test.cpp.
#include "cli/sharding.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

namespace isoloop::cli {
namespace {

constexpr std::int64_t most_tensor_ranks = 64;  // larger groups than any node has
constexpr std::size_t most_shown = 16;

/// Something that must divide by a number of ranks; kv heads may be copied instead.
struct Dimension {
  std::string what;
  std::int64_t size;
  bool may_be_copied = false;
  bool fits(std::int64_t ranks) const {
    return size % ranks == 0 || (may_be_copied && ranks % size == 0);
  }
};
using Dimensions = std::vector<Dimension>;

void add(Dimensions& dimensions, Dimension dimension) {
  const auto same = [&](const Dimension& d) {
    return d.what == dimension.what && d.size == dimension.size;
  };
  if (dimension.size > 0 && std::none_of(dimensions.begin(), dimensions.end(), same))
    dimensions.push_back(std::move(dimension));
}

Dimensions tensor_dimensions(const arch::Architecture& model, const formats::Target& target) {
  Dimensions d;
  for (const arch::Segment& s : model.segments) {
    add(d, {"heads", s.attention.heads});
    add(d, {"kv heads", s.attention.kv_heads, true});
    add(d, {"FFN size", s.ffn.size});
    add(d, {"expert size", s.ffn.expert_size});
    add(d, {"shared expert size", s.ffn.shared_size});
  }
  if (target.vocab_multiple == 0) add(d, {"vocabulary", model.vocab});
  return d;
}

Dimensions expert_dimensions(const arch::Architecture& model) {
  Dimensions d;
  for (const arch::Segment& s : model.segments) add(d, {"experts", s.ffn.experts});
  return d;
}

std::vector<std::int64_t> valid_sizes(const Dimensions& dimensions, std::int64_t most) {
  std::vector<std::int64_t> sizes;
  for (std::int64_t ranks = 1; ranks <= most && sizes.size() < most_shown; ++ranks)
    if (std::all_of(dimensions.begin(), dimensions.end(),
                    [&](const Dimension& d) { return d.fits(ranks); }))
      sizes.push_back(ranks);
  return sizes;
}

void check(const Dimensions& dimensions, std::int64_t ranks, std::int64_t most,
           std::string_view option, std::string_view of) {
  if (ranks < 1)
    throw usage_error(fmt::format("{} is not a positive size", ranks), std::string(option),
                      fmt::format("write e.g. {} 2", option));
  std::vector<std::string> broken;
  for (const Dimension& d : dimensions)
    if (!d.fits(ranks)) broken.push_back(fmt::format("{} {}", d.what, d.size));
  if (broken.empty()) return;
  throw usage_error(fmt::format("{} {} ranks do not divide {}", ranks, of, fmt::join(broken, ", ")),
                    std::string(option),
                    fmt::format("valid sizes: {}", fmt::join(valid_sizes(dimensions, most), ", ")));
}

}  // namespace

void check_sharding(const arch::Architecture& model, const formats::Target& target,
                    const formats::Sharding& sharding) {
  check(tensor_dimensions(model, target), sharding.tp, most_tensor_ranks, "--tp",
        "tensor-parallel");
  const Dimensions experts = expert_dimensions(model);
  if (experts.empty() && sharding.ep > 1)
    throw usage_error("there are no experts to spread", "--ep", "valid sizes: 1");
  std::int64_t most_experts = 1;
  for (const Dimension& d : experts) most_experts = std::max(most_experts, d.size);
  check(experts, sharding.ep, most_experts, "--ep", "expert-parallel");
  const std::int64_t depth = arch::depth(model);
  check({{"layers", depth}}, sharding.pp, depth, "--pp", "pipeline-parallel");
  if (sharding.pp > 1 && arch::effective_depth(model) != Ratio(depth))
    throw usage_error("a loop runs through its layers again and cannot be cut into stages", "--pp",
                      "valid sizes: 1");
}

Int padded_vocab(const arch::Architecture& model, const formats::Target& target,
                 const formats::Sharding& sharding) {
  if (target.vocab_multiple == 0) return model.vocab;
  return round_up(model.vocab, Int(target.vocab_multiple) * Int(sharding.tp));
}

std::string padding_text(const arch::Architecture& model, const formats::Target& target,
                         const formats::Sharding& sharding) {
  if (target.vocab_multiple == 0) return {};
  const Int multiple = Int(target.vocab_multiple) * Int(sharding.tp);
  const Int padded = padded_vocab(model, target, sharding);
  const Int added = padded - Int(model.vocab);
  if (added == Int(0))
    return fmt::format(
        "{} pads the vocabulary to a multiple of {} ({} x TP {}); {} is one already.", target.title,
        multiple.str(), target.vocab_multiple, sharding.tp, grouped(Ratio(padded)));
  const Int matrices = model.tied ? 1 : 2;
  const Int head = added * Int(model.hidden);
  return fmt::format(
      "{} pads the vocabulary from {} to {}, a multiple of {} ({} x TP {}): {} parameters more "
      "({} x {} x {}), and {} training FLOPs per token more in the head.",
      target.title, grouped(Ratio(model.vocab)), grouped(Ratio(padded)), multiple.str(),
      target.vocab_multiple, sharding.tp, grouped(Ratio(head * matrices)), added.str(),
      model.hidden, matrices.str(), grouped(Ratio(Int(6) * head)));
}

}  // namespace isoloop::cli
