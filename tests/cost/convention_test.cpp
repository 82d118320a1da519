// Each convention's published formula, written out with plain integers, against the ledger.
//
// Anchors: arXiv 2609.01343 (smelt), 2001.08361 (kaplan, 6n), 2204.02311 appendix B (palm),
// 2203.15556 appendix F (chinchilla); num_floating_point_operations of Megatron-LM (commit
// 001b00c2), quadratic_attention_flops_per_token and get_nparams_and_active_nparams of torchtitan
// (01c01c88), num_flops_per_token of OLMo-core (fa6c5014), maxtext_utils.py of MaxText (e591f30c),
// flop_counter.py of PyTorch. Holds src/convention, data/conventions.json and src/cost/total.cpp.
#include <doctest/doctest.h>

#include <functional>
#include <map>

#include "isoloop/cost.h"
#include "support/numbers.h"
#include "support/plain_model.h"

namespace isoloop::cost {
namespace {

using test::error_of;
using test::PlainLayer;
using test::PlainModel;

// ---- What the formulas add up ------------------------------------------------------------------

/// Matrices of the attention of one layer.
Int attention_matrices(const PlainModel& x, const PlainLayer& l) {
  if (l.kr > 0)
    return l.qr * (x.h + l.H * (l.nope + l.rope)) + l.kr * (x.h + l.H * (l.nope + l.value)) +
           x.h * l.rope + l.H * l.value * x.h;
  return 2 * x.h * l.H * l.d + 2 * x.h * l.K * l.d;
}

/// Dense FFN, or routed and shared experts that one token runs through.
Int ffn_matrices(const PlainModel& x, const PlainLayer& l) {
  return l.E == 0 ? x.c * x.h * l.g : x.c * x.h * (l.k * l.f + l.shared);
}

Int router(const PlainModel& x, const PlainLayer& l) { return x.h * l.E; }

/// Multiply-accumulates of scores and values per attended token.
Int core(const PlainLayer& l) {
  return l.kr > 0 ? l.H * (l.nope + l.rope + l.value) : 2 * l.H * l.d;
}

/// Biases, sinks and norms inside the attention.
Int attention_vectors(const PlainModel& x, const PlainLayer& l) {
  Int sum = l.kr > 0 ? l.qr + l.kr : Int(0);
  if (x.qkv_bias) sum += l.H * l.d + 2 * l.K * l.d;
  if (x.output_bias) sum += x.h;
  if (x.sinks) sum += l.H;
  if (x.head_norms) sum += 2 * l.d;
  return sum;
}

/// Biases of the FFN (of the active experts; the shared expert has none here) and the router.
Int ffn_vectors(const PlainModel& x, const PlainLayer& l) {
  Int sum = 0;
  const Int inner = x.c - 1;
  if (x.ffn_bias) sum += l.E == 0 ? inner * l.g + x.h : l.k * (inner * l.f + x.h);
  if (x.router_bias && l.E > 0) sum += l.E;
  return sum;
}

Int norm(const PlainModel& x) { return x.layer_norms ? 2 * x.h : x.h; }

Ratio sum_over_visits(const PlainModel& x, const std::function<Ratio(const PlainLayer&)>& term) {
  Ratio sum = 0;
  for (const PlainLayer& l : x.layers) sum += Ratio(l.visits) * term(l);
  return sum;
}

/// 6 x (active parameters without embedding and head, executed).
Ratio six_n(const PlainModel& x) {
  return sum_over_visits(x,
                         [&](const PlainLayer& l) -> Ratio {
                           return 6 *
                                  (attention_matrices(x, l) + ffn_matrices(x, l) + router(x, l) +
                                   attention_vectors(x, l) + ffn_vectors(x, l) + 2 * norm(x));
                         }) +
         Ratio(6 * norm(x));
}

Int clipped(const PlainModel& x, const PlainLayer& l) {
  return l.window > 0 && l.window < x.S ? l.window : x.S;
}

// ---- The formulas ------------------------------------------------------------------------------

Ratio smelt(const PlainModel& x) {
  return sum_over_visits(x, [&](const PlainLayer& l) -> Ratio {
    return 6 * (attention_matrices(x, l) + ffn_matrices(x, l) + router(x, l)) + 6 * core(l) * 392;
  });
}

/// Position by position: query i of a causal sequence sees min(i, W) tokens.
Ratio causal(const PlainModel& x) {
  return Ratio(6 * x.h * x.V) + sum_over_visits(x, [&](const PlainLayer& l) -> Ratio {
           Int seen = 0;
           for (std::int64_t i = 1; i <= x.S; ++i) seen += l.window > 0 ? std::min(i, l.window) : i;
           return Ratio(6 * (attention_matrices(x, l) + ffn_matrices(x, l) + router(x, l))) +
                  Ratio(6 * core(l) * seen, x.S);
         });
}

Ratio kaplan(const PlainModel& x) {
  return six_n(x) + sum_over_visits(x, [&](const PlainLayer& l) -> Ratio {
           return Ratio(6 * core(l) * x.S, 2);
         });
}

Ratio palm(const PlainModel& x) {
  return six_n(x) + Ratio(6 * x.h * x.V * (x.tied ? 1 : 2)) +
         sum_over_visits(x, [&](const PlainLayer& l) -> Ratio { return 6 * core(l) * x.S; });
}

/// Forward FLOPs of a whole sequence, times 3, per token. Its 6 S h (H d) for query, key and value
/// becomes 2 S h (H + 2K) d under grouped queries.
Ratio chinchilla(const PlainModel& x) {
  const Int S = x.S;
  const Ratio layers = sum_over_visits(x, [&](const PlainLayer& l) -> Ratio {
    return 2 * S * attention_matrices(x, l) + 2 * S * S * core(l) + 3 * l.H * S * S +
           2 * S * ffn_matrices(x, l);
  });
  return Ratio(3) * (Ratio(2 * S * x.V * x.h) + layers + Ratio(2 * S * x.h * x.V)) / Ratio(S);
}

/// The MTP layers are further layers of the last kind, each with three norms, a 2h -> h projection
/// and the head.
Ratio megatron(const PlainModel& x) {
  const auto layer = [&](const PlainLayer& l) -> Ratio {
    const Int latent_norms = l.kr > 0 ? l.qr + l.kr : Int(0);
    return Ratio(6 * (attention_matrices(x, l) + latent_norms + ffn_matrices(x, l))) +
           Ratio(6 * core(l) * x.S, 2);
  };
  const Int padded_V = 128 * ((x.V.to_int64() + 127) / 128);
  return sum_over_visits(x, layer) + Ratio(x.m) * layer(x.layers.back()) +
         Ratio(6 * x.m * (3 * x.h + 2 * x.h * x.h)) + Ratio(6 * x.h * padded_V * (x.m + 1));
}

Ratio torchtitan(const PlainModel& x) {
  return six_n(x) + Ratio(6 * x.h * x.V) + sum_over_visits(x, [&](const PlainLayer& l) -> Ratio {
           return 6 * core(l) * clipped(x, l);
         });
}

/// Attention and FFN modules with all their parameters; block norms are outside both.
Ratio olmo(const PlainModel& x) {
  return Ratio(6 * (norm(x) + x.h * x.V)) + sum_over_visits(x, [&](const PlainLayer& l) -> Ratio {
           return 6 * (attention_matrices(x, l) + attention_vectors(x, l) + router(x, l) +
                       ffn_matrices(x, l) + ffn_vectors(x, l)) +
                  6 * core(l) * clipped(x, l);
         });
}

Ratio maxtext(const PlainModel& x) {
  const Int S = x.S;
  return Ratio(3 * 2 * x.h * x.V) + sum_over_visits(x, [&](const PlainLayer& l) -> Ratio {
           const Int W = clipped(x, l);
           // Full layers: 4 S^2 / 2; windowed ones 4 (S W - W^2 / 2); per token and H d.
           const Ratio area = Ratio(S * W) - Ratio(W * W, 2);
           return Ratio(3 * 2 * (attention_matrices(x, l) + ffn_matrices(x, l) + router(x, l))) +
                  Ratio(3 * 2 * core(l)) * area / Ratio(S);
         });
}

/// 2mnk for each product, `backward` times that for the backward pass of the attention products.
Ratio torch_counter(const PlainModel& x, const Ratio& backward) {
  return Ratio(6 * x.h * x.V) + sum_over_visits(x, [&](const PlainLayer& l) -> Ratio {
           return Ratio(6 * (attention_matrices(x, l) + ffn_matrices(x, l) + router(x, l))) +
                  (Ratio(1) + backward) * Ratio(2 * core(l) * x.S);
         });
}

const std::map<std::string, std::function<Ratio(const PlainModel&)>>& formulas() {
  static const std::map<std::string, std::function<Ratio(const PlainModel&)>> table = {
      {"smelt", smelt},
      {"causal", causal},
      {"kaplan", kaplan},
      {"palm", palm},
      {"chinchilla", chinchilla},
      {"megatron", megatron},
      {"torchtitan", torchtitan},
      {"olmo", olmo},
      {"maxtext", maxtext},
      {"torch", [](const PlainModel& x) { return torch_counter(x, 2); }},
      {"torch-flash", [](const PlainModel& x) { return torch_counter(x, Ratio(5, 2)); }},
      {"6n", six_n}};
  return table;
}

Options under(const std::string& convention) {
  Options options;
  options.convention = convention::find(convention, "test");
  options.vocab_multiple = 128;
  return options;
}

Ratio train_flops(const arch::Architecture& model, const std::string& convention) {
  return count(model, under(convention)).train.value();
}

void check_all(const PlainModel& model) {
  const arch::Architecture architecture = test::architecture_of(model);
  for (const std::string& name : convention::names()) {
    CAPTURE(name);
    REQUIRE(formulas().contains(name));
    CHECK(train_flops(architecture, name) == formulas().at(name)(model));
  }
}

}  // namespace

TEST_CASE("conventions: every formula on a dense model with an explicit head size") {
  check_all(test::dense_model());
}
TEST_CASE("conventions: every formula on a mixture of experts with tied embeddings") {
  check_all(test::moe_model());
}
TEST_CASE("conventions: every formula on a looped model") { check_all(test::looped_model()); }
TEST_CASE("conventions: every formula on latent attention, a dense first layer and an MTP layer") {
  check_all(test::mla_model());
}
TEST_CASE("conventions: every formula on sliding windows") { check_all(test::windowed_model()); }
TEST_CASE("conventions: every formula on biases, sinks, norms and ungated FFNs") {
  check_all(test::decorated_model());
}

TEST_CASE("conventions: the data file holds exactly the formulas tested here") {
  CHECK(convention::names().size() == formulas().size());
  for (const convention::Convention& c : convention::all()) CHECK(!c.source.empty());
}

TEST_CASE("chinchilla's own example: a dense model with as many kv heads as heads") {
  PlainModel model = test::dense_model();
  for (PlainLayer& l : model.layers) l.K = l.H;
  const Int S = 100, h = 64, Hd = 96, H = 4, V = 1001, f = 160, L = 3;
  const Int forward = 2 * S * V * h +
                      L * (6 * S * h * Hd + 2 * S * S * Hd + 3 * H * S * S + 2 * S * S * Hd +
                           2 * S * Hd * h + 2 * S * 3 * h * f) +
                      2 * S * h * V;
  CHECK(train_flops(test::architecture_of(model), "chinchilla") == Ratio(3 * forward, S));
}

TEST_CASE("tying the embedding changes FLOPs under palm only, which counts both tables") {
  PlainModel model = test::moe_model();
  for (const std::string& name : convention::names()) {
    CAPTURE(name);
    model.tied = true;
    const Ratio tied = train_flops(test::architecture_of(model), name);
    model.tied = false;
    const Ratio untied = train_flops(test::architecture_of(model), name);
    CHECK(untied - tied == (name == "palm" ? Ratio(6 * model.h * model.V) : Ratio(0)));
  }
}

TEST_CASE("padding the vocabulary changes FLOPs under megatron only") {
  const arch::Architecture model = test::architecture_of(test::dense_model());  // V = 1001
  for (const std::string& name : convention::names()) {
    CAPTURE(name);
    Options plain = under(name);
    plain.vocab_multiple = 1;
    const Ratio more = train_flops(model, name) - count(model, plain).train.value();
    CHECK(more == (name == "megatron" ? Ratio(6 * 64 * (1024 - 1001)) : Ratio(0)));
  }
}

TEST_CASE("grouped queries do not reduce the score and value products") {
  PlainModel model = test::dense_model();
  const auto core_flops = [&](Int kv_heads) {
    for (PlainLayer& l : model.layers) l.K = kv_heads;
    Ratio sum = 0;
    const Options options = under("torch");
    for (const Row<Ratio>& row : count(test::architecture_of(model), options).rows)
      if (row.part == Part::attention_core) sum += contribution(row, Budget::flops, options);
    return sum;
  };
  CHECK(core_flops(1) == core_flops(4));
  CHECK(core_flops(4) == Ratio(3 * 12 * 4 * 24 * 100));
}

TEST_CASE("truncated back-propagation costs 2r + 4b per looped parameter") {
  PlainModel plain = test::dense_model();
  const auto flops_of_q = [&](const Ratio& forward, const Ratio& backward) {
    arch::Architecture model = test::architecture_of(plain);
    model.segments[1].visits = {forward, backward};
    const Options options = under("causal");
    for (const Row<Ratio>& row : count(model, options).rows)
      if (row.segment == "layer1" && row.name == "q projection")
        return contribution(row, Budget::flops, options) / row.params;
    return Ratio(0);
  };
  CHECK(flops_of_q(32, 8) == Ratio(96));
  CHECK(flops_of_q(32, 32) == Ratio(192));
  CHECK(flops_of_q(1, 1) == Ratio(6));
  CHECK(flops_of_q(Ratio(5, 2), Ratio(3, 2)) == Ratio(11));
}

TEST_CASE("learned vectors of a loop count as parameters where N does, matrices once") {
  PlainModel plain = test::dense_model();
  arch::Architecture model = test::architecture_of(plain);
  model.segments[1].visits = {3, 3};
  const auto extra = [&](const std::string& name, arch::Injection injection, bool gate) {
    arch::Architecture changed = model;
    changed.segments[1].injection = injection;
    changed.segments[1].exit_gate = gate;
    return train_flops(changed, name) - train_flops(model, name);
  };
  const Int h = plain.h, visits = 3;
  for (const std::string name : {"kaplan", "palm", "torchtitan", "6n"}) {
    CAPTURE(name);
    CHECK(extra(name, arch::Injection::diagonal, false) == Ratio(6 * visits * h));
    CHECK(extra(name, arch::Injection::linear, false) == Ratio(6 * visits * 2 * h * h));
    CHECK(extra(name, arch::Injection::none, true) == Ratio(6 * visits * (h + 1)));
  }
  CHECK(extra("causal", arch::Injection::diagonal, false) == Ratio(0));
  CHECK(extra("causal", arch::Injection::linear, false) == Ratio(6 * visits * 2 * h * h));
  CHECK(extra("causal", arch::Injection::none, true) == Ratio(6 * visits * h));
}

TEST_CASE("an unknown convention is refused with the nearest name") {
  const Error error = error_of([] { convention::find("megatorn", "--convention"); });
  CHECK(error.kind == ErrorKind::usage);
  CHECK(std::string(error.what()) ==
        "--convention: unknown convention 'megatorn'\n  hint: did you mean 'megatron'?");
}

}  // namespace isoloop::cost
