// The JSON keys other tools rely on exist and keep their types: exact integers for counts, text for
// numbers that can pass 2^53, signed fractions for mismatches.
#include <doctest/doctest.h>

#include "support/json_keys.h"
#include "support/temp_folder.h"

namespace {

using namespace isoloop::test;

TEST_CASE("count") {
  const Json j = run_json({"count", "qwen3-30b-a3b", "ouro-1.4b", "--convention", "all"});
  CHECK(j.begin().key() == "schema");
  CHECK(j.at("schema") == "isoloop/count/v1");
  REQUIRE(j.at("models").size() == 2);
  for (const std::string model : {"/models/0", "/models/1"}) {
    check_strings(j, model, {"/name", "/format", "/convention"});
    check_integers(j, model + "/params",
                   {"/total", "/non_embedding", "/embedding", "/active", "/active_non_embedding"});
    check_numbers(j, model + "/flops_per_token", {"/forward", "/train"});
    check_integers(j, model + "/kv_cache", {"/elements_per_token", "/bytes_per_token", "/slots"});
    check_integers(j, model + "/memory", {"/weights_bytes", "/gradients_bytes", "/optimizer_bytes"});
    for (const Json& row : at(j, model + "/rows")) {
      check_strings(row, "", {"/name", "/part"});
      check_integers(row, "", {"/stored_params", "/visits"});
      check_numbers(row, "", {"/macs_per_token_forward"});
    }
    CHECK(at(j, model + "/flops_per_token/rows").is_array());
    CHECK(at(j, model + "/conventions").size() == 12);
    for (const Json& convention : at(j, model + "/conventions")) check_numbers(convention, "", {"/train_flops_per_token"});
  }
  CHECK(at(j, "/models/0/params/total") == 30532122624);
}

TEST_CASE("rows of count sum to its totals") {
  const Json j = run_json({"count", "deepseek-v3"});
  std::int64_t stored = 0, train = 0;
  for (const Json& row : at(j, "/models/0/rows"))
    if (!row.contains("multi_token_prediction")) stored += row.at("stored_params").get<std::int64_t>();
  for (const Json& row : at(j, "/models/0/flops_per_token/rows")) train += row.at("train").get<std::int64_t>();
  CHECK(stored == at(j, "/models/0/params/total"));
  CHECK(train == at(j, "/models/0/flops_per_token/train"));
}

void check_answer(const Json& answer) {
  CHECK(at(answer, "/arch/schema") == "isoloop/arch/v1");
  check_strings(answer, "", {"/loop"});
  check_numbers(answer, "", {"/mismatch/flops", "/mismatch/params", "/mismatch/kv", "/max_mismatch"});
  CHECK(at(answer, "/residual_by_convention").size() == 12);
}

TEST_CASE("match") {
  const Json j = run_json({"match", "smelt-200m-e192", "--top", "2"});
  CHECK(j.begin().key() == "schema");
  CHECK(at(j, "/baseline/schema") == "isoloop/arch/v1");
  check_numbers(j, "", {"/budget/flops", "/budget/params", "/budget/kv"});
  check_numbers(j, "", {"/tolerance/flops", "/tolerance/params", "/tolerance/kv"});
  check_digits(j, "/space", {"/points", "/visited", "/nodes"});
  for (const Json& pruned : at(j, "/space/pruned")) CHECK(pruned.is_string());
  CHECK(at(j, "/optimal") == true);
  REQUIRE(at(j, "/answers").size() == 2);
  for (const Json& answer : at(j, "/answers")) check_answer(answer);
}

TEST_CASE("match that finds nothing") {
  const Json j = run_json({"match", "smelt-200m-e192", "--fix", "experts=64"}, 1);
  CHECK(at(j, "/answers").empty());
  check_answer(at(j, "/nearest"));
  check_strings(j, "", {"/binding"});
  REQUIRE(!at(j, "/remedies").empty());
  for (const Json& remedy : at(j, "/remedies")) {
    check_strings(remedy, "", {"/kind", "/option"});
    check_answer(at(remedy, "/answer"));
  }
}

TEST_CASE("check") {
  const TempFolder folder;
  REQUIRE(run_cli({"match", "smelt-200m-e192", "-o", folder / "out"}).code() == 0);
  const Json j = run_json({"check", folder / "out/pairs.json"});
  CHECK(j.begin().key() == "schema");
  CHECK(at(j, "/ok") == true);
  REQUIRE(at(j, "/pairs").size() == 1);
  check_strings(j, "/pairs/0", {"/name"});
  CHECK(at(j, "/pairs/0/ok") == true);
  check_numbers(j, "/pairs/0/mismatch", {"/flops", "/params", "/kv"});
  check_numbers(j, "/pairs/0/tolerance", {"/flops", "/params", "/kv"});
}

TEST_CASE("grid") {
  const Json j = run_json({"grid", "smelt"});
  CHECK(j.begin().key() == "schema");
  REQUIRE(at(j, "/cells").size() == 16);
  for (const Json& cell : at(j, "/cells")) {
    check_strings(cell, "", {"/scale", "/sparsity"});
    CHECK(at(cell, "/baseline/schema") == "isoloop/arch/v1");
    CHECK(at(cell, "/match/schema") == "isoloop/arch/v1");
    check_strings(cell, "", {"/published/baseline/total_1e9", "/reproduced/baseline/total_1e9"});
    check_numbers(cell, "/mismatch", {"/flops", "/params", "/kv"});
    CHECK(at(cell, "/max_mismatch").get<double>() < at(cell, "/paper_max_mismatch").get<double>());
  }
}

TEST_CASE("every built-in model counts, as text and as JSON") {
  const Json models = run_json({"list", "models"}).at("models");
  CHECK(models.size() > 60);
  for (const Json& model : models) {
    const std::string name = model.at("name");
    CAPTURE(name);
    const auto text = run_cli({"count", name});
    CHECK(text.code() == 0);
    CHECK(text.out.starts_with(name + "\n"));
    const Json j = run_json({"count", name});
    CHECK(at(j, "/models/0/name") == name);
  }
}

}  // namespace
