// space: series and sets of candidates around one baseline.
//
// A sweep matches one baseline again and again, each time with another loop shape, under the same
// tolerances, so that only the shape differs between the members of an ablation. A price is what
// can be predicted of an architecture, not counted: step time on a GPU, loss under a law. Prices are
// double; they order and refuse candidates that are within tolerance, and never decide which are.
// Held by tests/space/*_test.cpp.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "isoloop/gpu.h"
#include "isoloop/law.h"
#include "isoloop/solve.h"

namespace isoloop::space {

// ---- Sweeps ------------------------------------------------------------------------------------

/// The shape of one member. Span 0 or one visit means no loop; start 0 means centred.
struct Shape {
  std::int64_t depth = 0, span = 0, visits = 1, start = 0;
  bool operator==(const Shape&) const = default;
};

/// Figures a paper prints for a member, as printed.
struct Published {
  std::string val_loss, core, core_error, completion_loss;
};

/// Members without a loop that hold what a loop changes besides: if one of them does as well as the
/// looped model, the loop is not what helped.
enum class Control {
  experts,  // as many experts as the looped member, finer ones, within the same budgets
  params,   // as many parameters as the looped member would have without shared weights
};
std::string_view name(Control control);

struct Member {
  Shape shape;
  std::optional<Published> published;
  solve::MatchRequest request;
  solve::MatchResult result;  // filled by run()
  /// The best answer: within tolerance, or the nearest miss; null if no architecture satisfies the
  /// rules.
  const solve::MatchAnswer* best() const;
  bool within() const { return !result.answers.empty(); }
  std::optional<Control> control = {};
  /// "d12-s6x2", with "@4" where the start is not centred; "control-experts".
  std::string name() const;
};

/// Values of each axis of a cross product; an empty axis stays as in the request's loop.
struct Axes {
  std::vector<std::int64_t> depths, spans, visits, starts;
  bool all_starts = false;
};

/// The members of a cross product, duplicates (span 0 at several visits) once. Shapes that do not
/// exist (span beyond depth) are left out; none at all is an error (kind usage).
std::vector<Member> members(const solve::MatchRequest& request, const Axes& axes);
/// A control for a looped member that has been run; matched on its own. Null if there is none: the
/// member has no answer, no experts, or no budget of parameters.
std::optional<Member> control(const Member& looped, Control kind);
/// Matches every member; `progress` is called before each with its index.
void run(std::vector<Member>& members, const std::function<void(std::size_t)>& progress = {});

/// A sweep printed in a paper: one series per baseline.
struct Series {
  std::string baseline;  // built-in architecture
  std::string sparsity;
  std::vector<std::pair<Shape, Published>> members;
};
struct NamedSweep {
  std::string name, title, source;
  std::vector<Series> series;
};
std::vector<std::string> sweep_names();
/// Throws Error (kind usage) with the nearest name.
NamedSweep load_sweep(std::string_view name, std::string_view where);
/// A member of a named sweep, stated for the baseline's request.
Member member(const solve::MatchRequest& request, const Shape& shape,
              std::optional<Published> published = {});

// ---- Prices ------------------------------------------------------------------------------------

/// A prediction with its range. Infinite where there is none (no kernel runs this model, say).
struct Predicted {
  double low = 0, mid = 0, high = 0;
};
using Pricer = std::function<Predicted(const arch::Architecture&)>;

/// Something predicted of an architecture; smaller is better, and `mid` is what is compared.
struct Price {
  std::string key;      // "step-time", "step-time@b200", "loss"
  std::string unit;     // "x baseline", "nats"
  std::string meaning;  // what it is, and what it does not know
  std::string identity;  // differs where device, options or law differ in anything
  std::function<Pricer()> make;  // one for each thread
  Predicted baseline;
};

/// Time of a step over the baseline's on the same GPU. Throws Error (kind input) if the baseline
/// itself cannot be planned.
Price step_time(std::string key, const gpu::Device& device, const gpu::PlanOptions& options,
                const arch::Architecture& baseline);

/// What a model is trained on: tokens, or training FLOPs, which buy compute / F tokens.
struct Training {
  std::optional<double> tokens, compute;
};
/// Loss under a law. F is training FLOPs per token under `options`; S = 1 - (F/F0) N0/N against the
/// same model with all its experts active (arXiv 2609.01343), 0 where it has none; N, for a
/// chinchilla law, are the parameters without embedding and head.
Price predicted_loss(std::string key, const law::Law& law, const cost::Options& options,
                     const Training& training, const arch::Architecture& baseline);
/// S as above, exact.
Ratio sparsity(const arch::Architecture& model, const cost::Options& options);

/// Largest factor by which a proportion differs from the baseline's, 1 or more, exact. Proportions:
/// executed layers / hidden, GQA ratio, head size (or latent rank), heads x head size / hidden, FFN
/// width / hidden, experts / top-k.
Ratio distance(const arch::Architecture& model, const arch::Architecture& baseline);

// ---- Matching by price -------------------------------------------------------------------------

struct Requirement {
  std::string key;  // of a price
  double at_most = 0;
};
/// "step-time<=1.02". Throws Error (kind usage).
Requirement parse_requirement(std::string_view text, std::string_view where);

struct PricedRequest {
  solve::MatchRequest match;      // its rank is not used
  std::vector<std::string> rank;  // keys of match and of prices; empty: match's own order
  std::vector<Price> prices;
  std::vector<Requirement> require;
};
struct PricedResult {
  /// Answers, certificate and, if nothing is within tolerance, nearest miss and remedies, as of
  /// match(). If only a requirement fails, `nearest` is the answer that comes nearest to it and
  /// `binding` its key.
  solve::MatchResult match;
  bool within_budgets = false;                 // something is within every tolerance
  std::vector<std::vector<Predicted>> values;  // by answer (the nearest miss if none) and price
  std::size_t priced = 0;                      // evaluations
  std::size_t without = 0;                     // of these, without a prediction
};
/// The best answers within tolerance by a ranking that may hold prices, over all candidates.
/// Throws like solve::match(), and Error (kind usage) for keys nothing is known of.
PricedResult match(const PricedRequest& request);

// ---- Exploration -------------------------------------------------------------------------------

/// One measure of one candidate: exact where it is counted, double where it is predicted.
struct Score {
  std::optional<Ratio> exact;
  Predicted predicted;  // of an exact one too, for showing
};

/// A candidate on the front, by its index.
struct FrontPoint {
  Int index;
  std::vector<Score> scores;  // by measure, smaller is better
};

/// The candidates that no other is as good as in every measure and better in one. Of those equal in
/// all measures the one with the least index stays, so the front of a set does not depend on the
/// order in which it is added, nor on how it is cut into parts.
class Front {
 public:
  /// False if some point on the front is at least as good.
  bool add(FrontPoint point);
  /// By the first measure, then the next, then by index.
  const std::vector<FrontPoint>& points() const { return points_; }

 private:
  std::vector<FrontPoint> points_;
};

/// What a candidate is compared by.
struct FrontMeasure {
  enum class Kind { mismatch, budget, distance, price };
  Kind kind{};
  std::string key, unit, meaning;
  cost::Budget budget{};
  std::size_t price = 0;
};
/// "mismatch", "distance", a budget ("weights-bytes", "decode-bytes", ...) or the key of a price.
std::vector<FrontMeasure> front_measures(const std::vector<std::string>& keys,
                                         const std::vector<Price>& prices, const char* where);

struct ExploreRequest {
  solve::MatchRequest match;  // tolerances, freedoms and rules; rank and top are not used
  std::vector<FrontMeasure> measures;
  std::vector<Price> prices;
};

/// The front of everything within tolerance, in units of work that anyone may do in any order.
///
/// The space is cut into blocks of the candidate index. Where mismatch is a measure each block is
/// walked several times under growing caps; a walk takes only what the one before left out, so no
/// candidate is priced twice, and once all blocks are walked under a cap, what the front holds up
/// to it is final: everything else is worse in mismatch.
class Exploration {
 public:
  explicit Exploration(ExploreRequest request);
  const ExploreRequest& request() const { return request_; }
  const solve::MatchSpace& space() const { return space_; }
  std::size_t blocks() const { return blocks_; }
  std::size_t units() const { return caps_.size() * blocks_; }  // by cap, then by block
  /// Units of shard i of n, 1 <= i <= n: whole blocks, every n-th.
  std::vector<std::size_t> shard(std::size_t i, std::size_t n) const;

  struct State {
    std::vector<bool> done;  // by unit
    solve::Certificate certificate;  // of the blocks walked under the last cap; all names, in order
    std::size_t priced = 0;   // candidates within tolerance, shapes of equal cost once
    std::size_t without = 0;  // of these, without a prediction; never on the front
    Front front;
  };
  State start() const;

  struct Observer {
    std::function<bool()> stop;                     // asked between units
    std::function<void(const State&)> progress;     // after units
    std::function<void(const FrontPoint&)> proven;  // once each, best mismatch first
  };
  /// Works through the units that are not done. All observers are called on this thread. Returns
  /// whether all are done. Throws what a unit throws.
  bool run(State& state, const std::vector<std::size_t>& units, int threads,
           const Observer& observer) const;

 private:
  class Worker;
  friend class ExplorationRun;
  ExploreRequest request_;
  solve::MatchSpace space_;
  std::vector<Ratio> caps_;
  std::size_t blocks_ = 0;
};

}  // namespace isoloop::space
