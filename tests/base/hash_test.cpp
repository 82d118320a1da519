// FNV-1a against published values.
//
// Source: test vectors of the algorithm's authors (RFC 9923, C code of appendix). Holds
// src/base/hash.cpp.
#include "base/hash.h"

#include <doctest/doctest.h>

TEST_CASE("FNV-1a, 64 bits: published values") {
  CHECK(isoloop::fnv1a("") == "cbf29ce484222325");
  CHECK(isoloop::fnv1a("a") == "af63dc4c8601ec8c");
  CHECK(isoloop::fnv1a("foobar") == "85944171f73967e8");
}
