// The nearest name, and the error for an unknown one.
//
// Source: optimal string alignment distance counted by hand. Holds src/base/nearest.cpp.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "isoloop/base.h"

namespace isoloop {
namespace {

const std::vector<std::string>& conventions() {
  static const std::vector<std::string> names{"smelt", "kaplan", "chinchilla", "megatron"};
  return names;
}

}  // namespace

TEST_CASE("nearest name allows a third of the letters to differ") {
  CHECK(nearest("smelt", conventions()) == "smelt");
  CHECK(nearest("smlet", conventions()) == "smelt");    // neighbours swapped
  CHECK(nearest("smel", conventions()) == "smelt");     // one missing
  CHECK(nearest("smeltt", conventions()) == "smelt");   // one too many
  CHECK(nearest("Kaplan", conventions()) == "kaplan");  // case
  CHECK(nearest("CHINCHILA", conventions()) == "chinchilla");
  CHECK(nearest("megatorn", conventions()) == "megatron");
  CHECK(nearest("palm", conventions()) == "");
  CHECK(nearest("", conventions()) == "");
  CHECK(nearest("smelt", {}) == "");
}

TEST_CASE("nearest name takes the closest, then the first") {
  const std::vector<std::string> gpus{"h100", "h200", "a100", "b200"};
  CHECK(nearest("h20", gpus) == "h200");
  CHECK(nearest("h300", gpus) == "h100");  // as close as h200
  CHECK(nearest("x", std::vector<std::string>{"y"}) == "");
}

TEST_CASE("unknown name tells the nearest or the whole list") {
  const Error near = unknown_name(ErrorKind::usage, "convention", "smlet", conventions(), "--as");
  CHECK(near.kind == ErrorKind::usage);
  CHECK(std::string(near.what()) ==
        "--as: unknown convention 'smlet'\n  hint: did you mean 'smelt'?");
  const Error far = unknown_name(ErrorKind::input, "convention", "x", conventions(), "");
  CHECK(far.kind == ErrorKind::input);
  CHECK(std::string(far.what()) ==
        "unknown convention 'x'\n  hint: known: smelt, kaplan, chinchilla, megatron");
  CHECK(unknown_name(ErrorKind::input, "gpu", "x", {}, "").hint.empty());
}

}  // namespace isoloop
