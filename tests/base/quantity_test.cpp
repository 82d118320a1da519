// Quantities: what adds, what does not compile, and the named conversions.
//
// Source: design rule "same kind adds"; IEEE 754 and OFP8 widths. Holds Quantity in base.h and
// src/base/quantity.cpp.
#include <doctest/doctest.h>

#include <concepts>
#include <string>

#include "isoloop/base.h"
#include "support/numbers.h"

namespace isoloop {
namespace {

using test::error_of;

template <class A, class B>
concept adds = requires(A a, B b) {
  a + b;
};
template <class A, class B>
concept multiplies = requires(A a, B b) {
  a* b;
};
template <class A, class B>
concept compares = requires(A a, B b) {
  a < b;
};

static_assert(adds<Params, Params> && adds<Flops, Flops> && compares<Bytes, Bytes>);
static_assert(!adds<Params, Flops> && !adds<Macs, Flops> && !adds<Bytes, Elements>);
static_assert(!adds<Params, Int> && !adds<Flops, Ratio> && !compares<Params, Tokens>);
static_assert(multiplies<Ratio, Flops> && !multiplies<Flops, Flops> && !multiplies<Params, Params>);
static_assert(!std::convertible_to<Int, Params> && !std::convertible_to<Macs, Flops>);

}  // namespace

TEST_CASE("quantity of one kind adds, scales and compares") {
  Params params(7);
  params += Params(5);
  CHECK(params.value() == 12);
  CHECK((params - Params(2)).value() == 10);
  CHECK((Int(3) * params).value() == 36);
  CHECK((Ratio(1, 2) * Flops(Ratio(7))).value() == Ratio(7, 2));
  CHECK(Params(1) < Params(2));
  CHECK(Bytes(Ratio(1, 3)) > Bytes(Ratio(1, 4)));
  CHECK(Tokens() == Tokens(0));
}

TEST_CASE("one multiply-accumulate is two operations") {
  CHECK(flops(Macs(Ratio(21))).value() == 42);
  CHECK(flops(Macs(Ratio(1, 2))).value() == 1);
}

TEST_CASE("data type widths and names") {
  CHECK(bytes(Params(1000), DType::fp32).value() == 4000);
  CHECK(bytes(Params(1000), DType::bf16).value() == 2000);
  CHECK(bytes(Elements(Ratio(3, 2)), DType::fp16).value() == 3);
  CHECK(bytes(Elements(Ratio(3, 2)), DType::fp8).value() == Ratio(3, 2));
  for (const DType dtype : {DType::fp32, DType::bf16, DType::fp16, DType::fp8}) {
    CHECK(parse_dtype(name(dtype), "--dtype") == dtype);
  }
}

TEST_CASE("data type that is unknown") {
  CHECK(std::string(error_of([] { parse_dtype("fp61", "--dtype"); }).what()) ==
        "--dtype: unknown data type 'fp61'\n  hint: did you mean 'fp16'?");
  CHECK(error_of([] { parse_dtype("int4", ""); }).hint == "known: fp32, bf16, fp16, fp8");
}

}  // namespace isoloop
