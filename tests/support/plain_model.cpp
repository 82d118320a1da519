// Builds architectures from plain layers; no formula lives here.
#include "support/plain_model.h"

namespace isoloop::test {
namespace {

std::int64_t n(Int value) { return value.to_int64(); }

arch::Attention attention_of(const PlainModel& model, const PlainLayer& layer) {
  arch::Attention a;
  a.heads = n(layer.H);
  if (layer.kr > 0) {
    a.kind = arch::AttentionKind::mla;
    a.q_rank = n(layer.qr);
    a.kv_rank = n(layer.kr);
    a.nope_size = n(layer.nope);
    a.rope_size = n(layer.rope);
    a.value_size = n(layer.value);
  } else {
    a.kv_heads = n(layer.K);
    a.head_size = n(layer.d);
  }
  a.qkv_bias = model.qkv_bias;
  a.output_bias = model.output_bias;
  a.sinks = model.sinks;
  if (model.head_norms) a.qk_norm = arch::QkNorm::per_head;
  if (layer.window > 0) a.windows = {layer.window};
  return a;
}

arch::Ffn ffn_of(const PlainModel& model, const PlainLayer& layer) {
  arch::Ffn ffn;
  ffn.gated = model.c == 3;
  ffn.bias = model.ffn_bias;
  if (layer.E == 0) {
    ffn.size = n(layer.g);
    return ffn;
  }
  ffn.moe = true;
  ffn.experts = n(layer.E);
  ffn.top_k = n(layer.k);
  ffn.expert_size = n(layer.f);
  ffn.shared_size = n(layer.shared);
  ffn.router_bias = model.router_bias;
  return ffn;
}

PlainLayer moe_layer() {
  PlainLayer layer;
  layer.H = 6;
  layer.K = 2;
  layer.d = 16;
  layer.E = 12;
  layer.k = 3;
  layer.f = 40;
  layer.shared = 56;
  return layer;
}

}  // namespace

arch::Architecture architecture_of(const PlainModel& model) {
  arch::Architecture result;
  result.name = "plain";
  result.hidden = n(model.h);
  result.vocab = n(model.V);
  result.tied = model.tied;
  result.context = model.S;
  result.mtp_layers = n(model.m);
  if (model.layer_norms) result.norm = arch::NormKind::layer;
  for (const PlainLayer& layer : model.layers) {
    arch::Segment segment;
    segment.name = "layer" + std::to_string(result.segments.size());
    segment.layers = 1;
    segment.visits = {Ratio(layer.visits), Ratio(layer.visits)};
    segment.attention = attention_of(model, layer);
    segment.ffn = ffn_of(model, layer);
    result.segments.push_back(std::move(segment));
  }
  arch::validate(result);
  return result;
}

PlainModel dense_model() {
  PlainModel model;
  model.h = 64;
  model.V = 1001;
  model.S = 100;
  PlainLayer layer;
  layer.H = 4;
  layer.K = 2;
  layer.d = 24;
  layer.g = 160;
  model.layers = {layer, layer, layer};
  return model;
}

PlainModel moe_model() {
  PlainModel model;
  model.h = 96;
  model.V = 770;
  model.S = 128;
  model.tied = true;
  model.layers.assign(4, moe_layer());
  return model;
}

PlainModel looped_model() {
  PlainModel model = moe_model();
  model.layers[1].visits = model.layers[2].visits = 3;
  return model;
}

PlainModel mla_model() {
  PlainModel model;
  model.h = 80;
  model.V = 513;
  model.S = 64;
  model.m = 1;
  PlainLayer layer;
  layer.H = 5;
  layer.qr = 24;
  layer.kr = 16;
  layer.nope = 12;
  layer.rope = 6;
  layer.value = 10;
  PlainLayer moe = layer;
  layer.g = 200;
  moe.E = 16;
  moe.k = 4;
  moe.f = 30;
  moe.shared = 60;
  model.layers = {layer, moe, moe};
  return model;
}

PlainModel windowed_model() {
  PlainModel model = dense_model();
  model.layers[0].window = 16;
  model.layers[1].window = 40;
  return model;
}

PlainModel decorated_model() {
  PlainModel model = moe_model();
  model.c = 2;
  model.qkv_bias = model.output_bias = model.sinks = model.head_norms = true;
  model.ffn_bias = model.router_bias = model.layer_norms = true;
  PlainLayer dense = moe_layer();
  dense.E = dense.k = dense.f = dense.shared = 0;
  dense.g = 72;
  dense.visits = 2;
  model.layers[0] = dense;
  return model;
}

}  // namespace isoloop::test
