// law: scaling laws of the loss: fit them, say how sure they are, and use them.
//
//   smelt       L = E + A (1-S)^b / F^a + K / D^c      (arXiv 2609.01343)
//   chinchilla  L = E + A / N^alpha + B / D^beta       (arXiv 2203.15556)
//
// L loss in nats per token, F training FLOPs per token, S sparsity as a fraction, D training
// tokens, N parameters, C training FLOPs: C = F D, or 6 N D for chinchilla. A law knows nothing
// else about a model. Everything here is double; nothing flows back into counting.
//
// Each way in which such fits are known to go wrong has a guard here and a Warning with its text.
// All functions throw Error (kind input for data, usage for options). Results are the same for any
// number of threads. Held by tests/law/*_test.cpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "isoloop/base.h"

namespace isoloop::law {

// ---- Forms -------------------------------------------------------------------------------------
enum class Family { smelt, chinchilla };
/// In chinchilla K is B, a is alpha and c is beta; b does not exist.
enum class Coefficient { E, A, K, a, b, c };
inline constexpr std::size_t coefficient_count = 6;
inline constexpr std::array<Coefficient, coefficient_count> all_coefficients = {
    Coefficient::E, Coefficient::A, Coefficient::K, Coefficient::a, Coefficient::b, Coefficient::c};
/// One value per coefficient, 0 where a form has none.
struct Coefficients {
  std::array<double, coefficient_count> values{};
  double& operator[](Coefficient which) { return values[static_cast<std::size_t>(which)]; }
  double operator[](Coefficient which) const { return values[static_cast<std::size_t>(which)]; }
  bool operator==(const Coefficients&) const = default;
};
/// Terms: floor E, size A / F^a with its factor (1-S)^b (sparsity), data K / D^c.
struct Form {
  Family family = Family::smelt;
  bool floor = true, size = true, sparsity = true, data = true;
  std::array<std::optional<double>, coefficient_count> pinned;  // by coefficient
  bool operator==(const Form&) const = default;
};
/// "smelt" or "chinchilla", and their names.
Form parse_form(std::string_view name, std::string_view where);
std::string_view name(Family family);
/// "E", "A", "K", "a", "b", "c"; for chinchilla "E", "A", "B", "alpha", "beta".
std::string_view name(Family family, Coefficient which);
Coefficient parse_coefficient(Family family, std::string_view name, std::string_view where);
/// Leaves out "floor", "size", "sparsity" or "data".
void leave_out(Form& form, std::string_view term, std::string_view where);
/// Pins a coefficient: "E=1.45". A, K and E must be positive.
void pin(Form& form, std::string_view assignment, std::string_view where);
/// a, b, c pinned to those of another fit: E, A and K are refitted, per data category say.
Form share_exponents(Form form, const Coefficients& fitted);
/// Coefficients that exist in the form, and those of them that are fitted.
std::vector<Coefficient> coefficients_of(const Form& form);
std::vector<Coefficient> free_coefficients(const Form& form);
/// "L = E + A (1-S)^b / F^a + K / D^c", pinned values written in.
std::string equation(const Form& form);

// ---- Runs --------------------------------------------------------------------------------------
/// F; N; D; S, a fraction below 1; L; C of the run, only checked against F D (or 6 N D); place in
/// the learning-rate schedule (step_fraction, or step and total_steps), only checked; the result of
/// a benchmark, any finite number; as text which rows belong together (one training run, one
/// configuration), and an architecture, which is left to the caller.
// clang-format off
enum class Column {
  flops, params, tokens, sparsity, loss, compute, step_fraction, step, total_steps, value, cell, arch
};
// clang-format on
/// Column of the table by name in the file.
using ColumnMap = std::map<Column, std::string>;
struct Run {
  std::optional<double> flops, params, tokens, sparsity, compute, step_fraction, value;
  double loss = 0;
  std::string cell, arch;
  std::size_t line = 0;  // where it begins in the file, 1-based
};
struct Skipped {
  std::size_t line = 0;
  std::string reason;
};
struct Runs {
  std::string file;
  std::vector<Run> rows;
  std::vector<Skipped> skipped;  // rows that are no runs, by line
  ColumnMap columns;             // which column of the file was taken for what
};
/// "flops=F,tokens=D,sparsity=S,loss=L,cell=run_id".
ColumnMap parse_column_map(std::string_view text, std::string_view where);
/// Reads CSV (RFC 4180, with a header line), a JSON array of objects, or JSON Lines; recognised by
/// content. Columns not in `map` are found by their usual names (flops, F, tokens, D, ...). Needs
/// `loss`; fit() checks for the others. A row with a value that is no number, not finite or out of
/// range is left out and named in `skipped`.
Runs read_runs(std::string_view text, std::string_view file, const ColumnMap& map = {});
/// A rule that leaves rows out, "sparsity<=0" or "loss>4"; named in the result.
struct Exclusion {
  enum class Op { less, at_most, equal, at_least, greater };
  Column column = Column::loss;
  Op op = Op::equal;
  double value = 0;
};
Exclusion parse_exclusion(std::string_view text, std::string_view where);
std::string text(const Exclusion& rule);
struct Interval {
  double low = 0, high = 0;
  bool operator==(const Interval&) const = default;
};
using Range = Interval;
/// Ranges of the rows a law was fitted on. All 0 if unknown.
struct Window {
  Range compute, size /* F or N */, tokens, sparsity, loss;
  bool operator==(const Window&) const = default;
};
/// docs/laws.md has the cause, the words and the remedy of each.
// clang-format off
enum class WarningKind {
  few_starts, second_basin, not_converged, ill_conditioned, nearly_l1, vanished_term, odd_exponent,
  duplicates, repeated_points, size_unnamed, compute_mismatch, inside_schedule, units, skipped_rows,
  delta_matters, high_leverage, no_cells, few_cells, failed_draws, rounded, extrapolated,
  target_floor, never_reached, unpaired
};
// clang-format on
struct Warning {
  WarningKind kind{};
  std::string text;
};
/// Called with what is done and the total, always on the calling thread.
using Progress = std::function<void(std::size_t done, std::size_t total)>;

// ---- Fit ---------------------------------------------------------------------------------------
/// Of r = log predicted - log observed. huber: r^2/2 inside delta, delta (|r| - delta/2) outside;
/// l1: |r|; l2: r^2/2.
enum class Penalty { huber, l1, l2 };
Penalty parse_penalty(std::string_view name, std::string_view where);
std::string_view name(Penalty penalty);
/// Starting values by coefficient; every combination is a start. No values: the default exponents,
/// and for E, A, K their least-squares values given the exponents of the start.
struct StartGrid {
  std::array<std::vector<double>, coefficient_count> values;
};
/// The 4,500 starts of arXiv 2203.15556, D.3: log E -1..1, log A and log B 0..25, exponents 0..2.
StartGrid chinchilla_starts();
struct FitOptions {
  Penalty penalty = Penalty::huber;
  double delta = 1e-3;  // in log-loss: 1e-3 is a deviation of 0.1 % of the loss
  StartGrid starts;
  std::vector<Exclusion> exclude;
  std::size_t drop_highest_loss = 0;
  std::string size_meaning;               // which F or N, e.g. "active, non-embedding parameters"
  int threads = 1, max_iterations = 200;  // iterations per start
  double tolerance = 1e-8;                // of the relative gradient
  Progress progress;
};
/// The relative gradient is below the tolerance; no step lowers the objective in double precision;
/// a term is nothing in every row and does not come back; the iteration limit.
enum class StopReason { gradient, precision, vanished, iterations };
std::string_view name(StopReason reason);
/// converged: stopped before the iteration limit; reached: ended at the best optimum, with the same
/// coefficients and an objective within 1e-6; dead: ended where a term has vanished.
struct Starts {
  std::size_t tried = 0, converged = 0, reached = 0, dead = 0;
};
/// The best optimum with other coefficients than the best, and how many starts ended there.
struct SecondBasin {
  double objective = 0;
  Coefficients coefficients;
  std::size_t reached = 0;
};
struct Excluded {
  std::string rule;
  std::size_t rows = 0;
};
struct Residual {
  std::size_t line = 0;
  double observed = 0, predicted = 0, log_ratio = 0;  // nats; log predicted - log observed
};
/// C of the runs against F D (or 6 N D): rows with a C, rows more than 5 % off, and the largest
/// relative difference with its line.
struct ComputeCheck {
  std::size_t rows = 0, above = 0, line = 0;
  double worst = 0;
};
struct Fit {
  Form form;
  FitOptions options;  // as asked for
  Coefficients coefficients;
  std::size_t rows = 0;                 // used
  double objective = 0, rmse_nats = 0;  // objective: the sum over rows
  double inside_delta = 1;              // share of the residuals inside delta
  double gradient_norm = 0;             // Euclidean, by the centred parameters
  double relative_gradient = 0;  // largest component over the sum of |d penalty / d residual|
  int iterations = 0;            // of the best start, its restart included
  StopReason stop = StopReason::gradient;
  Starts starts;
  std::optional<SecondBasin> second_basin;
  double condition = 1, condition_raw = 1;  // J'J centred; in (log E, log A, log K, a, b, c)
  std::vector<Coefficient> free;
  std::vector<std::vector<double>> correlations;  // of the free coefficients, from J'J
  std::optional<ComputeCheck> compute_check;
  Window window;
  std::vector<Excluded> excluded;
  std::vector<Skipped> skipped;
  std::vector<Residual> residuals;  // by row
  std::vector<Run> used;            // the rows of the fit
  std::vector<Warning> warnings;
};
/// Throws Error (kind input) if a column is missing, fewer rows than free coefficients can be
/// used, or the rows cannot tell a coefficient (one value on an axis); the term is named.
Fit fit(const Runs& runs, const Form& form, const FitOptions& options = {});

// ---- How sure ----------------------------------------------------------------------------------
/// Refits of resampled rows. Draw i picks the same units in every table with as many of them, so
/// two laws with the same cells have paired draws.
struct Draws {
  bool by_cell = true;
  std::uint64_t seed = 0;
  std::vector<std::string> units;  // cell names in order; empty when rows were resampled
  std::vector<Coefficients> values;
  std::size_t failed = 0;  // did not converge; not among the values
  std::vector<Warning> warnings;
};
enum class Resample { automatic /* by cell if the runs have cells */, cell, row };
struct BootstrapOptions {
  std::size_t draws = 2000;
  Resample by = Resample::automatic;
  std::uint64_t seed = 1;
  int threads = 1;
  Progress progress;
};
Draws bootstrap(const Fit& fit, const BootstrapOptions& options = {});
/// The central `level` of the values, linear between order statistics; and by coefficient.
Interval percentile(std::vector<double> values, double level = 0.95);
std::array<Interval, coefficient_count> intervals(const Draws& draws, double level = 0.95);
/// A refit with something left out or changed.
struct Refit {
  std::string what;  // a cell, "line 12", "5 highest losses", "delta 0.0001"
  std::size_t rows = 0;
  Coefficients coefficients;
  double objective = 0;
};
struct Sensitivity {
  std::vector<Refit> refits;
  std::vector<Warning> warnings;
};
/// Leaves out one cell (or row) at a time.
Sensitivity leave_one_out(const Fit& fit, Resample by = Resample::automatic, int threads = 1);
/// Leaves out the rows of highest loss; warns when an exponent moves by more than 10 %.
Sensitivity drop_highest(const Fit& fit, std::span<const std::size_t> counts);
/// Refits with delta / 10, delta and 10 delta, from all starts; warns when a coefficient leaves
/// its interval. Huber only. `deltas` replaces the three.
Sensitivity delta_sensitivity(const Fit& fit,
                              const std::array<Interval, coefficient_count>& intervals,
                              std::span<const double> deltas = {});

// ---- Laws --------------------------------------------------------------------------------------
struct Law {
  std::string name;
  Form form;
  Coefficients coefficients;
  Coefficients half_units;  // half a unit of the last printed digit; 0 for exact
  std::string source, size_meaning;
  Window window;
  std::optional<Draws> draws;
};
bool is_rounded(const Law& law);
Law law_of(const Fit& fit, std::string name, std::optional<Draws> draws = std::nullopt);
/// JSON, schema "isoloop/law/v1" (data/schemas/law.schema.json); numbers with all their digits.
/// read_law() also takes a result whose field "law" is one, such as that of a fit.
std::string write_law(const Law& law);
Law read_law(std::string_view text, std::string_view file);
/// "E=1.4439,A=1.366e3,K=1.975e6,a=0.3703,b=0.153,c=0.6594": coefficients copied from print; half
/// units follow from the digits written.
Law parse_law(Family family, std::string_view text, std::string_view where);
/// The laws compiled in ("baseline", "smelt"), and one of them by name.
std::vector<Law> built_in_laws();
Law built_in_law(std::string_view name, std::string_view where);
/// Predicted loss in nats. `size` is F, for chinchilla N; S is ignored where the form has none.
double loss(const Law& law, double size, double sparsity, double tokens);
/// "a of baseline", and how the answer changes with half a unit more.
struct RoundingLine {
  std::string coefficient;
  double half_unit = 0, change = 0;
};
/// What rounding does to an answer computed from laws; total: the sum of |change|.
struct Rounding {
  double value = 0, total = 0;
  std::vector<RoundingLine> lines;
};
Rounding rounding(std::span<const Law> laws,
                  const std::function<double(std::span<const Law>)>& answer);

// ---- Frontier and allocation -------------------------------------------------------------------
/// The best F and D for a budget: F* = (a A (1-S)^b C^c / (c K))^(1/(a+c)), D* = C/F*.
struct FrontierPoint {
  double compute = 0, sparsity = 0;
  double flops_per_token = 0, params = 0;             // F*; F*/6, for chinchilla N*
  double tokens = 0, loss = 0, tokens_per_param = 0;  // D*; L*; TPP = D* / (F*/6)
  double over_window = 0;                             // C / C_max, 0 if the window is unknown
  bool extrapolated = false;
  std::optional<Interval> flops_interval, tokens_interval, loss_interval, tokens_per_param_interval;
};
struct Frontier {
  double gamma = 0;  // L* = E + prefactor C^-gamma, gamma = a c / (a + c)
  std::optional<Interval> gamma_interval;
  std::vector<FrontierPoint> points;
  std::vector<Warning> warnings;
};
/// Throws if the law has no interior optimum: a term is missing, an exponent is not positive.
Frontier frontier(const Law& law, double sparsity, std::span<const double> budgets,
                  double level = 0.95);
/// L*, and the budget at which the frontier has a loss: infinity at or below E.
double frontier_loss(const Law& law, double sparsity, double compute);
double frontier_compute(const Law& law, double sparsity, double loss);
/// A model of another size than F* on the same budget.
struct AllocationRow {
  double size_factor = 1;  // F / F*
  double flops_per_token = 0, params = 0, tokens = 0, tokens_per_param = 0, loss = 0;
  double extra_loss = 0, extra_compute = 0;  // over L*; C over the frontier's at this loss, less 1
};
struct Allocation {
  FrontierPoint best;
  double gamma = 0;
  std::vector<AllocationRow> rows;
  std::vector<Warning> warnings;
};
Allocation allocate(const Law& law, double sparsity, double compute,
                    std::span<const double> size_factors);

// ---- Compute-efficiency gain -------------------------------------------------------------------
/// Share of compute saved: 1 - C_target / C_reference at equal frontier loss.
struct GainRow {
  double compute = 0, sparsity = 0, loss = 0;  // the target's budget and frontier loss
  double reference_compute = 0;                // infinity if never reached
  double gain = 0, gain_at_reference = 0;      // the latter with C as the reference's budget
  std::optional<Interval> interval;
  double over_window = 0;  // larger of C / C_max of target and reference
  bool extrapolated = false;
};
/// How the gain goes on with C at one sparsity.
struct GainShape {
  double sparsity = 0;
  std::optional<double> peak_compute, peak_gain;
  std::vector<double> sign_changes;  // budgets, ascending
};
struct Gain {
  std::string reference, target;
  std::string side;  // says whose budget C is
  std::vector<GainRow> rows;
  std::vector<GainShape> shapes;  // by sparsity
  bool paired = false;            // draw by draw
  std::vector<Warning> warnings;
};
Gain gain(const Law& reference, const Law& target, std::span<const double> sparsities,
          std::span<const double> budgets, double level = 0.95);

// ---- Downstream calibration --------------------------------------------------------------------
/// Falls with a falling pre-training loss (d = +1), or rises (d = -1).
enum class Direction { loss, score };
struct Point {
  double loss = 0, value = 0;  // l in nats; y
  std::string label;
};
/// y(l) = b + a / (1 + exp(-d alpha (l - tau))), a > 0, alpha > 0; least squares.
struct Calibration {
  Direction direction = Direction::score;
  double a = 0, b = 0, alpha = 0, tau = 0, rmse = 0;
  StopReason stop = StopReason::gradient;
  Starts starts;
  Range loss_window;
  std::vector<Warning> warnings;
};
Calibration calibrate(std::span<const Point> points, Direction direction);
double value(const Calibration& calibration, double loss);
/// residual: value - predicted; extrapolated: the loss lies outside the calibrated range.
struct CalibrationResidual {
  Point point;
  double predicted = 0, residual = 0;
  bool extrapolated = false;
};
struct CalibrationResiduals {
  std::vector<CalibrationResidual> rows;
  double mean = 0, rmse = 0;
  std::vector<Warning> warnings;
};
/// A second architecture's points against the curve of the first.
CalibrationResiduals residuals(const Calibration& calibration, std::span<const Point> points);
/// The rows with a benchmark result, labelled by cell or line; throws Error (kind input) if none.
std::vector<Point> points_of(const Runs& runs);

}  // namespace isoloop::law
