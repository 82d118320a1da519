// The torchtitan writer: a Python module with a model registry function.
//
// Source: torchtitan 0.3.0, models/common/config_utils.py, models/common/decoder.py and
// models/qwen3/__init__.py: its Qwen3 block takes dense and MoE layers in any order, with the norm of
// q and k or without. The module lists runs of equal layers as data and builds one block config per
// layer. A loop brings two small classes: a block with scaled residual writes, and a decoder that runs
// its layers in a given order. Held by tests/formats/trainers_write_test.cpp and, against the real
// package, by tests/prove/test_torchtitan.py.
#include <fmt/format.h>

#include "formats/targets.h"
#include "formats/templates.h"

namespace isoloop::formats {
namespace {

std::string_view python(bool value) { return value ? "True" : "False"; }

/// One run of equal layers as a call.
std::string run_text(const arch::Segment& layer, std::size_t count, bool looped) {
  const arch::Attention& a = layer.attention;
  const arch::Ffn& f = layer.ffn;
  std::string text =
      fmt::format("    dict(layers={}, heads={}, kv_heads={}, head_size={}, qk_norm={}", count,
                  a.heads, a.kv_heads, a.head_size, python(a.qk_norm == arch::QkNorm::per_head));
  if (looped) text += fmt::format(", scale={}", layer.residual_scale.value_or(Ratio(1)).str());
  if (!f.moe) return text + fmt::format(", ffn={}),\n", f.size);
  return text + fmt::format(
                    ",\n         experts={}, top_k={}, expert_size={}, shared_size={}, "
                    "router_bias={}, selection_bias={}),\n",
                    f.experts, f.top_k, f.expert_size, f.shared_size, python(f.router_bias),
                    python(f.selection_bias));
}

std::string runs_text(const std::vector<arch::Segment>& layers, bool looped) {
  std::string text;
  for (std::size_t first = 0; first < layers.size();) {
    std::size_t end = first + 1;
    while (end < layers.size() && layers[end] == layers[first]) ++end;
    text += run_text(layers[first], end - first, looped);
    first = end;
  }
  return text;
}

/// "ORDER = [...]": every executed layer, by its place in the stack from 0, a dozen a line.
std::string order_text(const arch::Architecture& model) {
  std::vector<std::int64_t> first;
  std::int64_t layers = 0;
  for (const arch::Segment& s : model.segments) {
    first.push_back(layers);
    layers += s.layers;
  }
  std::string text = "ORDER = [  # the layers as they are executed, counted from 0";
  std::size_t column = 0;
  for (const arch::Step& step : arch::execution(model))
    text += fmt::format("{}{},", column++ % 20 == 0 ? "\n    " : " ", first[step.segment] + step.layer);
  return text + "\n]\n";
}

/// A Python identifier for the module's file.
std::string identifier(std::string_view name) {
  std::string result = slug(name);
  for (char& c : result)
    if (c == '-' || c == '.') c = '_';
  return "isoloop_" + result;
}

}  // namespace

Emitted emit_torchtitan(const arch::Architecture& model, const Target& target,
                        const Sharding& sharding) {
  for (const arch::Segment& s : model.segments)
    if (s.attention.head_size % 2 != 0)
      throw cannot(target, s.name, "an odd head size", "its rotary positions turn pairs");
  refuse_sampled_visits(model, target);
  const bool looped = needs_looped_layers(model);
  const std::string file = identifier(model.name);
  Emitted result;
  result.files[file + ".py"] =
      filled("torchtitan/model.py",
             {{"name", slug(model.name)},
              {"file", file},
              {"hidden", fmt::to_string(model.hidden)},
              {"vocab", fmt::to_string(model.vocab)},
              {"context", fmt::to_string(model.context)},
              {"tied", std::string(python(model.tied))},
              {"runs", runs_text(layers_of(model), looped)},
              {"order", looped ? order_text(model) : ""},
              {"dataclass", looped ? "from dataclasses import dataclass\n" : ""},
              {"classes", looped ? filled("torchtitan/looped.py", {}) : ""},
              {"block", looped ? "ScaledBlock.Config" : "Qwen3TransformerBlock.Config"},
              {"scale", looped ? ", scale=run[\"scale\"]" : ""},
              {"model", looped ? "LoopedModel.Config" : "Qwen3Model.Config"},
              {"order_argument", looped ? ", order=ORDER" : ""}});
  result.train = fmt::format(
      "env MODULE=qwen3 CONFIG=your_config ./run_train.sh --parallelism.tensor_parallel_degree {} "
      "--parallelism.expert_parallel_degree {} --parallelism.pipeline_parallel_degree {}",
      sharding.tp, sharding.ep, sharding.pp);
  result.notes.push_back(
      fmt::format("Copy {}.py into torchtitan/models/qwen3/ and register it there; a "
                  "Trainer.Config of your own "
                  "in config_registry.py then names the flavour \"{}\".",
                  file, slug(model.name)));
  if (looped)
    result.notes.push_back(
        "The file brings a block and a decoder of its own for the loop. torchtitan's own FLOPs count "
        "every stored layer once, so the MFU it prints is too low.");
  return result;
}

}  // namespace isoloop::formats
