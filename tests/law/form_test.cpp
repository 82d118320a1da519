// Forms: names, equations, left-out terms, pins; numbers as printed.
//
// Source: the equations of arXiv 2609.01343 and 2203.15556. Holds src/law/form.cpp, numbers.cpp.
#include "law/numbers.h"
#include "law/support.h"

namespace isoloop::law {

using test::error_of;

TEST_CASE("equation names what is fitted and writes what is pinned") {
  Form form = parse_form("smelt", "--form");
  CHECK(equation(form) == "L = E + A (1-S)^b / F^a + K / D^c");
  CHECK(equation(parse_form("chinchilla", "--form")) == "L = E + A / N^alpha + B / D^beta");
  leave_out(form, "sparsity", "--without");
  pin(form, "E=1.45", "--pin");
  CHECK(equation(form) == "L = 1.45 + A / F^a + K / D^c");
  leave_out(form, "data", "--without");
  leave_out(form, "floor", "--without");
  CHECK(equation(form) == "L = A / F^a");
}

TEST_CASE("coefficients that exist and that are free") {
  using enum Coefficient;
  Form form = parse_form("smelt", "");
  CHECK(free_coefficients(form) == std::vector{E, A, K, a, b, c});
  pin(form, "b=0.15", "");
  CHECK(coefficients_of(form) == std::vector{E, A, K, a, b, c});
  CHECK(free_coefficients(form) == std::vector{E, A, K, a, c});
  CHECK(free_coefficients(parse_form("chinchilla", "")) == std::vector{E, A, K, a, c});
  const Form shared = share_exponents(parse_form("smelt", ""), test::baseline_coefficients());
  CHECK(free_coefficients(shared) == std::vector{E, A, K});
  CHECK(shared.pinned[3] == 0.3703);
  CHECK(shared.pinned[4] == 0.1530);
  CHECK(shared.pinned[5] == 0.6594);
  CHECK(!share_exponents(parse_form("chinchilla", ""), test::baseline_coefficients()).pinned[4]);
}

TEST_CASE("mistakes in a form are named with what is right") {
  Form form = parse_form("chinchilla", "");
  CHECK(std::string(error_of([] { parse_form("chinchila", "--form"); }).what()) ==
        "--form: unknown form 'chinchila'\n  hint: did you mean 'chinchilla'?");
  CHECK(std::string(error_of([&] { leave_out(form, "dat", "--without"); }).what()) ==
        "--without: unknown term 'dat'\n  hint: did you mean 'data'?");
  CHECK(std::string(error_of([&] { pin(form, "K=3", "--pin"); }).what()) ==
        "--pin: unknown coefficient 'K'\n  hint: known: E, A, B, alpha, beta");
  CHECK(std::string(error_of([&] { pin(form, "beta", "--pin"); }).what()) ==
        "--pin: 'beta' is no assignment\n  hint: write name=value");
  CHECK(std::string(error_of([&] { pin(form, "beta=x", "--pin"); }).what()) ==
        "--pin: 'x' is no number");
  CHECK(std::string(error_of([&] { pin(form, "beta=inf", "--pin"); }).what()) ==
        "--pin: 'inf' is no number");
  CHECK(std::string(error_of([&] { pin(form, "E=0", "--pin"); }).what()) ==
        "--pin: E must be positive, not 0\n  hint: leave the term out instead");
  leave_out(form, "floor", "");
  CHECK(std::string(error_of([&] { pin(form, "E=1", "--pin"); }).what()) ==
        "--pin: E is in a term that is left out");
  CHECK(error_of([] { parse_form("", ""); }).kind == ErrorKind::usage);
}

TEST_CASE("penalties and stop reasons have names") {
  CHECK(parse_penalty("huber", "") == Penalty::huber);
  CHECK(parse_penalty("l1", "") == Penalty::l1);
  CHECK(parse_penalty("l2", "") == Penalty::l2);
  CHECK(name(Penalty::l1) == "l1");
  CHECK(name(StopReason::gradient) == "gradient");
  CHECK(name(StopReason::iterations) == "iterations");
  CHECK(std::string(error_of([] { parse_penalty("huver", "--penalty"); }).what()) ==
        "--penalty: unknown penalty 'huver'\n  hint: did you mean 'huber'?");
}

TEST_CASE("numbers are read whole and independent of the locale") {
  using detail::parse_number;
  CHECK(parse_number("1.366e3") == 1366.0);
  CHECK(parse_number(" +2 ") == 2.0);
  CHECK(parse_number("-0.5") == -0.5);
  CHECK(std::isnan(parse_number("NaN").value()));
  for (const char* bad : {"", " ", "1,5", "1.5x", "0x10", "--1", "+-1", "1e999"}) {
    CAPTURE(bad);
    CHECK(!parse_number(bad));
  }
}

TEST_CASE("half a unit of the last printed digit") {
  using detail::half_unit;
  CHECK(half_unit("1.366e3") == doctest::Approx(0.5));
  CHECK(half_unit("1.975e6") == doctest::Approx(500));
  CHECK(half_unit("0.3703") == doctest::Approx(5e-5));
  CHECK(half_unit("0.1530") == doctest::Approx(5e-5));
  CHECK(half_unit("1366") == doctest::Approx(0.5));
  CHECK(half_unit("2E-3") == doctest::Approx(5e-4));
}

TEST_CASE("numbers are written so that they read back") {
  for (const double value : {0.1, 1.0 / 3, 1.975e6, 2.2e21, 5e-324})
    CHECK(detail::parse_number(detail::number_text(value)) == value);
  CHECK(detail::number_text(1.0 / 3, 4) == "0.3333");
}

}  // namespace isoloop::law
