// isoloop emit for one architecture: messages, sharding, padding, existing folders, hashes.
#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/emit_run.h"
#include "cli/sharding.h"
#include "support/run_cli.h"

using namespace isoloop;
using test::run_cli;
namespace fs = std::filesystem;

namespace {

struct Folder {
  fs::path path = fs::temp_directory_path() / ("isoloop-emit-" + std::to_string(::getpid()));
  Folder() { fs::create_directories(path); }
  ~Folder() { fs::remove_all(path); }
  std::string operator/(const char* name) const { return (path / name).string(); }
};

std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

arch::Architecture model() {
  arch::Architecture m;
  m.name = "tiny";
  m.hidden = 64;
  m.vocab = 1000;
  arch::Segment s;
  s.name = "layers";
  s.layers = 6;
  s.attention = {.heads = 8, .kv_heads = 2, .head_size = 8};
  s.ffn = {.moe = true, .experts = 12, .top_k = 2, .expert_size = 32};
  m.segments = {s};
  return m;
}

std::string refusal(const arch::Architecture& m, const formats::Sharding& sharding) {
  try {
    cli::check_sharding(m, formats::find_target("megatron", ""), sharding);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("emit: what must be said, and what was written") {
  const Folder folder;
  auto ran = run_cli({"emit", "smelt-200m-e192", "--to", "hf", "-o", folder / "a"});
  CHECK(ran.code() == 2);
  CHECK(ran.err ==
        "isoloop: vocab_size: is not stated, and a model that trains needs an embedding\n"
        "  hint: add --vocab N, or vocab_size to the file\n");
  CHECK(!fs::exists(folder / "a"));
  ran = run_cli({"emit", "smelt-200m-e192", "--to", "olmo", "--loop", "middle", "--vocab", "32000",
                 "-o", folder / "a"});
  CHECK(ran.code() == 2);
  CHECK(ran.err ==
        "isoloop: segment 'recur': olmo cannot say loop (layers that are executed more than "
        "once)\n  hint: targets that can: hf, megatron, torchtitan\n");
  ran = run_cli({"emit", "qwen3-0.6b", "--to", "hf", "--vocab", "32000", "-o", folder / "a"});
  CHECK(ran.code() == 2);
  CHECK(ran.err ==
        "isoloop: --vocab: 32000 was asked for, but the architecture states a vocabulary of 151936\n"
        "  hint: leave it out, or change vocab_size in the file\n");
  ran = run_cli({"emit", "smelt-200m-e192", "--to", "hf", "--vocab", "32000", "-o", folder / "a"});
  CHECK(ran.code() == 0);
  for (const char* file : {"a/config.json", "a/README.md", "a/run.sh", "a/run.json", "a/train.py"})
    CHECK(fs::exists(folder / file));
  CHECK(text_of(folder / "a/README.md").find("3,872,226,560") != std::string::npos);
  ran = run_cli({"emit", "smelt-200m-e192", "--to", "hf", "--vocab", "32000", "-o", folder / "a"});
  CHECK(ran.code() == 2);
  CHECK(ran.err.find("exists already") != std::string::npos);
  ran = run_cli({"emit", "smelt-200m-e192", "--to", "hf", "--vocab", "32000", "-o", folder / "a",
                 "--force", "--format", "json"});
  CHECK(ran.code() == 0);
  const auto json = nlohmann::json::parse(ran.out);
  CHECK(json["schema"] == "isoloop/emit/v1");
  CHECK(json["runs"][0]["variant"] == "mixtral");
  CHECK(json["runs"][0]["params_non_embedding"] == 3872226560);
}

TEST_CASE("emit: every directory holds the architecture, and it reads back the same") {
  const Folder folder;
  for (const char* target : {"hf", "megatron", "torchtitan"}) {
    const std::string out = folder / target;
    auto ran = run_cli({"emit", "smelt-200m-e192", "--to", target, "--loop", "middle", "--vocab",
                        "32000", "-o", out});
    CHECK(ran.code() == 0);
    const auto asked = run_cli({"import", "smelt-200m-e192", "--format", "json"});
    arch::Architecture wanted = arch::from_json(asked.out, "");
    wanted.vocab = 32000;
    wanted = arch::with_loop(wanted, arch::parse_loop("middle", arch::depth(wanted), ""));
    CHECK(arch::from_json(run_cli({"import", out, "--format", "json"}).out, "") == wanted);
  }
  const std::string layers = text_of(folder / "megatron/looped_layers.py");
  CHECK(layers.find("LOOPS = [(4, 6, 2)]  #") != std::string::npos);
  CHECK(layers.find("SCALES = [(4, 9, 1/2)]  #") != std::string::npos);
  for (const char* file : {"megatron/model.yaml", "megatron/train.sh"})
    CHECK(text_of(folder / file).find("looped_layers looped_block_spec") != std::string::npos);
  const std::string titan = text_of(folder / "torchtitan/isoloop_smelt_200m_e192.py");
  CHECK(titan.find("    0, 1, 2, 3, 4, 5, 6, 7, 8, 3, 4, 5, 6, 7, 8, 9, 10, 11,\n") !=
        std::string::npos);
}

TEST_CASE("emit: numbers are decimal, whatever they begin with") {
  const Folder folder;
  CHECK(run_cli({"emit", "smelt-200m-e192", "--to", "hf", "--vocab", "032000", "-o", folder / "a"})
            .code() == 0);
  CHECK(text_of(folder / "a/README.md").find("3,872,226,560") != std::string::npos);
  CHECK(text_of(folder / "a/run.json").find("\"vocab_size\": 32000") != std::string::npos);
  CHECK(run_cli({"emit", "smelt-200m-e192", "--to", "hf", "--vocab", "0x7d00", "-o", folder / "b"})
            .err.starts_with("isoloop: --vocab: cannot read '0x7d00' as a number\n"));
  CHECK(run_cli({"emit", "smelt-200m-e192", "--to", "hf", "--vocab", "0", "-o", folder / "b"}).err ==
        "isoloop: --vocab: '0' is not a positive number\n  hint: write e.g. --vocab 8\n");
}

TEST_CASE("emit: sizes that do not shard are refused with those that do") {
  CHECK(refusal(model(), {3, 1, 1}) ==
        "--tp: 3 tensor-parallel ranks do not divide heads 8, kv heads 2, expert size 32\n"
        "  hint: valid sizes: 1, 2, 4, 8");
  CHECK(refusal(model(), {4, 1, 1}).empty());  // two kv heads are copied
  CHECK(refusal(model(), {1, 5, 1}) ==
        "--ep: 5 expert-parallel ranks do not divide experts 12\n"
        "  hint: valid sizes: 1, 2, 3, 4, 6, 12");
  CHECK(refusal(model(), {1, 1, 4}) ==
        "--pp: 4 pipeline-parallel ranks do not divide layers 6\n  hint: valid sizes: 1, 2, 3, 6");
  CHECK(refusal(model(), {0, 1, 1}) == "--tp: 0 is not a positive size\n  hint: write e.g. --tp 2");
  arch::Architecture dense = model();
  dense.segments.front().ffn = {.size = 96};
  CHECK(refusal(dense, {1, 2, 1}) ==
        "--ep: there are no experts to spread\n  hint: valid sizes: 1");
  const arch::Architecture looped = arch::with_loop(model(), {2, 2, 2, arch::Order::block});
  CHECK(refusal(looped, {1, 1, 2}) ==
        "--pp: a loop runs through its layers again and cannot be cut into stages\n"
        "  hint: valid sizes: 1");
}

TEST_CASE("emit: padding of the vocabulary is stated with its effect") {
  const formats::Target& megatron = formats::find_target("megatron", "");
  CHECK(cli::padding_text(model(), megatron, {2, 1, 1}) ==
        "Megatron-LM pads the vocabulary from 1,000 to 1,024, a multiple of 256 (128 x TP 2): "
        "3,072 parameters more (24 x 64 x 2), and 9,216 training FLOPs per token more in the "
        "head.");
  CHECK(cli::padding_text(model(), formats::find_target("hf", ""), {2, 1, 1}).empty());
}

TEST_CASE("emit: the hash is FNV-1a, keeps through renaming and changes with the model") {
  CHECK(cli::content_hash("") == "cbf29ce484222325");
  CHECK(cli::content_hash("a") == "af63dc4c8601ec8c");
  const formats::Target& hf = formats::find_target("hf", "");
  arch::Architecture m = model();
  const std::string hash = cli::make_run(m, hf, {}).hash;
  CHECK(hash == "b9ce5009c96f26d2");
  m.name = "other";
  CHECK(cli::make_run(m, hf, {}).hash == hash);
  CHECK(cli::make_run(m, hf, {2, 1, 1}).hash != hash);
  CHECK(cli::make_run(m, formats::find_target("megatron", ""), {}).hash != hash);
  m.segments.front().ffn.expert_size = 40;
  CHECK(cli::make_run(m, hf, {}).hash != hash);
}
