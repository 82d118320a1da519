// Measured GEMMs and attention passes as points of the time model.
//
// A row is left out where it is not a kernel the planner proposes or its device is not known; the
// reason is kept. Shared by scripts/fit_gpu.cpp and tests/gpu/accuracy_test.cpp. Origin of the
// rows: tests/gpu/data/ORIGIN.md.
#pragma once

#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "gpu/fit.h"
#include "support/csv.h"

namespace isoloop::test {

struct Points {
  std::vector<gpu::Point> used;
  std::vector<std::pair<std::string, std::string>> left_out;  // row, reason
};

/// Devices of the measurements that are not among the built-in ones.
inline const gpu::Device& a5000() {
  static const gpu::Device device = [] {
    std::ifstream in(std::string(ISOLOOP_SOURCE_DIR) + "/tests/gpu/data/rtx-a5000.json");
    std::stringstream text;
    text << in.rdbuf();
    return gpu::device_from_json(text.str(), "rtx-a5000.json");
  }();
  return device;
}

inline const gpu::Device* device_of(std::string name) {
  static const std::map<std::string, std::string> ids = {{"H800-SXM", "h100-sxm5"},
                                                         {"H100", "h100-sxm5"},
                                                         {"H100-SXM5", "h100-sxm5"},
                                                         {"H200", "h200-sxm"},
                                                         {"H200-SXM", "h200-sxm"},
                                                         {"GH200", "gh200"},
                                                         {"A100", "a100-sxm4-80gb"},
                                                         {"A100-SXM4-80GB", "a100-sxm4-80gb"},
                                                         {"A100-PCIe", "a100-pcie-80gb"},
                                                         {"B200", "b200"},
                                                         {"B200-SXM", "b200"},
                                                         {"B300", "b300"},
                                                         {"B300-SXM", "b300"},
                                                         {"GB200", "gb200"},
                                                         {"RTX 4090", "rtx4090"},
                                                         {"RTX 3090", "rtx3090"},
                                                         {"RTX 5090", "rtx5090"}};
  if (!name.empty() && name.back() == '?') name.pop_back();
  if (name == "RTX A5000") return &a5000();
  const auto at = ids.find(name);
  return at == ids.end() ? nullptr : &gpu::find_device(at->second, "");
}

inline gpu::Precision precision_of(const std::string& text) {
  if (text.starts_with("nvfp4")) return gpu::Precision::fp4;
  if (text.starts_with("bf16")) return gpu::Precision::bf16;
  if (text.starts_with("fp16")) return gpu::Precision::fp16;
  return gpu::parse_precision(text, "dtype");
}

inline std::string label_of(const CsvRow& row) {
  std::string label;
  for (const char* key : {"kind", "direction", "gpu", "dtype", "m", "n", "k", "groups_or_batch",
                          "head_dim", "causal", "seqlen", "impl"})
    if (row.contains(key)) label += (label.empty() ? "" : " ") + row.at(key);
  return label;
}

inline gpu::Point gemm_point(const CsvRow& row, const gpu::Device* device) {
  gpu::Point point;
  point.device = device;
  point.us = std::stod(row.at("us"));
  gpu::GemmProblem p;
  p.m = std::stoll(row.at("m"));
  p.n = std::stoll(row.at("n"));
  p.k = std::stoll(row.at("k"));
  p.groups = std::stoll(row.at("groups_or_batch"));
  p.precision = precision_of(row.at("dtype"));
  const std::string& kind = row.at("kind");
  if (kind == "grouped_contiguous") p.backend = gpu::GroupBackend::padded;
  if (kind == "grouped_contiguous" && row.at("impl").starts_with("torch"))
    p.backend = gpu::GroupBackend::quantised;
  if (kind == "grouped_masked") p.backend = gpu::GroupBackend::masked;
  if (kind == "grouped_wgrad_kgrouped") p.rows_are_k = true;
  if (p.rows_are_k) p.output_bytes = 4;
  point.gemm = p;
  return point;
}

inline gpu::Point attention_point(const CsvRow& row, const gpu::Device* device) {
  gpu::Point point;
  point.device = device;
  gpu::AttentionProblem p;
  p.sequences = std::stoll(row.at("batch"));
  p.heads = p.kv_heads = std::stoll(row.at("heads"));
  p.queries = p.keys = std::stoll(row.at("seqlen"));
  p.head_size = p.value_size = std::stoll(row.at("head_dim"));
  p.causal = row.at("causal") == "1";  // -1: not stated, the larger of two charts
  p.precision = precision_of(row.at("dtype"));
  const std::string& direction = row.at("direction");
  if (direction != "bwd") point.attention.push_back(p);
  p.backward = true;
  if (direction != "fwd") point.attention.push_back(p);
  // FLOPs as the charts count them: 4 B H S^2 d forward, halved if causal, backward 2.5 times.
  const double s = static_cast<double>(p.queries);
  const double forward =
      4.0 * static_cast<double>(p.sequences * p.heads * p.head_size) * s * s * (p.causal ? 0.5 : 1);
  const double passes = direction == "fwd" ? 1 : direction == "bwd" ? 2.5 : 3.5;
  point.us = forward * passes / (std::stod(row.at("tflops")) * 1e6);
  const std::string& impl = row.at("impl");
  point.kernel = impl.find("-4") != impl.npos   ? gpu::AttentionKernel::flash4
                 : impl.find("-2") != impl.npos ? gpu::AttentionKernel::flash2
                                                : gpu::AttentionKernel::flash3;
  return point;
}

inline std::string reason_to_leave_out(const CsvRow& row) {
  const std::string& impl = row.at("impl");
  if (impl.find("Triton") != impl.npos) return "Triton kernel: not one the planner proposes";
  if (impl == "PyTorch standard") return "unfused attention: not planned";
  if (row.contains("batch") && row.at("batch").empty()) return "batch and heads not stated";
  if (!device_of(row.at("gpu"))) return "device not known";
  if (row.contains("k") && row.at("k") == "100000")
    return "transposed operand with a leading dimension of 2 to 17";
  return {};
}

inline Points measured_points() {
  Points points;
  for (const char* file : {"gpu/data/measured_gemm.csv", "gpu/data/measured_attention.csv"})
    for (const CsvRow& row : csv(file)) {
      const std::string reason = reason_to_leave_out(row);
      if (!reason.empty()) {
        points.left_out.emplace_back(label_of(row), reason);
        continue;
      }
      const gpu::Device* device = device_of(row.at("gpu"));
      points.used.push_back(row.contains("k") ? gemm_point(row, device)
                                              : attention_point(row, device));
      points.used.back().label = label_of(row);
      points.used.back().source = row.at("source");
    }
  return points;
}

}  // namespace isoloop::test
