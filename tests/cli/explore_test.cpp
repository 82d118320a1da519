// isoloop explore and merge: one result however the work is cut, and every complaint in full.
//
// Holds src/cli/explore.cpp, explore_result.cpp, explore_view.cpp and merge.cpp.
#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "support/run_cli.h"
#include "support/temp_folder.h"

namespace isoloop {
namespace {

using nlohmann::json;
using test::run_cli;
using test::TempFolder;
using test::words;
using test::WorkingFolder;

const std::string question =
    "explore smelt-200m-e192 --fix depth=12 --fix top-k=8 --gpu h100-sxm5 --measures mismatch,step-time,distance ";

TEST_CASE("shards merged are the single run byte by byte, in every format") {
  const TempFolder folder;
  const WorkingFolder here(folder.path());
  for (const int n : {1, 2, 5}) {
    CAPTURE(n);
    std::string files;
    for (int i = n; i >= 1; --i) {
      const std::string file = "part-" + std::to_string(n) + "-" + std::to_string(i) + ".json";
      CHECK(run_cli(words(question + "--format json --shard " + std::to_string(i) + "/" +
                          std::to_string(n) + " --threads 2 --output " + file)).code() == 0);
      files += " " + file;
    }
    for (const char* format : {"json", "text", "md", "csv"}) {
      const std::string as = std::string(" --format ") + format;
      const test::Ran one = run_cli(words(question + as));
      CHECK(one.code() == 0);
      CHECK(one.out == run_cli(words("merge" + files + as)).out);
    }
  }
}

TEST_CASE("an interrupted run leaves a partial result that resumes to the same bytes") {
  const TempFolder folder;
  const WorkingFolder here(folder.path());
  const auto run = [](const std::string& line, int units) {
    std::istringstream in;
    std::ostringstream out, err;
    cli::Streams streams{in, out, err};
    int asked = 0;
    streams.interrupted = [&] { return ++asked > units; };
    const cli::ExitCode exit = cli::run(words(line), streams);
    return std::pair(static_cast<int>(exit), out.str());
  };
  const auto [exit, partial] = run(question + "--threads 1 --format json", 1200);
  CHECK(exit == 1);
  const json j = json::parse(partial);
  CHECK(j["complete"] == false);
  CHECK_FALSE(j["units"]["done"].get<std::string>().empty());
  folder.write("partial.json", partial);
  CHECK(run(question + "--threads 1", 3).second.find("Interrupted: 3 of 3072 units of work are done") !=
        std::string::npos);
  const test::Ran resumed = run_cli(words(question + "--format json --resume partial.json"));
  CHECK(resumed.code() == 0);
  CHECK(resumed.out == run_cli(words(question + "--format json")).out);
}

TEST_CASE("answers are streamed as they are proven, the same that the result holds") {
  const TempFolder folder;
  const WorkingFolder here(folder.path());
  const test::Ran ran = run_cli(words(question + "--format json --stream proven.jsonl"));
  REQUIRE(ran.code() == 0);
  std::vector<json> streamed;
  std::istringstream lines(folder.read("proven.jsonl"));
  for (std::string line; std::getline(lines, line);) streamed.push_back(json::parse(line));
  const json front = json::parse(ran.out)["front"];
  REQUIRE(streamed.size() == front.size());
  for (std::size_t i = 0; i < front.size(); ++i) CHECK(streamed[i] == front[i]);
}

TEST_CASE("progress is JSON where asked for, and silent off a terminal") {
  CHECK(run_cli(words(question)).err.empty());
  const test::Ran ran = run_cli(words(question + "--progress json"));
  std::istringstream lines(ran.err);
  json last;
  for (std::string line; std::getline(lines, line);) last = json::parse(line);
  CHECK(last["done"] == 1.0);
  CHECK(last["units"] == 3072);
  CHECK(last["front"].get<int>() > 0);
}

TEST_CASE("a folder of the front is accepted by check") {
  const TempFolder folder;
  const WorkingFolder here(folder.path());
  CHECK(run_cli(words(question + "-o out")).code() == 0);
  CHECK(run_cli(words("check out/pairs.json")).code() == 0);
  CHECK(folder.read("out/explore.json") == run_cli(words(question + "--format json")).out);
}

TEST_CASE("lost, doubled, unfinished and foreign shards are named") {
  const TempFolder folder;
  const WorkingFolder here(folder.path());
  const std::string small = "explore smelt-200m-e192 --fix depth=12 --fix top-k=8 --loop middle --format json ";
  const auto shard = [&](const std::string& rest, const std::string& file) {
    folder.write(file, run_cli(words(small + rest)).out);
  };
  for (const char* i : {"1", "2", "3"}) shard(std::string("--shard ") + i + "/3", std::string("s") + i + ".json");
  shard("--shard 1/2", "half.json");
  shard("--shard 2/3 --context 1024", "other.json");
  shard("", "whole.json");
  nlohmann::ordered_json partial = nlohmann::ordered_json::parse(folder.read("s2.json"));
  partial["units"]["done"] = "1";
  folder.write("partial.json", partial.dump());
  folder.write("model.json", "{}");
  const auto complaint = [](const std::string& files) {
    const test::Ran ran = run_cli(words("merge " + files));
    CHECK(ran.code() == 2);
    return ran.err;
  };
  CHECK(run_cli(words("merge s2.json s3.json s1.json --format json")).out == folder.read("whole.json"));
  CHECK(complaint("s1.json s3.json") ==
        "isoloop: merge: shard is missing: 2/3\n  hint: give the results of all shards\n");
  CHECK(complaint("s1.json") ==
        "isoloop: merge: shards are missing: 2/3, 3/3\n  hint: give the results of all shards\n");
  CHECK(complaint("s1.json s2.json s2.json s3.json") ==
        "isoloop: s2.json: shard 2/3 is given twice, also as s2.json\n  hint: give each shard once\n");
  CHECK(complaint("s1.json partial.json s3.json") ==
        "isoloop: partial.json: shard 2/3 is not complete\n"
        "  hint: continue it with isoloop explore ... --resume partial.json\n");
  CHECK(complaint("s1.json half.json") ==
        "isoloop: half.json: is shard 1/2, s1.json is shard 1/3\n"
        "  hint: merge shards of one number of shards\n");
  CHECK(complaint("s1.json other.json") ==
        "isoloop: other.json: answers another question than s1.json: counting differs\n"
        "  hint: merge shards of one exploration\n");
  CHECK(complaint("model.json") ==
        "isoloop: model.json: is not the result of an exploration\n"
        "  hint: give a file written by isoloop explore --format json\n");
}

TEST_CASE("damaged results are refused by name, and parts of other questions") {
  const TempFolder folder;
  const WorkingFolder here(folder.path());
  const std::string small = "explore smelt-200m-e192 --fix top-k=8 --loop middle --format json ";
  folder.write("s1.json", run_cli(words(small + "--fix depth=12 --shard 1/2")).out);
  folder.write("s2.json", run_cli(words(small + "--fix depth=12 --shard 2/2")).out);
  folder.write("deep.json", run_cli(words(small + "--fix depth=10 --shard 2/2")).out);
  folder.write("start.json", run_cli(words(small + "--fix depth=12 --free start --shard 2/2")).out);
  const auto complaint = [&](const std::string& command) {
    const test::Ran ran = run_cli(words(command));
    CHECK(ran.code() == 2);
    CHECK(ran.out.empty());
    return ran.err.substr(0, ran.err.find('\n'));
  };
  CHECK(complaint("merge s1.json deep.json").starts_with(
      "isoloop: deep.json: answers another question than s1.json: "));
  CHECK(complaint("merge s1.json start.json").starts_with(
      "isoloop: start.json: answers another question than s1.json: "));
  CHECK(complaint(small + "--fix depth=12 --shard 2/2 --resume deep.json")
            .starts_with("isoloop: deep.json: answers another question: "));
  const auto damaged = [&](const std::string& pointer, const json& value) {
    auto j = nlohmann::ordered_json::parse(folder.read("s1.json"));
    j[nlohmann::ordered_json::json_pointer(pointer)] = value;
    folder.write("bad.json", j.dump());
    const std::string merged = complaint("merge bad.json s2.json");
    CHECK(complaint(small + "--fix depth=12 --shard 1/2 --resume bad.json") == merged);
    return merged;
  };
  CHECK(damaged("/units/total", -1) == "isoloop: bad.json: units whose number is not from 1 to 1048576");
  CHECK(damaged("/units/total", 3) == "isoloop: bad.json: has no units 4");
  CHECK(damaged("/units/blocks", 3) == "isoloop: bad.json: units that are not those of its question");
  CHECK(damaged("/front/0/index", "-1") == "isoloop: bad.json: a candidate -1 beyond the last");
  CHECK(damaged("/front/0/loop", 1) ==
        "isoloop: bad.json: an entry of the front whose loop is damaged");
  CHECK(damaged("/front/0/dimensions/hidden", "x") ==
        "isoloop: bad.json: an entry of the front whose dimensions is damaged");
  CHECK(damaged("/front", json::array()) == "isoloop: bad.json: candidates without a front");
  CHECK(damaged("/space/points", "7") ==
        "isoloop: bad.json: a space whose points are not those visited and cut off");
}

TEST_CASE("a stream replaces nothing that is there") {
  const TempFolder folder;
  const WorkingFolder here(folder.path());
  const std::string small = "explore smelt-200m-e192 --fix depth=12 --fix top-k=8 --loop middle ";
  folder.write("there.jsonl", "mine");
  const test::Ran ran = run_cli(words(small + "--stream there.jsonl"));
  CHECK(ran.code() == 2);
  CHECK(ran.err == "isoloop: --stream there.jsonl: exists already\n  hint: name a new file or add --force\n");
  CHECK(folder.read("there.jsonl") == "mine");
  CHECK(run_cli(words(small + "--stream there.jsonl --force")).code() == 0);
  const test::Ran full = run_cli(words(small + "--stream /dev/full"));
  CHECK(full.code() == 0);
  CHECK(full.err == "isoloop: warning: --stream /dev/full: could not be written to its end\n");
}

TEST_CASE("wrong options of explore are complained about in full") {
  const TempFolder folder;
  const WorkingFolder here(folder.path());
  const std::string small = "explore smelt-200m-e192 --fix depth=12 --fix top-k=8 --loop middle ";
  folder.write("shard.json", run_cli(words(small + "--shard 1/2 --format json")).out);
  const auto complaint = [&](const std::string& rest) {
    const test::Ran ran = run_cli(words(small + rest));
    CHECK(ran.code() == 2);
    CHECK(ran.out.empty());
    return ran.err;
  };
  CHECK(complaint("--shard 3") == "isoloop: --shard: '3' is not a shard\n  hint: write i/n, e.g. --shard 3/8\n");
  CHECK(complaint("--shard 3/2") ==
        "isoloop: --shard: '3/2': there is no shard 3 of 2\n  hint: write i/n, e.g. --shard 3/8\n");
  CHECK(complaint("--threads 0") ==
        "isoloop: --threads: '0' is not a positive number\n  hint: write e.g. --threads 4\n");
  CHECK(complaint("--progress xml") == "isoloop: --progress: unknown progress 'xml'\n  hint: known: json\n");
  CHECK(complaint("--rank mismatch") ==
        "isoloop: --rank, --top: orders single answers; a front has measures\n"
        "  hint: write e.g. --measures mismatch,step-time\n");
  CHECK(complaint("--measures mismatch,step-time") ==
        "isoloop: step-time: needs a GPU\n  hint: add --gpu h100-sxm5, or write step-time@h100-sxm5\n");
  CHECK(complaint("--resume shard.json") ==
        "isoloop: shard.json: is of shard 1/2\n  hint: resume with the --shard it was begun with\n");
  CHECK(complaint("--resume shard.json --shard 1/2 --context 1024") ==
        "isoloop: shard.json: answers another question: counting differs\n"
        "  hint: resume with the command line it was begun with\n");
}

TEST_CASE("the ranges of depth and loop are listed, and members at the edge of a range named") {
  const std::string line = "explore smelt-200m-e192 --free depth=11:12 --fix top-k=8 --free span=0:6:3";
  const json j = json::parse(run_cli(words(line + " --format json")).out);
  const json& domains = j["question"]["domains"];
  CHECK(domains["depth"] == "11–12");
  CHECK(domains["span"] == "0–6 step 3");
  CHECK(domains["visits"] == "1–4");
  CHECK(domains["start"].is_string());
  bool any = false;
  for (const json& entry : j["front"]) {
    std::vector<std::string> edges = entry["at_edge"];
    CHECK(std::count(edges.begin(), edges.end(), "depth") == 1);  // 11 and 12 both are
    CHECK(std::count(edges.begin(), edges.end(), "top-k") == 0);  // fixed
    any = true;
  }
  CHECK(any);
  const std::string text = run_cli(words(line)).out;
  CHECK(text.find("at the edge of the range: ") != std::string::npos);
}

TEST_CASE("visits of two or more ask for a loop") {
  const std::string line = "explore smelt-200m-e192 --fix depth=12 --fix top-k=8 --format json ";
  for (const char* visits : {"--fix visits=2", "--free visits=2:3"}) {
    const json j = json::parse(run_cli(words(line + visits)).out);
    REQUIRE_FALSE(j["front"].empty());
    for (const json& entry : j["front"]) CHECK(entry["loop"] != "none");
  }
  const json plain = json::parse(run_cli(words(line + "--fix visits=2 --fix span=0")).out);
  REQUIRE_FALSE(plain["front"].empty());
  for (const json& entry : plain["front"]) CHECK(entry["loop"] == "none");
}

TEST_CASE("without a GPU the baseline does not win by definition") {
  const json j = json::parse(run_cli(words("explore smelt-200m-e192 --fix depth=12 --format json")).out);
  CHECK(j["question"]["measures"][0]["key"] == "mismatch");
  CHECK(j["question"]["measures"][1]["key"] == "decode-bytes");
  CHECK(j["question"]["measures"].size() == 2);
}

TEST_CASE("help says what holds for its own command") {
  const auto help = [](const std::string& command) { return run_cli({command, "--help"}).out; };
  const std::string explore = help("explore");
  CHECK(explore.find("(default: all shapes)") != std::string::npos);
  for (const char* absent : {"--rank", "--top", "(default middle)"})
    CHECK_MESSAGE(explore.find(absent) == std::string::npos, absent);
  CHECK(help("match").find("step-time, loss, ...") != std::string::npos);
  for (const char* command : {"grid", "sweep"}) {
    CHECK(help(command).find("step-time") == std::string::npos);
    CHECK(help(command).find("Number of different answers (default 1)") != std::string::npos);
  }
}

TEST_CASE("nothing within tolerance is the answer no") {
  const test::Ran ran = run_cli(words("explore smelt-200m-e192 --fix depth=12 --loop middle --align fp8 --tol kv=0.1%"));
  CHECK(ran.code() == 1);
  CHECK(ran.out.find("No architecture is within tolerance") != std::string::npos);
}

}  // namespace
}  // namespace isoloop
