// The text and kind of errors.
//
// Source: the contract in base.h. Holds src/base/error.cpp.
#include <doctest/doctest.h>

#include <exception>
#include <string>

#include "isoloop/base.h"

namespace isoloop {

TEST_CASE("error text has the place, the message and the hint, each only if there is one") {
  CHECK(std::string(input_error("missing key").what()) == "missing key");
  CHECK(std::string(input_error("missing key", "model.json: layers").what()) ==
        "model.json: layers: missing key");
  CHECK(std::string(input_error("missing key", "", "add \"layers\"").what()) ==
        "missing key\n  hint: add \"layers\"");
  CHECK(std::string(usage_error("unknown option", "--tol", "did you mean '--to'?").what()) ==
        "--tol: unknown option\n  hint: did you mean '--to'?");
}

TEST_CASE("error keeps its parts and its kind") {
  const Error error = input_error("bad", "here", "good");
  CHECK(error.kind == ErrorKind::input);
  CHECK(error.message == "bad");
  CHECK(error.where == "here");
  CHECK(error.hint == "good");
  CHECK(usage_error("bad").kind == ErrorKind::usage);
  CHECK(internal_error("bad").kind == ErrorKind::internal);
}

TEST_CASE("error is caught as std::exception and survives a copy") {
  std::string text;
  try {
    const Error original = input_error("bad", "here");
    throw original;
  } catch (const std::exception& caught) {
    text = caught.what();
  }
  CHECK(text == "here: bad");
}

}  // namespace isoloop
