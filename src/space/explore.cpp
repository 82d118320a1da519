// Exploration: every candidate within tolerance is scored, the front kept, work cut into units.
//
// Results of a unit are folded into the state under a lock. Every fold is a sum of integers or a
// front, neither of which depends on order, so threads, shards and interruptions leave no trace.
// Held by tests/space/explore_test.cpp.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

#include "isoloop/space.h"

namespace isoloop::space {
namespace {

/// Enough to balance shards and threads; fixed, so that parts made anywhere fit together.
constexpr std::size_t most_blocks = 1024;

bool compares_mismatch(const ExploreRequest& request) {
  return std::any_of(request.measures.begin(), request.measures.end(), [](const FrontMeasure& m) {
    return m.kind == FrontMeasure::Kind::mismatch;
  });
}

solve::Problem capped(solve::Problem problem, const Ratio& cap) {
  for (solve::Measure& m : problem.measures)
    if (!m.cap || *m.cap > cap) m.cap = cap;
  return problem;
}

Score exact_score(const Ratio& value) {
  const double v = value.to_double();
  return {value, {v, v, v}};
}

}  // namespace

Exploration::Exploration(ExploreRequest request)
    : request_(std::move(request)), space_(request_.match) {
  caps_ = {Ratio(1)};
  if (compares_mismatch(request_)) caps_ = {Ratio(1, 8), Ratio(1, 2), Ratio(1)};
  const Int size = solve::candidates(space_.problem());
  blocks_ = static_cast<std::size_t>(std::min(size, Int(most_blocks)).to_int64());
  for (const FrontMeasure& m : request_.measures)
    if (m.kind == FrontMeasure::Kind::budget) space_.watch(m.budget);
}

std::vector<std::size_t> Exploration::shard(std::size_t i, std::size_t n) const {
  std::vector<std::size_t> result;
  for (std::size_t unit = 0; unit < units(); ++unit)
    if (unit % blocks_ % n == i - 1) result.push_back(unit);
  return result;
}

Exploration::State Exploration::start() const {
  State state;
  state.done.resize(units());
  const solve::Problem& p = space_.problem();
  for (const solve::Measure& m : p.measures) state.certificate.pruned.emplace_back(m.name, 0);
  for (const solve::Rule& r : p.rules) state.certificate.pruned.emplace_back(r.name, 0);
  return state;
}

/// Walks units; one for each thread.
class Exploration::Worker {
 public:
  explicit Worker(const Exploration& exploration) : e_(exploration), walkers_(e_.caps_.size()) {
    for (const Price& price : e_.request_.prices) pricers_.push_back(price.make());
  }

  /// What one unit adds to the state.
  State walk(std::size_t unit) {
    const std::size_t pass = unit / e_.blocks_, block = unit % e_.blocks_;
    const solve::Problem& problem = e_.space_.problem();
    if (!walkers_[pass]) walkers_[pass].emplace(capped(problem, e_.caps_[pass]));
    const Int size = solve::candidates(problem), blocks = Int(e_.blocks_);
    State part;
    const solve::Certificate certificate = walkers_[pass]->visit(
        floor_div(size * Int(block), blocks), floor_div(size * Int(block + 1), blocks),
        [&](const solve::Point& point) { score(point, pass, part); });
    if (pass + 1 == e_.caps_.size()) part.certificate = certificate;
    return part;
  }

 private:
  void score(const solve::Point& point, std::size_t pass, State& part) {
    const solve::Problem& problem = e_.space_.problem();
    const solve::Answer answer = solve::answer_of(problem, point);
    const Ratio mismatch =
        solve::score_of(problem, {solve::Criterion::Kind::largest_mismatch, 0, 0}, answer);
    if (pass > 0 && mismatch <= e_.caps_[pass - 1]) return;  // an earlier pass took it
    ++part.priced;
    FrontPoint scored{point.index, {}};
    std::optional<arch::Architecture> model;
    const auto architecture = [&]() -> const arch::Architecture& {
      if (!model) model = e_.space_.read(answer, false).architecture;
      return *model;
    };
    for (const FrontMeasure& m : e_.request_.measures) {
      switch (m.kind) {
        case FrontMeasure::Kind::mismatch: scored.scores.push_back(exact_score(mismatch)); break;
        case FrontMeasure::Kind::budget:
          scored.scores.push_back(exact_score(e_.space_.value(m.budget, answer)));
          break;
        case FrontMeasure::Kind::distance:
          scored.scores.push_back(exact_score(distance(architecture(), e_.request_.match.baseline)));
          break;
        case FrontMeasure::Kind::price:
          scored.scores.push_back({std::nullopt, pricers_[m.price](architecture())});
          if (!std::isfinite(scored.scores.back().predicted.mid)) {
            ++part.without;
            return;
          }
          break;
      }
    }
    part.front.add(std::move(scored));
  }

  const Exploration& e_;
  std::vector<std::optional<solve::Walker>> walkers_;  // by cap
  std::vector<Pricer> pricers_;
};

/// One run: threads take units in order, the calling thread works as well and reports.
class ExplorationRun {
 public:
  ExplorationRun(const Exploration& e, Exploration::State& state,
                 const std::vector<std::size_t>& units, const Exploration::Observer& observer)
      : e_(e), state_(state), observer_(observer), left_(e.caps_.size()) {
    for (const std::size_t unit : units)
      if (!state.done[unit]) {
        todo_.push_back(unit);
        ++left_[unit / e.blocks_];
      }
  }

  bool run(int threads) {
    report();
    {
      std::vector<std::jthread> helpers;
      const auto wanted = std::min(todo_.size(), static_cast<std::size_t>(std::max(threads, 1)));
      try {
        for (std::size_t i = 1; i < wanted; ++i) helpers.emplace_back([this] { work(false); });
      } catch (const std::system_error&) {
        // The system grants no more threads: those there are take all units.
      }
      work(true);
    }
    if (error_) std::rethrow_exception(error_);
    report();
    return finished_ == todo_.size();
  }

 private:
  void work(bool reports) {
    try {
      Exploration::Worker worker(e_);
      for (std::size_t i = next_++; i < todo_.size() && !stop_; i = next_++) {
        const Exploration::State part = worker.walk(todo_[i]);
        {
          const std::lock_guard lock(mutex_);
          fold(part, todo_[i]);
        }
        if (!reports) continue;
        report();
        if (observer_.stop && observer_.stop()) stop_ = true;
      }
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!error_) error_ = std::current_exception();
      stop_ = true;
    }
  }

  void fold(const Exploration::State& part, std::size_t unit) {
    solve::add(state_.certificate, part.certificate);
    state_.priced += part.priced;
    state_.without += part.without;
    for (const FrontPoint& point : part.front.points()) state_.front.add(point);
    state_.done[unit] = true;
    --left_[unit / e_.blocks_];
    ++finished_;
  }

  /// Tells what is newly proven: all units under a cap are done, so up to it the front is final.
  void report() {
    const std::lock_guard lock(mutex_);
    if (observer_.progress) observer_.progress(state_);
    if (!observer_.proven) return;
    std::size_t passes = 0;
    while (passes < left_.size() && left_[passes] == 0) ++passes;
    if (passes == told_) return;
    told_ = passes;
    const bool last = passes == left_.size();
    std::size_t at = 0;
    while (e_.request_.measures[at].kind != FrontMeasure::Kind::mismatch && !last) ++at;
    for (const FrontPoint& point : state_.front.points()) {
      if (!last && *point.scores[at].exact > e_.caps_[passes - 1]) continue;
      if (std::find(shown_.begin(), shown_.end(), point.index) != shown_.end()) continue;
      shown_.push_back(point.index);
      observer_.proven(point);
    }
  }

  const Exploration& e_;
  Exploration::State& state_;
  const Exploration::Observer& observer_;
  std::vector<std::size_t> todo_, left_;  // left_: units not done, by cap
  std::atomic<std::size_t> next_{0};
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  std::exception_ptr error_;
  std::size_t finished_ = 0, told_ = 0;
  std::vector<Int> shown_;
};

bool Exploration::run(State& state, const std::vector<std::size_t>& units, int threads,
                      const Observer& observer) const {
  return ExplorationRun(*this, state, units, observer).run(threads);
}

}  // namespace isoloop::space
