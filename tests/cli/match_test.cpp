// isoloop match: what it answers, what it writes, and what it says when the answer is no.
#include <doctest/doctest.h>

#include "support/json_keys.h"
#include "support/temp_folder.h"

namespace {

using namespace isoloop::test;

TEST_CASE("an answer is within tolerance and its files check") {
  const TempFolder folder;
  const auto ran = run_cli({"match", "smelt-200m-e192", "--top", "2", "-o", folder / "out"});
  CHECK(ran.code() == 0);
  CHECK(ran.err == "");
  CHECK(ran.out.find("nothing in the space is better") != ran.out.npos);
  CHECK(ran.out.find("Next: isoloop check pairs.json") != ran.out.npos);
  CHECK(run_cli({"check", folder / "out/pairs.json"}).code() == 0);
  const Json j = run_json({"match", "smelt-200m-e192", "--top", "2"});
  CHECK(at(j, "/answers/0/arch") == Json::parse(folder.read("out/answer-1.json")));
  CHECK(at(j, "/answers/1/arch") == Json::parse(folder.read("out/answer-2.json")));
  CHECK(at(j, "/baseline") == Json::parse(folder.read("out/baseline.json")));
}

TEST_CASE("every default is shown") {
  const std::string text = run_cli({"match", "smelt-200m-e192"}).out;
  for (const char* shown : {"alignment", "loose (hidden=8,expert=8,head=8,experts=8)", "heads x head size = hidden",
                            "GQA ratio 5 to 15", "head size at least 32", "top-k", "experts      8–768 step 8"})
    CHECK_MESSAGE(text.find(shown) != text.npos, shown);
}

TEST_CASE("values left by sharding are listed, not given as a range they are not") {
  const std::string text = run_cli(words("match smelt-200m-e192 --tp 4")).out;
  CHECK(text.find("kv-heads     1, 2, 4, 8\n") != text.npos);
}

TEST_CASE("no answer: exit 1, the nearest miss, the budget that binds, changes that help") {
  const auto ran = run_cli(words("match smelt-200m-e192 --fix experts=64"));
  CHECK(ran.code() == 1);
  CHECK(ran.err == "");
  for (const char* shown : {"nearest miss", "No architecture is within tolerance; the budget that binds is params.",
                            "each solved again", "--free experts instead of --fix experts"})
    CHECK_MESSAGE(ran.out.find(shown) != ran.out.npos, shown);
  CHECK(ran.out.find("-o DIR") == ran.out.npos);
}

TEST_CASE("rules that contradict each other are answered no, not refused") {
  const auto ran = run_cli(words("match smelt-200m-e192 --fix heads=7,kv-heads=3"));
  CHECK(ran.code() == 1);
  CHECK(ran.out.find("No architecture satisfies the rules at all, whatever the tolerance.") != ran.out.npos);
  CHECK(at(run_json(words("match smelt-200m-e192 --fix heads=7,kv-heads=3"), 1), "/nearest").is_null());
}

TEST_CASE("every built-in baseline is answered") {
  for (const char* name : {"gemma-2-2b", "qwen3-0.6b", "gpt-oss-20b", "deepseek-v2-lite", "llama-3.2-1b", "olmoe-1b-7b"}) {
    CAPTURE(name);
    CHECK(run_cli({"match", name}).code() < 2);
  }
}

}  // namespace
