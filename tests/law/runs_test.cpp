// Runs from files: which column is what, which rows are refused and why.
//
// Source: the ranges in law.h. Holds src/law/runs.cpp and the exclusion rules of select.cpp.
#include "law/support.h"

namespace isoloop::law {

using test::error_of;

namespace {

std::string message(const std::string& csv, const ColumnMap& map = {}) {
  return error_of([&] { read_runs(csv, "runs.csv", map); }).what();
}

}  // namespace

TEST_CASE("columns are found by their usual names") {
  const Runs runs =
      read_runs("F,D,S,L,C,run_id,step_fraction,N\n1e9,2e10,0.9,2.5,2e19,x,0.5,1e8\n", "f");
  REQUIRE(runs.rows.size() == 1);
  const Run& run = runs.rows[0];
  CHECK(run.flops == 1e9);
  CHECK(run.tokens == 2e10);
  CHECK(run.sparsity == 0.9);
  CHECK(run.loss == 2.5);
  CHECK(run.compute == 2e19);
  CHECK(run.cell == "x");
  CHECK(run.step_fraction == 0.5);
  CHECK(run.params == 1e8);
  CHECK(run.line == 2);
  CHECK(runs.columns.at(Column::flops) == "F");
}

TEST_CASE("columns are found by a map; JSON gives the same runs") {
  const ColumnMap map =
      parse_column_map("flops=x, tokens=y,sparsity=z,loss=bits,cell=who", "--map");
  const Runs csv = read_runs("who,x,y,z,bits\na,1e9,2e10,0.9,2.5\n", "f", map);
  const Runs json =
      read_runs(R"([{"who": "a", "x": 1e9, "y": 20000000000, "z": 0.9, "bits": "2.5"}])", "f", map);
  for (const Runs* runs : {&csv, &json}) {
    REQUIRE(runs->rows.size() == 1);
    CHECK(runs->rows[0].flops == 1e9);
    CHECK(runs->rows[0].tokens == 2e10);
    CHECK(runs->rows[0].loss == 2.5);
    CHECK(runs->rows[0].cell == "a");
  }
}

TEST_CASE("rows that are no runs are named with line and reason") {
  const Runs runs = read_runs(
      "F,D,S,L,step_fraction\n"
      "1e9,2e10,0.9,2.5,1\n"
      "1e9,2e10,0.9,nan,1\n"
      "1e9,2e10,0.9,,1\n"
      "1e9,0,0.9,2.5,1\n"
      "-1e9,2e10,0.9,2.5,1\n"
      "1e9,2e10,90,2.5,1\n"
      "1e9,2e10,1,2.5,1\n"
      "1e9,inf,0.9,2.5,1\n"
      "1e9,2e10,0.9,low,1\n"
      "1e9,2e10,0.9,2.5,1.5\n"
      "1e9,2e10,0.9\n"
      "1e9,,0.9,2.4,\n",
      "f");
  CHECK(runs.rows.size() == 2);
  std::string all;
  for (const Skipped& skipped : runs.skipped)
    all += std::to_string(skipped.line) + ": " + skipped.reason + "\n";
  CHECK(all ==
        "3: loss is NaN\n"
        "4: loss is empty\n"
        "5: tokens is 0; it must be positive\n"
        "6: flops is -1e+09; it must be positive\n"
        "7: sparsity is 90; it is a fraction, at least 0 and below 1\n"
        "8: sparsity is 1; it is a fraction, at least 0 and below 1\n"
        "9: tokens is infinite\n"
        "10: loss is 'low', not a number\n"
        "11: step_fraction is 1.5; it is a fraction, at most 1\n"
        "12: has 3 fields; the header has 5\n");
  CHECK(!runs.rows[1].tokens);
  CHECK(!runs.rows[1].step_fraction);
}

TEST_CASE("mistakes about columns are named") {
  CHECK(
      message("F,D\n1,2\n") ==
      "runs.csv: no column holds the loss\n  hint: name it with loss=COLUMN; the columns are F, D");
  CHECK(message("F,D,final_loss\n1,2,3\n", {{Column::loss, "finalloss"}}) ==
        "runs.csv: unknown column 'finalloss'\n  hint: did you mean 'final_loss'?");
  CHECK(message("F,flops,loss\n1,2,3\n") ==
        "runs.csv: columns 'flops' and 'F' may both be flops\n  hint: say which: flops=F");
  CHECK(message("F,loss\n0,3\n1,0\n") ==
        "runs.csv: no row can be used\n  hint: line 2: flops is 0; it must be positive");
  CHECK(message("F,loss\n") == "runs.csv: no row can be used\n  hint: there are no rows");
}

TEST_CASE("mistakes in a column map are named") {
  const auto of = [](const char* text) {
    return std::string(error_of([&] { parse_column_map(text, "--map"); }).what());
  };
  CHECK(of("flop=F") == "--map: unknown quantity 'flop'\n  hint: did you mean 'flops'?");
  CHECK(of("flops") == "--map: 'flops' is no assignment\n  hint: write name=value");
  CHECK(of("flops=F,,loss=L") == "--map: an item of the list is empty");
  CHECK(of("flops=F,flops=G") == "--map: flops is given twice");
}

TEST_CASE("exclusion rules are read, and written back") {
  for (const char* rule : {"loss > 4", "loss >= 4", "sparsity <= 0", "tokens < 1e+10", "loss = 2"})
    CHECK(text(parse_exclusion(rule, "")) == rule);
  CHECK(text(parse_exclusion("sparsity<=0", "")) == "sparsity <= 0");
  const auto of = [](const char* rule) {
    return std::string(error_of([&] { parse_exclusion(rule, "--exclude"); }).what());
  };
  CHECK(of("sparsity") ==
        "--exclude: 'sparsity' is no rule\n  hint: write a quantity, one of < <= = >= >, and a "
        "number: sparsity<=0");
  CHECK(of("loss>x") == "--exclude: 'x' is no number");
  CHECK(of("lss>3") == "--exclude: unknown quantity 'lss'\n  hint: did you mean 'loss'?");
  CHECK(of("cell=3") == "--exclude: cell is text and has no order");
}

}  // namespace isoloop::law
