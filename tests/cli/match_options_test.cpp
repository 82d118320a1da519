// Requests for a match that contradict themselves or name what is not there: refused with the full
// message, quickly, with exit code 2 and nothing on standard output.
#include <doctest/doctest.h>

#include "support/run_cli.h"

namespace {

using isoloop::test::run_cli;
using isoloop::test::words;

struct Bad {
  const char* options;
  const char* message;
};

void refuse(const Bad& bad) {
  CAPTURE(bad.options);
  const auto ran = run_cli(words(std::string("match smelt-200m-e192 ") + bad.options));
  CHECK(ran.code() == 2);
  CHECK(ran.out == "");
  CHECK(ran.err == std::string("isoloop: ") + bad.message + "\n");
}

TEST_CASE("tolerances") {
  for (const Bad& bad : std::initializer_list<Bad>{
           {"--tol nonsense",
            "--tol: unknown budget 'nonsense'\n  hint: known: flops, prefill_flops, params, params_total, "
            "active, kv, kv_context, weights_bytes, decode_bytes, activation_bytes"},
           {"--tol fops=1%", "--tol: unknown budget 'fops'\n  hint: did you mean 'flops'?"},
           {"--tol flops",
            "--tol: 'flops' has no value\n"
            "  hint: write e.g. flops=1%,params=0.5%,kv=2%, or kv=off to leave a budget out"},
           {"--tol flops=",
            "--tol: 'flops=' has no value\n"
            "  hint: write e.g. flops=1%,params=0.5%,kv=2%, or kv=off to leave a budget out"},
           {"--tol flops=x", "--tol: cannot read 'x' as a number\n  hint: write it like 3, -1.25, 1e-3, 7/2 or 1.5%"},
           {"--tol flops=-1%", "--tol: '-1%' is negative\n  hint: write it like 1%, 0.5% or 0.005"},
           {"--tol flops=1e30", "--tol: '1e30' is more than 1000 %\n  hint: write it like 1%, 0.5% or 0.005"},
           {"--tol flops=1e-30", "--tol: '1e-30' is finer than a billionth\n  hint: 0 asks for equality"},
           {"--tol flops=1%,flops=2%",
            "--tol: flops is given twice\n"
            "  hint: write e.g. flops=1%,params=0.5%,kv=2%, or kv=off to leave a budget out"},
           {"--tol flops=off,params=off,kv=off",
            "--tol: no budget is left\n"
            "  hint: write e.g. flops=1%,params=0.5%,kv=2%, or kv=off to leave a budget out"},
       })
    refuse(bad);
}

TEST_CASE("alignments, ranking, plausibility") {
  for (const Bad& bad : std::initializer_list<Bad>{
           {"--align loos", "--align: unknown alignment 'loos'\n  hint: did you mean 'loose'?"},
           {"--align hidden=64,foo=3", "--align: unknown alignment key 'foo'\n  hint: known: hidden, expert, head, experts"},
           {"--align hidden=0", "--align: '0' is not a step from 1 to 1048576\n  hint: steps are whole numbers, e.g. hidden=64"},
           {"--align hidden=64,hidden=8", "--align: hidden is given twice\n  hint: keep one of the two"},
           {"--align hidden=1000000",
            "--free hidden: no value is left for hidden\n"
            "  hint: widen its range or loosen --align, --min-head, --tp or --ep"},
           {"--rank nonsense",
            "--rank: unknown ranking key 'nonsense'\n  hint: known: mismatch, sum, flops, params, kv, hidden, "
            "experts, heads, kv-heads, head-size, expert-size"},
           {"--top 0", "--top: '0' is not a positive number\n  hint: write e.g. --top 3"},
           {"--top 1.5", "--top: '1.5' is not a whole number\n  hint: write e.g. --top 3"},
           {"--square maybe", "--square: unknown value 'maybe'\n  hint: known: yes, no"},
           {"--gqa 3", "--gqa: '3' is not a range\n  hint: write e.g. --gqa 1:3"},
           {"--gqa 3:1", "--gqa: '3:1' is not a range: 3 is above 1\n  hint: write e.g. --gqa 1:3"},
           {"--min-head 0", "--min-head: '0' is not a positive number\n  hint: write e.g. --min-head 64"},
           {"--min-head 1000",
            "--free head-size: no value is left for head-size\n"
            "  hint: widen its range or loosen --align, --min-head, --tp or --ep"},
           {"--expert-ratio 0.5", "--expert-ratio: '0.5' is below 1\n  hint: write e.g. --expert-ratio 2"},
           {"--tp 0", "--tp: '0' is not a positive number\n  hint: write e.g. --tp 8"},
           {"--tp 1000000",
            "--free heads: no value is left for heads\n"
            "  hint: widen its range or loosen --align, --min-head, --tp or --ep"},
           {"--fix heads=20 --tp 8",
            "--fix: heads = 20 cannot be split over tp 8, ep 1\n  hint: take a multiple of the parallelism"},
           {"--pp 5",
            "--loop: no loop shape satisfies --loop, --fix and --free\n  hint: the span must fit the "
            "depth, the start leave room for the span, --pp divide the depth, and at most 10000 layers be executed"},
           {"--convention all",
            "--convention: 'all' is not one convention\n"
            "  hint: name one; isoloop count --convention all shows them side by side"},
       })
    refuse(bad);
}

TEST_CASE("fixed and freed dimensions") {
  const char* shape_hint =
      "--loop: no loop shape satisfies --loop, --fix and --free\n  hint: the span must fit the "
      "depth, the start leave room for the span, --pp divide the depth, and at most 10000 layers be executed";
  for (const Bad& bad : std::initializer_list<Bad>{
           {"--fix exprts=5", "--fix: unknown dimension 'exprts'\n  hint: did you mean 'experts'?"},
           {"--fix experts", "--fix: 'experts' has no value\n  hint: write e.g. --fix experts=288"},
           {"--fix experts=1.5", "--fix: '1.5' is not a whole number\n  hint: write e.g. --fix experts=288"},
           {"--fix experts=0", "--fix: experts = 0 is not a size\n  hint: dimensions are positive whole numbers"},
           {"--fix experts=1e13",
            "--fix: '1e13' is out of range, at most 1099511627776\n  hint: write e.g. --fix experts=288"},
           {"--fix experts=8 --fix experts=16", "--fix: experts is fixed twice\n  hint: keep one of the two"},
           {"--fix kv-rank=3",
            "--fix: 'smelt-200m-e192' has no kv-rank\n  hint: only dimensions that the baseline has can be fixed or freed"},
           {"--fix visits=0", "--fix: visits = 0 is not a size\n  hint: dimensions are positive whole numbers"},
           {"--fix span=99", shape_hint},
           {"--fix depth=100000", shape_hint},
           {"--fix visits=100000", shape_hint},
           {"--free exprts", "--free: unknown dimension 'exprts'\n  hint: did you mean 'experts'?"},
           {"--free depth=8", "--free: '8' is not a range\n  hint: write low:high or low:high:step, e.g. depth=8:16:2"},
           {"--free depth=16:8",
            "--free: '16:8' is not a range\n  hint: write low:high or low:high:step, e.g. depth=8:16:2, "
            "with low <= high, step >= 1 and at most 1000000 values"},
           {"--free hidden=0:1e12",
            "--free: '0:1e12' is not a range\n  hint: write low:high or low:high:step, e.g. depth=8:16:2, "
            "with low <= high, step >= 1 and at most 1000000 values"},
           {"--free depth=0:4", "--free: depth cannot be 0\n  hint: depth can be 1 to 100000"},
           {"--free visits=1:999999", "--free: visits cannot be 999999\n  hint: visits can be 1 to 100000"},
           {"--free depth=1:100000,span,start",
            "--free: too many loop shapes are left\n  hint: give depth, span, visits or start a narrower range"},
           {"--free depth --free depth=8:16", "--free: depth is freed twice\n  hint: keep one of the two"},
           {"--free depth --fix depth=12", "--fix, --free: depth is both fixed and freed\n  hint: keep one of the two"},
       })
    refuse(bad);
}

TEST_CASE("an option does not swallow the baseline behind it") {
  for (const char* line : {"match --fix experts=376 smelt-200m-e192", "match --rank mismatch smelt-200m-e192",
                           "match --free span smelt-200m-e192"}) {
    CAPTURE(line);
    CHECK(run_cli(words(line)).code() == 0);
  }
}

TEST_CASE("a depth that a loop does not fit is left out, not an error") {
  CHECK(run_cli(words("match smelt-200m-e192 --loop 4-9x2 --free depth=6:14")).code() == 0);
}

TEST_CASE("a request that nothing satisfies is answered no, with what would help") {
  for (const char* options : {"--fix head-size=7", "--tp 7", "--tol flops=0,params=0,kv=0"}) {
    CAPTURE(options);
    const auto ran = run_cli(words(std::string("match smelt-200m-e192 ") + options));
    CHECK(ran.code() == 1);
    CHECK(ran.err == "");
    CHECK(ran.out.find("-o DIR writes") == std::string::npos);
  }
  const auto ran = run_cli(words("match smelt-200m-e192 --fix head-size=7"));
  CHECK(ran.out.find("--free head-size instead of --fix head-size") != std::string::npos);
  CHECK(ran.out.find("head size at least 32") == std::string::npos);
}

}  // namespace
