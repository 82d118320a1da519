// Looped models: how often each segment runs, forward and backward, and what is stored per loop.
//
// Source: the modeling files named in src/formats/hf_loops.cpp; the expected figures are worked
// out by hand from them.
#include "formats/configs.h"

namespace isoloop::formats {

using test::complaint;
using test::config;
using test::model;
using test::with;
using test::without;

TEST_CASE("Ouro runs its whole stack total_ut_steps times") {
  const auto ouro = model(config("ouro-1.4b"));
  REQUIRE(ouro.segments.size() == 1);
  CHECK(ouro.segments[0].layers == 24);
  CHECK(ouro.segments[0].visits == arch::Visits{4, 4});
  CHECK(ouro.segments[0].order == arch::Order::block);
  CHECK(ouro.segments[0].exit_gate);
  CHECK(ouro.segments[0].kv_policy == arch::KvPolicy::per_visit);
  CHECK(!ouro.segments[0].residual_scale);
  CHECK(ouro.norm_layout == arch::NormLayout::sandwich);
  CHECK(arch::effective_depth(ouro) == Ratio(96));
  CHECK(complaint(without(config("ouro-1.4b"), "total_ut_steps")) ==
        "config.json: key 'total_ut_steps' is missing or null\n"
        "  hint: no dimension is ever assumed");
}

TEST_CASE("Nanbeige runs its whole stack num_loops times") {
  const auto nanbeige = model(config("nanbeige-4.2-3b"));
  REQUIRE(nanbeige.segments.size() == 1);
  CHECK(nanbeige.segments[0].visits == arch::Visits{2, 2});
  CHECK(!nanbeige.segments[0].exit_gate);
  CHECK(nanbeige.norm_layout == arch::NormLayout::pre);
}

TEST_CASE("Recurrent Llama: prelude, a core with one 2h to h adapter, coda") {
  const auto llama = model(config("recurrent-llama-3.2"));
  REQUIRE(llama.segments.size() == 3);
  CHECK(llama.segments[0].name == "prelude");
  CHECK(llama.segments[0].layers == 4);
  CHECK(llama.segments[0].visits == arch::Visits{1, 1});
  CHECK(llama.segments[0].injection == arch::Injection::none);
  CHECK(llama.segments[1].name == "recur");
  CHECK(llama.segments[1].layers == 6);
  CHECK(llama.segments[1].visits == arch::Visits{32, 32});
  CHECK(llama.segments[1].injection == arch::Injection::linear);
  CHECK(llama.segments[2].name == "coda");
  CHECK(llama.segments[2].layers == 4);
  CHECK(llama.norm_layout == arch::NormLayout::pre);
  CHECK(arch::effective_depth(llama) == Ratio(200));
}

TEST_CASE("Huginn: its own key names, four norms, fewer backward visits") {
  const test::Value huginn = {{"model_type", "huginn_raven"},
                              {"n_embd", 5280},
                              {"n_heads", 55},
                              {"num_key_value_heads", 55},
                              {"head_dim", 96},
                              {"intermediate_size", 17920},
                              {"vocab_size", 65536},
                              {"padded_vocab_size", 65536},
                              {"n_layers", 8},
                              {"n_layers_in_prelude", 2},
                              {"n_layers_in_recurrent_block", 4},
                              {"n_layers_in_coda", 2},
                              {"injection_type", "linear"},
                              {"state_init", "like-init"},
                              {"mean_recurrence", 32},
                              {"mean_backprop_depth", 8},
                              {"block_class_name", "SandwichBlock"},
                              {"mlp_class_name", "GatedMLP"},
                              {"norm_class_name", "RMSNorm_llama"},
                              {"qk_bias", true},
                              {"tie_embeddings", true},
                              {"bias", false}};
  const Import read = test::import(huginn);
  CHECK(read.architecture.hidden == 5280);
  CHECK(read.architecture.tied);
  CHECK(read.architecture.norm_layout == arch::NormLayout::sandwich);
  CHECK(read.architecture.segments[1].visits == arch::Visits{32, 8});
  CHECK(read.architecture.segments[1].attention.heads == 55);
  CHECK(read.left_out == std::vector<std::string>{"bias on queries and keys (qk_bias)"});
  CHECK(read.warnings == std::vector<std::string>{});
  CHECK(model(with(huginn, "mean_recurrence", 7.5)).segments[1].visits.forward ==
        test::ratio("15/2"));
  CHECK(model(with(huginn, "mean_backprop_depth", 64)).segments[1].visits == arch::Visits{32, 32});
  CHECK(model(with(huginn, "injection_type", "add")).segments[1].injection == arch::Injection::add);
  CHECK(model(without(huginn, "block_class_name")).norm_layout == arch::NormLayout::sandwich);
  CHECK(!model(with(huginn, "mlp_class_name", "BaseMLP")).segments[0].ffn.gated);
  CHECK(model(with(huginn, "padded_vocab_size", 65600)).vocab == 65600);
  CHECK(complaint(with(huginn, "injection_type", "ffn")) ==
        "config.json: injection_type: 'ffn' is not understood\n"
        "  hint: linear, diagonal, add or none");
  CHECK(complaint(with(huginn, "n_layers", 9)) ==
        "config.json: n_layers: is 9, but prelude, recurrent block and coda have 8 layers");
  CHECK(complaint(without(huginn, "mean_recurrence")) ==
        "config.json: key 'mean_recurrence' is missing or null\n"
        "  hint: no dimension is ever assumed");
}

TEST_CASE("HRM-Text: two stacks in nested cycles") {
  const auto hrm = model(config("hrm-text-1b"));
  REQUIRE(hrm.segments.size() == 2);
  CHECK(hrm.segments[0].name == "low");
  CHECK(hrm.segments[0].layers == 16);
  CHECK(hrm.segments[0].visits == arch::Visits{6, 2});  // one trained low cycle in each high cycle
  CHECK(hrm.segments[1].name == "high");
  CHECK(hrm.segments[1].visits == arch::Visits{2, 2});
  CHECK(hrm.segments[0].injection == arch::Injection::add);
  CHECK(hrm.schedule ==
        std::vector<std::string>{"low", "low", "low", "high", "low", "low", "low", "high"});
  CHECK(hrm.norm == arch::NormKind::unweighted);
  CHECK(hrm.segments[0].attention.output_gate);
  CHECK(hrm.segments[0].attention.kv_heads == 12);
  CHECK(hrm.state_vectors == 1);
  CHECK(arch::effective_depth(hrm) == Ratio(128));
}

TEST_CASE("HRM-Text: trained low cycles are listed by high cycle, padded on the left") {
  auto value = with(config("hrm-text-1b"), "H_cycles", 4);
  CHECK(model(value).segments[0].visits.backward == Ratio(1 + 1 + 2 + 1));
  value["L_bp_cycles"] = {3, 2};
  CHECK(model(value).segments[0].visits.backward == Ratio(1 + 3 + 2 + 1));
  value["L_bp_cycles"] = {9, 9, 9, 9};
  CHECK(model(value).segments[0].visits.backward == Ratio(12));
}

TEST_CASE("HRM-Text: layers of a stack, before and after the class has rewritten them") {
  auto value = without(config("hrm-text-1b"), "num_layers_per_stack");
  CHECK(complaint(value) ==
        "config.json: key 'num_layers_per_stack' is missing or null\n"
        "  hint: no dimension is ever assumed");
  value["num_hidden_layers"] = 16;
  CHECK(model(value) == model(config("hrm-text-1b")));
  CHECK(model(with(config("hrm-text-1b"), "num_hidden_layers", 128)) ==
        model(config("hrm-text-1b")));
  CHECK(complaint(with(config("hrm-text-1b"), "H_cycles", 1000000)) ==
        "config.json: H_cycles: more than 10000 runs of a stack are refused");
}

}  // namespace isoloop::formats
