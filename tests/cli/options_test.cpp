// Options that cannot be meant: each complaint says where, what is wrong and what would be right,
// in full, with exit code 2 and nothing on standard output.
#include <doctest/doctest.h>

#include "support/run_cli.h"

namespace {

using isoloop::test::run_cli;
using isoloop::test::words;

struct Bad {
  const char* line;
  const char* message;
};

void refuse(const Bad& bad) {
  CAPTURE(bad.line);
  const auto ran = run_cli(words(bad.line));
  CHECK(ran.code() == 2);
  CHECK(ran.out == "");
  CHECK(ran.err == std::string("isoloop: ") + bad.message + "\n");
}

TEST_CASE("commands and arguments") {
  for (const Bad& bad : std::initializer_list<Bad>{
           {"cuont", "unknown command 'cuont'\n  hint: did you mean 'count'?"},
           {"count", "count: ARCH is missing\n  hint: see isoloop count --help"},
           {"match", "match: BASELINE is missing\n  hint: see isoloop match --help"},
           {"check", "check: PAIRS is missing\n  hint: see isoloop check --help"},
           {"import", "import: FILE is missing\n  hint: see isoloop import --help"},
           {"match a b", "match: 'b' was not expected\n  hint: see isoloop match --help"},
           {"man page", "man: 'page' was not expected\n  hint: see isoloop man --help"},
           {"count \"\"", "ARCH: is empty\n  hint: see isoloop count --help"},
           {"count nosuch",
            "unknown model or file 'nosuch'\n  hint: isoloop list models shows the built-in ones"},
           {"count smelt-200m-e129",
            "unknown model or file 'smelt-200m-e129'\n  hint: did you mean 'smelt-200m-e192'?"},
           {"list modles", "list: unknown list 'modles'\n  hint: did you mean 'models'?"},
           {"completion bsh", "completion: unknown shell 'bsh'\n  hint: did you mean 'bash'?"},
           {"grid smlt", "grid: unknown grid 'smlt'\n  hint: did you mean 'smelt'?"},
       })
    refuse(bad);
}

TEST_CASE("options no command knows, and how options are given") {
  for (const Bad& bad : std::initializer_list<Bad>{
           {"count x --convetion y", "count: unknown option '--convetion'\n  hint: did you mean '--convention'?"},
           {"count x --convetion=y", "count: unknown option '--convetion'\n  hint: did you mean '--convention'?"},
           {"count x -z", "count: unknown option '-z'\n  hint: isoloop count --help lists the options"},
           {"--format json count x",
            "unknown option '--format'\n  hint: options follow the command: isoloop COMMAND --help lists them"},
           {"--hepl", "unknown option '--hepl'\n  hint: did you mean '--help'?"},
           {"count x --format", "--format: has no value\n  hint: see isoloop count --help"},
           {"count x --format=", "--format: has no value\n  hint: see isoloop count --help"},
           {"count x --loop \"\"", "--loop: is empty\n  hint: see isoloop count --help"},
           {"count x --documents \"\"", "--documents: is empty\n  hint: see isoloop count --help"},
           {"match x -o \"\"", "--directory: is empty\n  hint: see isoloop match --help"},
           {"count x --format json --format md", "--format: is given more than once\n  hint: keep one of them"},
           {"match x --tol flops=1% --tol kv=1%", "--tol: is given more than once\n  hint: keep one of them"},
           {"count x --rows=maybe", "--rows: takes no value\n  hint: see isoloop count --help"},
           {"count x --format jsn", "--format: unknown format 'jsn'\n  hint: did you mean 'json'?"},
           {"count x --format junit", "--format: unknown format 'junit'\n  hint: known: text, json, md, csv"},
       })
    refuse(bad);
}

TEST_CASE("what is counted") {
  for (const Bad& bad : std::initializer_list<Bad>{
           {"count small --convention casual", "--convention: unknown convention 'casual'\n  hint: did you mean 'causal'?"},
           {"explain small --convention all",
            "--convention: 'all' is not one convention\n"
            "  hint: name one; isoloop count --convention all shows them side by side"},
           {"grid smelt --convention all",
            "--convention: 'all' is not one convention\n"
            "  hint: name one; isoloop count --convention all shows them side by side"},
           {"count small --context abc", "--context: cannot read 'abc' as a number\n  hint: write it like 3, -1.25, 1e-3, 7/2 or 1.5%"},
           {"count small --context 1.5", "--context: '1.5' is not a whole number\n  hint: write e.g. --context 4096"},
           {"count small --context 0", "--context: '0' is not a positive number\n  hint: write e.g. --context 4096"},
           {"count small --context -3", "--context: '-3' is not a positive number\n  hint: write e.g. --context 4096"},
           {"count small --context 1e30",
            "--context: '1e30' is out of range, at most 1099511627776\n  hint: write e.g. --context 4096"},
           {"count small --context 1e400",
            "--context: number '1e400' is out of range\n"
            "  hint: numerator and denominator must each stay below 2^127, about 1.7e38"},
           {"count small --attended -3", "--attended: '-3' is not a positive number\n  hint: write e.g. --attended 392"},
           {"count small --attended 1e38",
            "--attended: '1e38' is too large or too fine\n"
            "  hint: write e.g. --attended 392, at most 1099511627776, with at most 6 decimals"},
           {"count small --documents 0", "--documents: '0' is not a positive number\n  hint: write e.g. --documents 1024,3072"},
           {"count small --documents 1,,2", "--documents: cannot read '' as a number\n  hint: write it like 3, -1.25, 1e-3, 7/2 or 1.5%"},
           {"count small --documents 5000,5000 --context 4096",
            "--documents: the documents have 10000 tokens, more than the context of 4096\n"
            "  hint: leave --context out, or make it as long"},
           {"count small --dtype bf61", "--dtype: unknown data type 'bf61'\n  hint: did you mean 'bf16'?"},
           {"count small --kv-dtype int8", "--kv-dtype: unknown data type 'int8'\n  hint: known: fp32, bf16, fp16, fp8"},
           {"count small --vocab-multiple 0",
            "--vocab-multiple: '0' is not a positive number\n  hint: write e.g. --vocab-multiple 128"},
           {"count smelt-200m-e192 --loop midle",
            "--loop: cannot use the loop 'midle': expected a loop, found 'midle'\n"
            "  hint: a loop is none, middle, middle:1/3x4, all x4, 4-9x2 (layers 4 to 9 twice), 3+6x2+3 or each x2"},
           {"count smelt-200m-e192 --loop 3+6x0+3",
            "--loop: cannot use the loop '3+6x0+3': 0 visits would leave the layers out\n"
            "  hint: x1 runs them once (no loop), x2 twice"},
           {"count smelt-200m-e192 --loop 3+60x2+3",
            "--loop: cannot use the loop '3+60x2+3': 3 + 60 + 3 are 66 layers, but the model has 12\n"
            "  hint: for example all x2"},
       })
    refuse(bad);
}

}  // namespace
