// Reading, writing and looking up the constants of the time model.
//
// Held by tests/gpu/accuracy_test.cpp: what is read back is what was fitted.
#include "gpu/efficiency.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/json_reader.h"
#include "base/json_writer.h"

namespace isoloop::gpu {
namespace {

constexpr std::string_view schema = "isoloop/gpu-efficiency/v1";
constexpr std::array<std::string_view, width_count> width_names = {"32 bit", "16 bit", "8 bit",
                                                                   "4 bit"};
constexpr json::Range point_range{0, 1'000'000};
using nlohmann::ordered_json;

constexpr std::array<Width, 2> attention_widths = {Width::bits16, Width::bits8};
constexpr std::array<std::string_view, 2> directions = {"forward", "backward"};

double rounded(double value) { return std::round(value * 1e4) / 1e4; }

Range read_range(json::Fields f) {
  const Range range{f.number("low"), f.number("high")};
  f.finish();
  return range;
}

ordered_json write_range(const Range& range) {
  return {{"low", rounded(range.low)}, {"high", rounded(range.high)}};
}

int points(json::Fields& f) { return static_cast<int>(f.integer("points", point_range)); }

GenerationRates read_generation(json::Fields f) {
  GenerationRates g;
  g.name = f.text("generation");
  json::Fields memory = f.object("memory");
  g.memory = {memory.number("launch_us"), memory.number("share"), points(memory)};
  json::Fields gemm = f.object("gemm");
  for (std::size_t w = 0; w < width_count; ++w) {
    json::Fields rate = gemm.object(width_names[w]);
    g.gemm[w] = {rate.number("share"), rate.number("fill"), points(rate)};
  }
  json::Fields attention = f.object("attention");
  for (std::size_t k = 0; k < attention_kernel_count; ++k) {
    json::Fields kernel = attention.object(name(static_cast<AttentionKernel>(k)));
    for (std::size_t d = 0; d < 2; ++d)
      for (std::size_t w = 0; w < 2; ++w) {
        json::Fields rate = kernel.object(std::string(directions[d]) + ", " +
                                          std::string(name(attention_widths[w])));
        g.attention[k][d][w] = {rate.number("share"), rate.number("softmax_clocks"),
                                rate.number("fill"), points(rate)};
      }
  }
  return g;
}

ordered_json write_generation(const GenerationRates& g) {
  ordered_json o;
  o["generation"] = g.name;
  o["memory"] = {{"launch_us", rounded(g.memory.launch_us)},
                 {"share", rounded(g.memory.share)},
                 {"points", g.memory.points}};
  for (std::size_t w = 0; w < width_count; ++w)
    o["gemm"][std::string(width_names[w])] = {{"share", rounded(g.gemm[w].share)},
                                              {"fill", rounded(g.gemm[w].fill)},
                                              {"points", g.gemm[w].points}};
  for (std::size_t k = 0; k < attention_kernel_count; ++k)
    for (std::size_t d = 0; d < 2; ++d)
      for (std::size_t w = 0; w < 2; ++w) {
        const AttentionRate& rate = g.attention[k][d][w];
        const std::string key =
            std::string(directions[d]) + ", " + std::string(name(attention_widths[w]));
        o["attention"][std::string(name(static_cast<AttentionKernel>(k)))][key] = {
            {"share", rounded(rate.share)},
            {"softmax_clocks", rounded(rate.softmax_clocks)},
            {"fill", rounded(rate.fill)},
            {"points", rate.points}};
      }
  return o;
}

}  // namespace

std::string_view name(Width width) { return width_names[static_cast<std::size_t>(width)]; }

Width width_of(Precision precision) {
  switch (precision) {
    case Precision::fp32:
    case Precision::tf32:
      return Width::bits32;
    case Precision::bf16:
    case Precision::fp16:
      return Width::bits16;
    case Precision::fp4:
      return Width::bits4;
    default:
      return Width::bits8;
  }
}

std::string generation_of(const Limits& limits) {
  return limits.compute_capability == "10.3" ? "10.0" : limits.compute_capability;
}

const GenerationRates& rates_of(const Efficiency& efficiency, const Limits& limits) {
  const std::string name = generation_of(limits);
  for (const GenerationRates& g : efficiency.generations)
    if (g.name == name) return g;
  throw internal_error("no efficiency constants for compute capability " + name);
}

Efficiency prior_efficiency() {
  GenerationRates g;
  g.gemm = {GemmRate{0.75, 3}, GemmRate{0.80, 3}, GemmRate{0.75, 4}, GemmRate{0.60, 4}};
  g.memory = {4.0, 0.82};
  const AttentionRate two{0.75, 0.04, 1}, two_back{0.75, 0.12, 1};
  const AttentionRate three{0.90, 0.055, 1}, three_back{0.70, 0.10, 1};
  const AttentionRate four{0.95, 0.021, 1}, four_back{0.75, 0.05, 1};
  g.attention[0] = {{{two, two}, {two_back, two_back}}};
  g.attention[1] = {{{three, AttentionRate{0.70, 0.03, 1}}, {three_back, three_back}}};
  g.attention[2] = {{{four, four}, {four_back, four_back}}};
  Efficiency e;
  for (const Limits& limits : capabilities()) {
    g.name = generation_of(limits);
    if (e.generations.empty() || e.generations.back().name != g.name) e.generations.push_back(g);
  }
  e.misaligned = 0.7;  // align-1 against align-8 kernels, pytorch#181718
  e.narrow_warp = 0.3;
  e.small_tile = 0.08;  // assumed; the order of tiles is that of NVIDIA's matrix multiply guide
  e.grouped = 0.95;
  e.l2_bytes_per_clock_per_sm = 64;   // DeepGEMM's cost model
  e.l2_bytes_per_clock = 8e6 / 1300;  // the same
  e.elementwise_share = 0.75;         // assumed
  e.link_share = 0.75;                // assumed
  e.link_latency_us = 10;             // assumed
  e.ranges = {{0.75, 1.35}, {0.75, 1.35}, {0.75, 1.35}, {0.75, 1.5}, {0.6, 1.6}, 1.3};
  return e;
}

Efficiency efficiency_from_json(std::string_view text, std::string_view file) {
  const json::Value document = json::parse(text, file);
  json::Fields f(document, std::string(file));
  Efficiency e;
  for (const json::Fields& entry : f.optional_objects("generations"))
    e.generations.push_back(read_generation(entry));
  e.misaligned = f.number("misaligned");
  e.narrow_warp = f.number("narrow_warp");
  e.small_tile = f.number("small_tile");
  e.grouped = f.number("grouped");
  e.l2_bytes_per_clock_per_sm = f.number("l2_bytes_per_clock_per_sm");
  e.l2_bytes_per_clock = f.number("l2_bytes_per_clock");
  e.elementwise_share = f.number("elementwise_share");
  e.link_share = f.number("link_share");
  e.link_latency_us = f.number("link_latency_us");
  json::Fields ranges = f.object("ranges");
  e.ranges = {read_range(ranges.object("compute")),   read_range(ranges.object("memory")),
              read_range(ranges.object("attention")), read_range(ranges.object("elementwise")),
              read_range(ranges.object("link")),      ranges.number("unmeasured")};
  return e;
}

std::string to_json(const Efficiency& e) {
  ordered_json o;
  o["schema"] = schema;
  o["source"] =
      "fitted by scripts/fit_gpu on tests/gpu/data/measured_gemm.csv and measured_attention.csv "
      "(their column source names each measurement); points 0: no measurement, the prior of "
      "src/gpu/efficiency.cpp";
  o["meaning"] =
      "share: sustained over peak rate in the main loop, or sustained over peak bandwidth; fill: "
      "prologue and epilogue of a tile in steps of 128 bytes of k, or of a query tile in key "
      "blocks; softmax_clocks: per score and SM beside the products; ranges: true over predicted "
      "time";
  for (const GenerationRates& g : e.generations) o["generations"].push_back(write_generation(g));
  o["misaligned"] = rounded(e.misaligned);
  o["narrow_warp"] = rounded(e.narrow_warp);
  o["small_tile"] = rounded(e.small_tile);
  o["grouped"] = rounded(e.grouped);
  o["l2_bytes_per_clock_per_sm"] = rounded(e.l2_bytes_per_clock_per_sm);
  o["l2_bytes_per_clock"] = rounded(e.l2_bytes_per_clock);
  o["elementwise_share"] = rounded(e.elementwise_share);
  o["link_share"] = rounded(e.link_share);
  o["link_latency_us"] = rounded(e.link_latency_us);
  o["ranges"] = {{"compute", write_range(e.ranges.compute)},
                 {"memory", write_range(e.ranges.memory)},
                 {"attention", write_range(e.ranges.attention)},
                 {"elementwise", write_range(e.ranges.elementwise)},
                 {"link", write_range(e.ranges.link)},
                 {"unmeasured", rounded(e.ranges.unmeasured)}};
  return json::pretty(o);
}

const Efficiency& efficiency() {
  static const Efficiency constants =
      efficiency_from_json(data_file("gpus/efficiency.json"), "data/gpus/efficiency.json");
  return constants;
}

}  // namespace isoloop::gpu
