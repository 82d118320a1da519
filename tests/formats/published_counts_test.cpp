// Every model of data/models against its published figures: parameters in all and by part, active
// parameters, KV cache, and what the stored count holds beyond the model.
//
// The figures come from the hub (see "source" in each file), not from the code under test.
#include <doctest/doctest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "base/json_reader.h"
#include "isoloop/cost.h"
#include "isoloop/formats.h"

namespace isoloop::formats {
namespace {

using convention::Part;
using Row = cost::Row<Ratio>;
using Parts = std::map<std::string, Ratio>;

struct Published {
  std::string path;
  json::Value file;
  Import import;
  cost::Count count;
};

std::vector<Published> published() {
  std::vector<Published> all;
  for (const DataFile& data : data_files()) {
    if (!data.path.starts_with("models/")) continue;
    Published model{std::string(data.path),
                    json::parse(data.text, data.path),
                    read(data.text, data.path, "unnamed"),
                    {}};
    model.count = cost::count(model.import.architecture, cost::Options{});
    all.push_back(std::move(model));
  }
  return all;
}

/// The name under which the published parts list a row.
std::string part_name(const Row& row) {
  switch (row.part) {
    case Part::embedding:
      return "embed";
    case Part::head:
      return "lm_head";
    case Part::attention:
    case Part::attention_bias:
      return "attention";
    case Part::mla_norm:
      return "mla_inner_norms";
    case Part::dense_ffn:
      return "mlp";
    case Part::router:
    case Part::router_bias:
      return "router";
    case Part::experts:
    case Part::expert_bias:
      return "routed_experts";
    case Part::norm:
    case Part::final_norm:
      return "norms";
    case Part::injection:
      return "adapter";
    case Part::exit_gate:
      return "early_exit_gate";
    default:
      return std::string(name(row.part));
  }
}

/// Models whose published parts are cut another way.
std::string jetmoe_part(const Row& row) {
  if (row.part == Part::attention && row.name.find("(experts)") != std::string::npos)
    return "moa_experts";
  if (row.part == Part::attention || row.part == Part::attention_bias ||
      row.name == "attention router")
    return "moa_bias_router_kv";
  if (row.part == Part::experts) return "ffn_experts";
  if (row.part == Part::router || row.part == Part::router_bias) return "ffn_bias_router";
  return part_name(row);
}
std::string hrm_part(const Row& row) {
  if (row.segment == "high") return "H_stack";
  if (row.segment == "low") return "L_stack";
  return row.part == Part::state ? "z_L_init" : part_name(row);
}
std::string recurrent_llama_part(const Row& row) {
  if (row.part == Part::final_norm) return "final_norm";
  const bool block = !row.segment.empty() && row.part != Part::injection;
  return block ? "blocks" : part_name(row);
}

std::string part_name(const Row& row, const std::string& family, const json::Value& parts) {
  if (family == "jetmoe") return jetmoe_part(row);
  if (family == "hrm_text") return hrm_part(row);
  if (family == "huginn_raven") return recurrent_llama_part(row);
  const bool beside_experts = row.part == Part::dense_ffn && parts.contains("dense_mlp");
  return beside_experts ? "dense_mlp" : part_name(row);
}

Ratio stored(const Row& row) {
  return row.params * row.layers * (row.stored_per_visit ? row.visits : Ratio(1));
}

Int whole(const json::Value& value) { return value.get<std::int64_t>(); }

}  // namespace

TEST_CASE("65 models: parameters by part") {
  const auto models = published();
  CHECK(models.size() == 65);
  for (const Published& model : models) {
    CAPTURE(model.path);
    const json::Value& figures = model.file["published"];
    Parts expected, counted;
    for (const auto& part : figures["parts"].items()) expected[part.key()] = whole(part.value());
    for (const Row& row : model.count.rows) {
      if (!row.mtp && stored(row) != Ratio(0))
        counted[part_name(row, model.import.family, figures["parts"])] += stored(row);
    }
    REQUIRE(counted.size() == expected.size());
    for (const auto& part : expected) {
      CAPTURE(part.first);
      CHECK(counted[part.first].str() == part.second.str());
    }
  }
}

TEST_CASE("65 models: totals, active parameters, KV cache") {
  for (const Published& model : published()) {
    CAPTURE(model.path);
    const json::Value& figures = model.file["published"];
    const cost::Count& count = model.count;
    CHECK(count.params_total.value().str() == whole(figures["logical_params"]).str());
    CHECK(count.active.value().str() == whole(figures["active_params"]).str());
    CHECK(count.active_without_input_embedding.value().str() ==
          whole(figures["active_params_without_input_embedding"]).str());
    CHECK(count.kv_bytes_per_token.value().str() ==
          whole(figures["kv_bytes_per_token_bf16"]).str());
    CHECK(count.kv_bytes_per_token_long.value().str() ==
          whole(figures["kv_bytes_per_token_bf16_long_context"]).str());
  }
}

TEST_CASE("65 models: the stored count is the model plus named extras") {
  for (const Published& model : published()) {
    CAPTURE(model.path);
    const json::Value& figures = model.file["published"];
    const bool exact = model.file["confidence"] == "exact";
    CHECK(figures["stored_params"].is_null() == !exact);
    if (!exact) continue;
    Int sum = whole(figures["logical_params"]);
    for (const auto& extra : model.file["stored_extras"].items()) sum += whole(extra.value());
    CHECK(sum.str() == whole(figures["stored_params"]).str());
  }
}

TEST_CASE("65 models: stored MTP layers are counted apart, to the last parameter") {
  int with_mtp = 0;
  for (const Published& model : published()) {
    CAPTURE(model.path);
    const json::Value& extras = model.file["stored_extras"];
    if (!extras.contains("mtp_layer")) continue;
    ++with_mtp;
    const Int expected = whole(extras["mtp_layer"]) + whole(extras["mtp_eh_proj_and_3_norms"]);
    CHECK(model.count.mtp.value().str() == expected.str());
  }
  CHECK(with_mtp == 5);
}

TEST_CASE("65 models: nothing in their configs is unknown, and each says where it comes from") {
  for (const Published& model : published()) {
    CAPTURE(model.path);
    CHECK(model.import.warnings == std::vector<std::string>{});
    CHECK(model.import.format == "hf");
    CHECK(model.import.architecture.name == model.file["name"].get<std::string>());
    CHECK(model.file["source"].get<std::string>().size() > 20);
  }
}

}  // namespace isoloop::formats
