// data/schemas/arch.schema.json says what the reader does: the same fields, the same words.
//
// Source: src/arch/names.h, which reader and writer use; the schema is the published contract.
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "arch/examples.h"
#include "arch/names.h"

namespace isoloop::arch {
namespace {

using Json = nlohmann::json;

Json schema() {
  std::ifstream file(ISOLOOP_SOURCE_DIR "/data/schemas/arch.schema.json");
  REQUIRE(file);
  return Json::parse(file);
}

template <std::size_t N>
void check_fields(const Json& object, const std::array<std::string_view, N>& fields) {
  std::set<std::string> in_schema;
  for (const auto& item : object.at("properties").items()) in_schema.insert(item.key());
  CHECK(in_schema == std::set<std::string>(fields.begin(), fields.end()));
  CHECK(object.at("additionalProperties") == false);
  for (const auto& required : object.at("required")) {
    CHECK(in_schema.contains(required.get<std::string>()));
  }
}

template <class E, std::size_t N>
void check_words(const Json& object, const char* field, const std::array<Name<E>, N>& table) {
  Json words = Json::array();
  for (const Name<E>& row : table) words.push_back(row.text);
  CHECK(object.at("properties").at(field).at("enum") == words);
}

// True if the reader complains about the value of this field and not that it is unknown.
bool reads(const Json& document, const std::string& place) {
  try {
    from_json(document.dump(), "f");
  } catch (const Error& error) {
    return error.where.ends_with(place) && error.message.find("unknown") == std::string::npos;
  }
  return false;
}

Json document(const std::string& attention_kind, const std::string& ffn_kind) {
  Architecture a = test::one_segment(4);
  if (attention_kind == "mla") {
    a.segments[0].attention = {
        .kind = AttentionKind::mla, .heads = 4, .kv_rank = 8, .nope_size = 8, .value_size = 8};
  }
  if (ffn_kind == "dense") a.segments[0].ffn = {.size = 64};
  return Json::parse(to_json(a));
}

}  // namespace

TEST_CASE("the schema has the fields the reader knows") {
  const Json root = schema();
  const Json& defs = root.at("$defs");
  CHECK(root.at("properties").at("schema").at("const") == schema_name);
  check_fields(root, architecture_fields);
  check_fields(defs.at("segment"), segment_fields);
  check_fields(defs.at("visits"), visits_fields);
  check_fields(defs.at("attention"), attention_fields);
  check_fields(defs.at("ffn"), ffn_fields);
}

TEST_CASE("the schema has the words and bounds the reader knows") {
  const Json root = schema();
  const Json& defs = root.at("$defs");
  check_words(root, "norm", norm_kinds);
  check_words(root, "norm_layout", norm_layouts);
  check_words(defs.at("segment"), "order", orders);
  check_words(defs.at("segment"), "injection", injections);
  check_words(defs.at("segment"), "kv_policy", kv_policies);
  check_words(defs.at("attention"), "kind", attention_kinds);
  check_words(defs.at("attention"), "qk_norm", qk_norms);
  check_words(defs.at("ffn"), "kind", ffn_kinds);
  CHECK(defs.at("dimension").at("maximum") == max_dimension);
  CHECK(defs.at("count").at("maximum") == max_dimension);
  CHECK(defs.at("segment").at("properties").at("layers").at("maximum") == max_layers);
  CHECK(root.at("properties").at("context").at("default") == Architecture{}.context);
}

TEST_CASE("the reader looks at every field it knows") {
  for (const auto field : architecture_fields) {
    CAPTURE(field);
    Json doc = document("gqa", "moe");
    doc[std::string(field)] = nullptr;
    CHECK(reads(doc, std::string(field)));
  }
  for (const auto field : segment_fields) {
    CAPTURE(field);
    Json doc = document("gqa", "moe");
    doc["segments"][0][std::string(field)] = nullptr;
    CHECK(reads(doc, "segments[0]." + std::string(field)));
  }
  for (const auto field : visits_fields) {
    Json doc = document("gqa", "moe");
    doc["segments"][0]["visits"] = {{"forward", 2}};
    doc["segments"][0]["visits"][std::string(field)] = nullptr;
    CHECK(reads(doc, "segments[0].visits." + std::string(field)));
  }
  for (const auto field : attention_fields) {
    for (const char* kind : {"gqa", "mla"}) {
      CAPTURE(field);
      Json doc = document(kind, "moe");
      doc["segments"][0]["attention"][std::string(field)] = nullptr;
      CHECK(reads(doc, "segments[0].attention." + std::string(field)));
    }
  }
  for (const auto field : ffn_fields) {
    for (const char* kind : {"dense", "moe"}) {
      CAPTURE(field);
      Json doc = document("gqa", kind);
      doc["segments"][0]["ffn"][std::string(field)] = nullptr;
      CHECK(reads(doc, "segments[0].ffn." + std::string(field)));
    }
  }
}

TEST_CASE("the writer writes only fields of the schema, in their order") {
  const auto in_order = [](const nlohmann::ordered_json& object, const auto& fields) {
    auto at = fields.begin();
    for (const auto& item : object.items()) {
      at = std::find(at, fields.end(), item.key());
      if (at == fields.end()) return false;
    }
    return true;
  };
  test::Random random(5);
  for (int i = 0; i < 200; ++i) {
    const auto doc = nlohmann::ordered_json::parse(to_json(random.any()));
    REQUIRE(in_order(doc, architecture_fields));
    for (const auto& segment : doc.at("segments")) {
      REQUIRE(in_order(segment, segment_fields));
      REQUIRE(in_order(segment.at("attention"), attention_fields));
      REQUIRE(in_order(segment.at("ffn"), ffn_fields));
    }
  }
}

}  // namespace isoloop::arch
