// isoloop match with prices: what is shown, and every complaint with its whole message.
//
// Holds src/cli/price_flags.cpp, plan_flags.cpp and the priced part of match_view.cpp.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "support/run_cli.h"

namespace isoloop {
namespace {

using nlohmann::json;
using test::run_cli;
using test::words;

TEST_CASE("a GPU named beside a match shows the step time of its answers") {
  const test::Ran ran = run_cli(words("match smelt-200m-e192 --gpu h100-sxm5 --format json"));
  REQUIRE(ran.code() == 0);
  const json j = json::parse(ran.out);
  CHECK(j["prices"][0]["key"] == "step-time");
  CHECK(j["prices"][0]["meaning"] ==
        "training step time on h100-sxm5 over the baseline's, 8192 tokens per GPU");
  CHECK(j["answers"][0]["prices"]["step-time"]["mid"].get<double>() > 0.5);
  const json plain = json::parse(run_cli(words("match smelt-200m-e192 --format json")).out);
  CHECK(j["answers"][0]["arch"] == plain["answers"][0]["arch"]);
  CHECK(j["space"]["points"] == plain["space"]["points"]);
}

TEST_CASE("the fastest answer within tolerance is not slower than the best matched one") {
  const std::string question = "match smelt-200m-e192 --free depth=10:16 --free span --gpu h100-sxm5 ";
  const auto time_of = [](const std::string& line) {
    return json::parse(run_cli(words(line + " --format json")).out)["answers"][0]["prices"]["step-time"]["mid"]
        .get<double>();
  };
  CHECK(time_of(question + "--rank step-time") < time_of(question + "--rank mismatch,step-time"));
}

TEST_CASE("a requirement that cannot be kept is the answer no") {
  const test::Ran ran =
      run_cli(words("match smelt-200m-e192 --gpu h100-sxm5 --require step-time<=0.1"));
  CHECK(ran.code() == 1);
  CHECK(ran.out.find("none of them has step-time of at most 0.1") != std::string::npos);
  const json j = json::parse(
      run_cli(words("match smelt-200m-e192 --gpu h100-sxm5 --require step-time<=0.1 --format json")).out);
  CHECK(j["answers"].empty());
  CHECK(j["binding"] == "step-time");
  CHECK(j["require"]["step-time"] == 0.1);
  CHECK(j["nearest"]["prices"]["step-time"]["mid"].get<double>() > 0.1);
}

TEST_CASE("candidates within tolerance that no GPU kernel serves are not called impossible") {
  const test::Ran ran =
      run_cli(words("match smelt-200m-e192 --gpu h100-sxm5 --require step-time<=9 "
                    "--fix head_size=264 --tol flops=30%,params=30%,kv=off"));
  CHECK(ran.code() == 1);
  CHECK(
      ran.out.find("Architectures are within tolerance, but none of them has step-time: it cannot "
                   "be predicted for any.") != std::string::npos);
  CHECK(ran.out.find("satisfies the rules at all") == std::string::npos);
}

TEST_CASE("loss under a law says what the law knows") {
  const test::Ran ran = run_cli(words(
      "match smelt-200m-e192 --convention smelt --attended 392 --rank loss --law smelt --tokens 100e9"));
  CHECK(ran.code() == 0);
  CHECK(ran.out.find("the law knows only F, S and D") != std::string::npos);
}

TEST_CASE("what is missing for a price is said") {
  const auto complaint = [](const std::string& rest) {
    const test::Ran ran = run_cli(words("match smelt-200m-e192 " + rest));
    CHECK(ran.code() == 2);
    CHECK(ran.out.empty());
    return ran.err;
  };
  CHECK(complaint("--rank step-time") ==
        "isoloop: step-time: needs a GPU\n"
        "  hint: add --gpu h100-sxm5, or write step-time@h100-sxm5\n");
  CHECK(complaint("--rank step-time@h100-sxm") ==
        "isoloop: step-time@: unknown GPU 'h100-sxm'\n  hint: did you mean 'h100-sxm5'?\n");
  CHECK(complaint("--rank loss") ==
        "isoloop: loss: needs a law\n  hint: add --law smelt --tokens 100e9: isoloop list laws\n");
  CHECK(complaint("--law smelt") ==
        "isoloop: --law: is asked about no amount of training\n"
        "  hint: add --tokens 100e9 or --compute 1e21, one of them\n");
  CHECK(complaint("--law smelt --tokens 1e9 --compute 1e21") ==
        "isoloop: --law: is asked about tokens and about compute\n"
        "  hint: add --tokens 100e9 or --compute 1e21, one of them\n");
  CHECK(complaint("--law smelt --tokens 0") ==
        "isoloop: --tokens: '0' is not a positive number\n  hint: write e.g. --tokens 100e9\n");
  CHECK(complaint("--tokens 1e9") ==
        "isoloop: --tokens, --compute: is what a law is asked about, and none is named\n"
        "  hint: add --law smelt, or use --tokens-per-gpu\n");
  CHECK(complaint("--tokens-per-gpu 4096") ==
        "isoloop: --tokens-per-gpu, --phase, ...: are about a GPU, and none is named\n"
        "  hint: add --gpu h100-sxm5\n");
  CHECK(complaint("--gpu h100-sxm5 --tokens-per-gpu 0") ==
        "isoloop: --tokens-per-gpu: '0' is not a positive number\n"
        "  hint: write e.g. --tokens-per-gpu 8\n");
  CHECK(complaint("--gpu h100-sxm5 --tokens-per-gpu 100 --tp 8") ==
        "isoloop: --tokens-per-gpu: 100 tokens cannot be split over TP 8\n"
        "  hint: TP may be 1, 2, 4, 5, 10, 20, 25, 50, 100\n");
  CHECK(complaint("--gpu h100-sxm5 --context 3000") ==
        "isoloop: --tokens-per-gpu: 8192 tokens are not whole sequences of 3000\n"
        "  hint: for example 9000\n");
  CHECK(complaint("--require mismatch<=0.5") ==
        "isoloop: --require: 'mismatch' is no price, and there is none\n"
        "  hint: add --gpu or --law; budgets go into --tol\n");
  CHECK(complaint("--require step-time<1") ==
        "isoloop: --require: 'step-time<1' is not a requirement\n"
        "  hint: write e.g. --require 'step-time<=1.02'\n");
  CHECK(complaint("--rank steptime --gpu b200") ==
        "isoloop: --rank: unknown ranking key 'steptime'\n  hint: did you mean 'step-time'?\n");
}

}  // namespace
}  // namespace isoloop
