// isoloop import: a foreign config becomes an isoloop file that counts the same.
#include <doctest/doctest.h>

#include "support/json_keys.h"
#include "support/temp_folder.h"

namespace {

using namespace isoloop::test;

const std::string config = R"({"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 4,
  "num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 128, "vocab_size": 100,
  "tie_word_embeddings": false, "max_position_embeddings": 128})";

TEST_CASE("what was imported counts as what it came from") {
  const TempFolder folder;
  const std::string from = folder.write("tiny.json", config);
  REQUIRE(run_cli({"import", from, "--output", folder / "out.json"}).code() == 0);
  const Json before = run_json({"count", from}), after = run_json({"count", folder / "out.json"});
  CHECK(at(after, "/models/0/name") == "tiny");
  CHECK(at(after, "/models/0/format") == "isoloop");
  for (const char* key : {"/models/0/params", "/models/0/flops_per_token", "/models/0/kv_cache"})
    CHECK(at(before, key) == at(after, key));
  const auto again = run_cli({"import", folder / "out.json"});
  CHECK(again.out == folder.read("out.json"));
}

TEST_CASE("a loop is put in on request") {
  const Json j = Json::parse(run_cli({"import", "-", "--loop", "1+2x3+1"}, config).out);
  CHECK(at(j, "/segments").size() == 3);
  CHECK(at(j, "/segments/1/visits") == 3);
}

TEST_CASE("what cannot be told apart is warned about by name, unless --quiet") {
  const std::string unknown = with(config, "\"vocab_size\"", "\"num_magic_experts\": 3, \"vocab_size\"");
  const auto ran = run_cli({"import", "-"}, unknown);
  CHECK(ran.code() == 0);
  CHECK(ran.err.starts_with("isoloop: warning: standard input: "));
  CHECK(ran.err.find("num_magic_experts") != ran.err.npos);
  CHECK(run_cli({"import", "-", "--quiet"}, unknown).err == "");
}

TEST_CASE("every built-in model imports and counts the same") {
  const Json listed = run_json({"list", "models"});  // a temporary would end before the loop
  for (const Json& model : listed.at("models")) {
    const std::string name = model.at("name");
    CAPTURE(name);
    const auto ran = run_cli({"import", name, "--quiet"});
    CHECK(ran.code() == 0);
    const auto counted = run_cli({"count", "-", "--format", "json"}, ran.out);
    REQUIRE(counted.code() == 0);
    CHECK(at(Json::parse(counted.out), "/models/0/params") == at(run_json({"count", name}), "/models/0/params"));
  }
}

}  // namespace
