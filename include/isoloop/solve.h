// solve: exact integer search, matching on top of it, and an independent verifier.
//
// search() knows no transformers: unknowns with finite domains, budgets as polynomials with
// non-negative coefficients, structural rules, an ordered list of criteria. match() states the
// question "which architecture costs the same as this baseline?" in those terms, and verify()
// recounts an answer without either.
//
// Held by tests/solve/*_test.cpp: brute force on hundreds of random boxes, and the verifier.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "isoloop/arch.h"
#include "isoloop/base.h"
#include "isoloop/cost.h"

namespace isoloop::solve {

// ---- Integer search ----------------------------------------------------------------------------

struct Variable {
  std::string name;
  std::vector<std::int64_t> domain;  // ascending, positive or zero, not empty
};

/// A structural rule between variables, given by index.
struct Rule {
  enum class Kind {
    product,  // x[a] * x[b] == x[c]
    divides,  // x[a] divides x[b]: x[a] > 0 and x[b] is a multiple of it; 0 is one
    ratio,    // low * x[b] <= x[a] <= high * x[b]
    at_most,  // x[a] <= x[b]
    product_ratio,  // low * x[c] <= x[a] * x[b] <= high * x[c]
  };
  Kind kind{};
  std::size_t a = 0, b = 0, c = 0;
  Ratio low = 0, high = 0;
  std::string name;  // shown in the certificate
};

struct Measure {
  std::string name;
  Ratio target;     // > 0
  Ratio tolerance;  // relative; mismatches are compared in units of it. 0 = must be equal
  std::optional<Ratio> cap;  // largest accepted |mismatch| in units of the tolerance; none = any
};

/// One discrete shape (a loop): the value of each measure as a polynomial in the variables.
struct Case {
  std::vector<Poly> values;  // by measure
  Int multiplicity = 1;      // points of the space this case stands for
};

struct Criterion {
  enum class Kind { largest_mismatch, sum_of_mismatches, mismatch, larger, smaller, nearest, case_order };
  Kind kind{};
  std::size_t index = 0;     // measure or variable
  std::int64_t origin = 0;   // nearest: |x - origin| is made small
};

struct Problem {
  std::vector<Variable> variables;
  std::vector<std::size_t> order;  // search order, outermost first; every variable once
  std::vector<Rule> rules;
  std::vector<Measure> measures;
  std::vector<Case> cases;
  std::vector<Criterion> criteria;  // compared in order; ends with a total order of its own
  /// Two answers count as different if these products of variables (or their cases) differ.
  std::vector<std::vector<std::size_t>> signature;
  std::size_t keep = 1;  // best answers to return, pairwise different
};

struct Answer {
  std::size_t case_index = 0;
  std::vector<std::int64_t> values;  // by variable
  std::vector<Ratio> mismatch;       // signed (value - target) / target, by measure
  std::vector<Ratio> score;          // by criterion; smaller is better
  Ratio largest() const;             // largest |mismatch|
};

/// What makes the answer a proof: every point of the space was either visited or lies in a part
/// that a bound shows to be worse than the answer or against a rule.
/// points == visited + sum of pruned.
struct Certificate {
  Int points = 0, visited = 0, nodes = 0;
  std::vector<std::pair<std::string, Int>> pruned;  // by which budget or rule
};

struct Result {
  std::vector<Answer> answers;  // best first; empty: no point satisfies rules and caps
  Certificate certificate;
};

/// Exhaustive by bounds: the result is the optimum. Throws Error (kind input) if the largest
/// values overflow, Error (kind internal) if a coefficient is negative.
Result search(const Problem& problem);

/// The same optimum with less work: tries small caps first, on what the first criterion compares,
/// and widens them up to each measure's own cap. The certificate is that of the last pass.
Result search_widening(const Problem& problem);

// ---- Enumeration -------------------------------------------------------------------------------

/// One candidate within every cap and rule. Valid during the call that hands it over.
struct Point {
  Int index;
  std::size_t case_index = 0;
  const std::vector<std::int64_t>& values;  // by variable
  const std::vector<Int>& excess;   // by measure: value - target, in the measure's integer scale
  const std::vector<Int>& targets;  // by measure, in the same scale
};
using Visitor = std::function<void(const Point&)>;

/// Cases times the number of values of every variable; multiplicities do not count. Candidates are
/// numbered over cases and, within a case, over the values of the variables in search order, the
/// last fastest; so work splits by ranges of this index.
Int candidates(const Problem& problem);
/// A candidate by index, with its mismatches and scores, whether or not it keeps caps and rules.
/// Throws Error (kind internal) beyond the last.
Answer candidate_at(const Problem& problem, const Int& index);
/// A candidate handed over by a walk, with its mismatches and scores.
Answer answer_of(const Problem& problem, const Point& candidate);

/// Hands over every candidate within caps and rules; criteria decide nothing. Not to be shared by
/// threads: each makes its own.
class Walker {
 public:
  explicit Walker(Problem problem);
  ~Walker();
  Walker(Walker&&) noexcept;
  Walker& operator=(Walker&&) noexcept;
  /// Candidates with first <= index < last, in ascending order. The certificate counts this range
  /// alone, multiplicities included: those of adjacent ranges add up to that of both together, name
  /// by name. Without a visitor it only counts.
  Certificate visit(const Int& first, const Int& last, const Visitor& visitor = {});

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Adds points, visited, nodes and what was cut off, by name.
void add(Certificate& sum, const Certificate& part);
/// The value of one criterion for an answer with its mismatches; smaller is better.
Ratio score_of(const Problem& problem, const Criterion& criterion, const Answer& answer);
/// Whether two answers differ in nothing that the problem's signature speaks of.
bool same_signature(const Problem& problem, const Answer& a, const Answer& b);

// ---- Matching ----------------------------------------------------------------------------------

/// What may differ between the baseline and its match.
enum class Unknown {
  hidden, heads, kv_heads, head_size, kv_rank, expert_size, experts, shared_size, top_k, ffn_size,
  depth, loop_start, loop_span, loop_visits,
};
inline constexpr std::size_t unknown_count = static_cast<std::size_t>(Unknown::loop_visits) + 1;
std::string_view name(Unknown unknown);  // the key of --fix and --free: "hidden", "kv-heads" ...
Unknown parse_unknown(std::string_view text, std::string_view where);

struct Range {
  std::int64_t low = 0, high = 0, step = 1;
};
/// Most values of one unknown.
inline constexpr std::int64_t max_values = 1'000'000;
/// Smallest and largest value an unknown can be asked to take.
Range limits(Unknown unknown);
/// Matching unrolls what it finds layer by layer, so executed layers are bounded.
inline constexpr std::int64_t max_executed_layers = 10'000;

/// Multiples that sizes must have. Named ones are entries of data/alignments.json.
struct Alignment {
  std::string name;
  std::string reason;
  std::int64_t hidden = 8, expert = 8, head = 8, experts = 8;
};
const std::vector<Alignment>& alignments();
/// A name, or "hidden=64,expert=32,head=16,experts=8" (missing ones as in `loose`).
Alignment parse_alignment(std::string_view text, std::string_view where);
std::string alignment_text(const Alignment& alignment);

struct BudgetTolerance {
  cost::Budget budget{};
  Ratio tolerance;
  Ratio of_baseline = 1;  // the target, in units of the baseline's own value
};
/// A relative tolerance from 0 to 1000 %, in steps of at least a billionth: "1%", "0.005", "1/300".
Ratio parse_tolerance(std::string_view text, std::string_view where);

struct MatchRequest {
  arch::Architecture baseline;
  cost::Options options;
  std::vector<BudgetTolerance> budgets;  // empty: flops 1 %, params 1 %, kv 2 %
  Alignment alignment;
  std::string loop = "middle";  // the short grammar; its span, visits, start are the fixed values
  std::map<Unknown, std::int64_t> fixed;
  std::map<Unknown, std::optional<Range>> freed;  // no range: the default one
  // Plausibility; see docs/design.md for why these.
  std::optional<bool> square;                 // heads x head size == hidden; absent: as the baseline
  Ratio gqa_low = 1, gqa_high = 3;            // GQA ratio relative to the baseline's
  std::int64_t min_head_size = 32;
  Ratio attention_ratio = 2;  // where not square: heads x head size / hidden within this factor
  Ratio expert_ratio = 2;                     // expert size / hidden within this factor
  std::vector<std::string> rank;              // empty: mismatch, sum, hidden, experts
  std::size_t top = 1;
  std::int64_t tensor_parallel = 1, expert_parallel = 1, pipeline_parallel = 1;
  bool remedies = true;  // and for the smallest changes that would help
};

struct MatchAnswer {
  arch::Architecture architecture;
  arch::Loop loop;
  std::int64_t depth = 0;
  std::map<Unknown, std::int64_t> values;
  std::vector<Ratio> mismatch;  // signed, by budget of the request
  Ratio largest;                // largest |mismatch|
  bool within = false;          // every budget within its tolerance
};

struct Remedy {
  std::string kind;    // "alignment", "tolerance", "free"
  std::string option;  // what to add to the command line
  MatchAnswer answer;  // what it leads to, solved again and verified
};

struct MatchResult {
  std::vector<BudgetTolerance> budgets;
  std::vector<Ratio> targets;  // by budget
  std::vector<std::string> assumptions;  // every default and rule in force, as text
  std::vector<std::pair<std::string, std::vector<std::int64_t>>> domains;  // unknown -> values
  Certificate certificate;
  std::vector<MatchAnswer> answers;    // empty if none is within tolerance
  std::optional<MatchAnswer> nearest;  // then: the smallest largest mismatch there is
  std::string binding;                 // and the budget that misses by most, in units of tolerance
  std::vector<Remedy> remedies;        // and the smallest single changes that help
};

/// Throws Error (kind usage or input) for contradictory requests.
MatchResult match(const MatchRequest& request);

/// A matching request as a set of candidates, for those who look at all of them.
class MatchSpace {
 public:
  /// Throws like match().
  explicit MatchSpace(const MatchRequest& request);
  ~MatchSpace();
  MatchSpace(MatchSpace&&) noexcept;
  MatchSpace& operator=(MatchSpace&&) noexcept;

  const MatchRequest& request() const;  // budgets and context filled in
  const Problem& problem() const;
  /// Ranking keys this request understands, and one of them as a criterion; absent for one about a
  /// dimension the baseline does not have.
  std::vector<std::string> rank_keys() const;
  std::optional<Criterion> criterion(const std::string& rank_key) const;
  /// An answer as an architecture. Throws Error (kind internal) if `check` and the verifier rejects.
  MatchAnswer read(const Answer& answer, bool check) const;
  /// Budgets, targets, assumptions and domains; no answers.
  const MatchResult& stated() const;
  /// Prepares value() for a budget, whether or not it is matched.
  void watch(cost::Budget budget);
  /// Exact value of a watched budget for `answer`, and of any for the baseline.
  Ratio value(cost::Budget budget, const Answer& answer) const;
  Ratio baseline_value(cost::Budget budget) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Defaults for budgets not given.
std::vector<BudgetTolerance> default_budgets();

/// Recounts an answer by unrolling its loop layer by layer and checks every budget and rule of the
/// request from the two architectures alone. Returns what is wrong; empty = accepted.
std::vector<std::string> verify(const MatchRequest& request, const MatchAnswer& answer);

}  // namespace isoloop::solve
