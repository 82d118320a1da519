// Bad runs on the command line of isoloop fit: each with its whole message.
//
// Source: what a law needs of its rows (src/law/select.h). Rows that cannot be used are named and
// left out; rows that leave a coefficient unknown are refused.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>

#include "support/run_cli.h"

namespace {

using isoloop::test::run_cli;

double loss(double f, double s, double d) {
  return 1.4439 + 1.366e3 * std::pow(1 - s, 0.1530) / std::pow(f, 0.3703) +
         1.975e6 / std::pow(d, 0.6594);
}

/// Rows on a grid of the law above.
std::string rows(const std::vector<double>& flops, const std::vector<double>& sparsities,
                 const std::vector<double>& tokens) {
  std::string text = "F,D,S,L,cell\n";
  for (const double f : flops)
    for (const double s : sparsities)
      for (const double d : tokens)
        text += fmt::format("{},{},{},{:.12f},{}-{}\n", f, d, s, loss(f, s, d), f, s);
  return text;
}

std::string good() { return rows({1e8, 1e9, 1e10}, {0.85, 0.95}, {1e10, 3e10, 1e11}); }

std::string refused(const std::string& text, std::vector<std::string> more = {}) {
  std::vector<std::string> args = {"fit", "-", "--draws", "0"};
  args.insert(args.end(), more.begin(), more.end());
  const auto ran = run_cli(args, text);
  CHECK(ran.code() == 2);
  CHECK(ran.out == "");
  return ran.err;
}

/// The lines of the answer that speak of rows.
std::string accepted(const std::string& text) {
  const auto ran =
      run_cli({"fit", "-", "--draws", "0", "--size-meaning", "all", "--format", "md"}, text);
  CHECK(ran.code() == 0);
  CHECK(ran.err == "");
  std::string out, line;
  for (std::istringstream lines(ran.out); std::getline(lines, line);)
    if (line.starts_with("- rows") || line.starts_with("- skipped") || line.starts_with("Warning"))
      out += line + "\n";
  return out;
}

TEST_CASE("NaN, infinite, empty and non-positive values: the row is left out and named") {
  CHECK(accepted(good()) == "- rows: 18 used, 0 skipped\n");
  CHECK(accepted(good() +
                 "1e9,1e10,0.9,nan,x\n1e9,inf,0.9,2.5,x\n1e9,1e10,0.9,,x\n"
                 "0,1e10,0.9,2.5,x\n1e9,-1e10,0.9,2.5,x\n1e9,1e10,1,2.5,x\n"
                 "1e9,1e10,95,2.5,x\n1e9,1e10,0.9,0,x\n1e9,1e10,0.9,low,x\n1e9,,0.9,2.5,x\n") ==
        "- rows: 18 used, 10 skipped\n"
        "- skipped: line 20: loss is NaN\n"
        "- skipped: line 21: tokens is infinite\n"
        "- skipped: line 22: loss is empty\n"
        "- skipped: line 23: flops is 0; it must be positive\n"
        "- skipped: line 24: tokens is -1e+10; it must be positive\n"
        "- skipped: line 25: sparsity is 1; it is a fraction, at least 0 and below 1\n"
        "- skipped: line 26: sparsity is 95; it is a fraction, at least 0 and below 1\n"
        "- skipped: line 27: loss is 0; it must be positive\n"
        "- skipped: line 28: loss is 'low', not a number\n"
        "- skipped: line 29: tokens is empty\n"
        "Warning: 10 rows cannot be used (first: line 20, loss is NaN)\n");
  CHECK(refused("F,D,S,L\n1e9,1e10,0.9,nan\n1e9,1e10,0.9,0\n") ==
        "isoloop: standard input: no row can be used\n  hint: line 2: loss is NaN\n");
}

TEST_CASE("missing columns") {
  CHECK(refused("F,D,S\n1e9,1e10,0.9\n") ==
        "isoloop: standard input: no column holds the loss\n"
        "  hint: name it with loss=COLUMN; the columns are F, D, S\n");
  CHECK(
      refused("D,S,L\n1e10,0.9,2.5\n") ==
      "isoloop: standard input: no column holds flops (F), which L = E + A (1-S)^b / F^a + K / D^c "
      "needs\n  hint: name it with flops=COLUMN\n");
  CHECK(
      refused("F,D,L\n1e9,1e10,2.5\n") ==
      "isoloop: standard input: no column holds sparsity (S), which L = E + A (1-S)^b / F^a + K / "
      "D^c needs\n  hint: name it with sparsity=COLUMN\n");
  CHECK(
      refused(good(), {"--form", "chinchilla"}) ==
      "isoloop: standard input: no column holds params (N), which L = E + A / N^alpha + B / D^beta "
      "needs\n  hint: name it with params=COLUMN\n");
  CHECK(refused(good(), {"--map", "loss=val"}) ==
        "isoloop: standard input: unknown column 'val'\n  hint: known: F, D, S, L, cell\n");
  CHECK(refused("") == "isoloop: standard input: is empty; expected runs\n");
}

TEST_CASE("one value on an axis: the term is refused by name") {
  CHECK(
      refused(rows({1e8, 3e8, 1e9, 3e9, 1e10}, {0.85, 0.95}, {1e10})) ==
      "isoloop: standard input: tokens (D) has one value, 1e+10, in all 10 rows: the term K / D^c "
      "cannot be fitted\n  hint: leave the data term out, or pin its coefficients\n");
  CHECK(refused(rows({1e9}, {0.85, 0.9, 0.95}, {1e10, 3e10, 1e11})) ==
        "isoloop: standard input: flops (F) has one value, 1e+09, in all 9 rows: the term A / F^a "
        "cannot be fitted\n  hint: leave the size term out, or pin its coefficients\n");
  CHECK(refused(rows({1e8, 1e9, 1e10}, {0.95}, {1e10, 3e10, 1e11})) ==
        "isoloop: standard input: sparsity (S) has one value, 0.95, in all 9 rows: the factor "
        "(1-S)^b cannot be fitted\n"
        "  hint: leave the sparsity factor out, or pin its coefficients\n");
  // What the hint says works.
  CHECK(run_cli({"fit", "-", "--draws", "0", "--without", "sparsity"},
                rows({1e8, 1e9, 1e10}, {0.95}, {1e10, 3e10, 1e11}))
            .code() == 0);
}

TEST_CASE("fewer rows than coefficients") {
  CHECK(
      refused(rows({1e8, 1e9}, {0.85}, {1e10, 1e11})) ==
      "isoloop: standard input: 4 rows at 4 different points can be used; L = E + A (1-S)^b / F^a "
      "+ K / D^c has 6 free coefficients\n  hint: pin coefficients or leave terms out\n");
  const std::string four = rows({1e8}, {0.85, 0.95}, {1e10, 1e11});
  CHECK(
      refused(four + four.substr(four.find('\n') + 1)) ==
      "isoloop: standard input: 8 rows at 4 different points can be used; L = E + A (1-S)^b / F^a "
      "+ K / D^c has 6 free coefficients\n  hint: pin coefficients or leave terms out\n");
  CHECK(
      refused(good(), {"--drop-highest", "14"}) ==
      "isoloop: standard input: 4 rows at 4 different points can be used; L = E + A (1-S)^b / F^a "
      "+ K / D^c has 6 free coefficients\n  hint: pin coefficients or leave terms out\n");
}

TEST_CASE("duplicate rows are counted and warned of") {
  const std::string text = good();
  const std::string first =
      text.substr(text.find('\n') + 1, text.find('\n', text.find('\n') + 1) - text.find('\n'));
  CHECK(accepted(text + first + first) ==
        "- rows: 20 used, 0 skipped\n"
        "Warning: 2 rows repeat another one (first: lines 2 and 20): each counts again\n");
}

std::string refused_with_draws(const std::string& option, const std::string& value) {
  const auto ran = run_cli({"fit", "-", "--draws", "2", option, value}, good());
  CHECK(ran.code() == 2);
  return ran.err;
}

TEST_CASE("options that cannot be") {
  CHECK(
      refused(good(), {"--delta", "1e-3,1e-2"}) ==
      "isoloop: --delta: takes one value\n  hint: --deltas 1e-3,1e-2 sets several side by side\n");
  CHECK(refused(good(), {"--form", "sigmiod"}) ==
        "isoloop: --form: unknown form 'sigmiod'\n  hint: did you mean 'sigmoid'?\n");
  CHECK(refused(good(), {"--penalty", "l1", "--deltas", "1e-3"}) ==
        "isoloop: --deltas: only the Huber loss has a delta\n");
  CHECK(refused(good(), {"--delta", "0"}) ==
        "isoloop: --delta: '0' is not a positive number\n"
        "  hint: write e.g. 1e-3: a deviation of 0.1 % of the loss\n");
  CHECK(
      refused(good(), {"--drops", "15"}) ==
      "isoloop: --drops: without the 15 highest losses 3 rows are left; 6 coefficients are free\n");
  const std::pair<const char*, const char*> numbers[] = {{"--threads", "1 to 1024"},
                                                         {"--seed", "0 to 9223372036854775807"},
                                                         {"--drop-highest", "0 to 1000000000"}};
  for (const auto& [option, range] : numbers)
    for (const char* value : {"-1", "1.5", "99999999999999999999"})
      if (std::string(option) != "--seed" || value[0] != '1')
        CHECK(
            refused_with_draws(option, value) ==
            fmt::format("isoloop: {}: '{}' is not a whole number from {}\n", option, value, range));
  CHECK(run_cli({"fit", "-", "--draws", "-5"}, good()).err ==
        "isoloop: --draws: '-5' is not a whole number from 0 to 1000000\n");
  std::string no_cells;
  std::istringstream lines(good());
  for (std::string line; std::getline(lines, line);)
    no_cells += line.substr(0, line.rfind(',')) + "\n";
  CHECK(refused(no_cells, {"--by", "cell", "--leave-one-out"}) ==
        "isoloop: --leave-one-out: rows without a cell cannot be resampled by cell\n"
        "  hint: name the column with cell=COLUMN, or resample rows\n");
}

}  // namespace
