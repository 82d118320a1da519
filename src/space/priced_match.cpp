// Matching by price: every candidate within tolerance is looked at, prices are asked for only where
// the ranking comes down to them.
//
// A candidate is compared with the answers kept by one key after the other; a price is evaluated
// when a comparison reaches it, and remembered with the candidate. A requirement is checked when a
// candidate would be kept. So with exact keys first few candidates are ever priced, and the result
// is that of pricing them all.
// Held by tests/space/priced_match_test.cpp against doing exactly that.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "isoloop/space.h"
#include "solve/usual_rank.h"

namespace isoloop::space {
namespace {

/// An exact criterion or a price, by index.
struct Key {
  std::optional<solve::Criterion> exact;
  std::size_t price = 0;
};

struct Entry {
  solve::Answer answer;
  std::optional<arch::Architecture> architecture;
  std::vector<std::optional<Predicted>> prices;
};

class Ranking {
 public:
  explicit Ranking(const PricedRequest& request)
      : request_(request), space_(exact_request(request)) {
    for (const Price& price : request.prices) pricers_.push_back(price.make());
    for (const Requirement& requirement : request.require)
      required_.emplace_back(price_index(requirement.key, "--require"), requirement.at_most);
    add_keys();
    nearest_.resize(required_.size());
  }

  PricedResult run() {
    const solve::Problem& problem = space_.problem();
    result_.match = space_.stated();
    result_.match.certificate =
        solve::Walker(problem).visit(0, solve::candidates(problem), [this](const solve::Point& p) {
          result_.within_budgets = true;
          Entry entry{solve::answer_of(space_.problem(), p), std::nullopt, {}};
          entry.prices.resize(request_.prices.size());
          keep(std::move(entry));
        });
    for (Entry& entry : kept_) add(space_.read(entry.answer, true), entry);
    if (kept_.empty()) find_nearest();
    return std::move(result_);
  }

 private:
  static solve::MatchRequest exact_request(const PricedRequest& request) {
    solve::MatchRequest exact = request.match;
    exact.rank.clear();
    return exact;
  }

  std::size_t price_index(const std::string& key, const char* where) const {
    std::vector<std::string> known;
    for (std::size_t i = 0; i < request_.prices.size(); ++i) {
      known.push_back(request_.prices[i].key);
      if (known.back() == key) return i;
    }
    if (known.empty())
      throw usage_error(fmt::format("'{}' is no price, and there is none", key), where,
                        "add --gpu or --law; budgets go into --tol");
    throw unknown_name(ErrorKind::usage, "price", key, known, where);
  }

  void add_keys() {
    std::vector<std::string> known = space_.rank_keys();
    for (const Price& price : request_.prices) known.push_back(price.key);
    const auto is_price = [&](const std::string& key) {
      return std::any_of(request_.prices.begin(), request_.prices.end(),
                         [&](const Price& price) { return price.key == key; });
    };
    for (const std::string& key : request_.rank.empty() ? solve::usual_rank : request_.rank) {
      if (is_price(key)) {
        keys_.push_back({std::nullopt, price_index(key, "--rank")});
        continue;
      }
      if (std::find(known.begin(), known.end(), key) == known.end())
        throw unknown_name(ErrorKind::usage, "ranking key", key, known, "--rank");
      if (const auto criterion = space_.criterion(key)) keys_.push_back({criterion, 0});
    }
    for (const solve::Criterion& criterion : space_.problem().criteria)
      keys_.push_back({criterion, 0});  // the fixed order of equals
  }

  const Predicted& price(Entry& entry, std::size_t i) {
    if (!entry.prices[i]) {
      if (!entry.architecture) entry.architecture = space_.read(entry.answer, false).architecture;
      entry.prices[i] = pricers_[i](*entry.architecture);
      ++result_.priced;
      if (!std::isfinite(entry.prices[i]->mid)) ++result_.without;
    }
    return *entry.prices[i];
  }

  bool better(Entry& a, Entry& b) {
    for (const Key& key : keys_) {
      if (key.exact) {
        const Ratio x = solve::score_of(space_.problem(), *key.exact, a.answer);
        const Ratio y = solve::score_of(space_.problem(), *key.exact, b.answer);
        if (x != y) return x < y;
      } else {
        const double x = price(a, key.price).mid, y = price(b, key.price).mid;
        if (x != y) return x < y;
      }
    }
    if (a.answer.case_index != b.answer.case_index)
      return a.answer.case_index < b.answer.case_index;
    return a.answer.values < b.answer.values;
  }

  /// Whether every requirement holds; remembers what comes nearest to the first that does not.
  bool admitted(Entry& entry) {
    for (std::size_t i = 0; i < required_.size(); ++i) {
      const auto [index, most] = required_[i];
      const double value = price(entry, index).mid;
      if (value <= most) continue;
      if (kept_.empty() && std::isfinite(value) &&
          (!nearest_[i] || value < nearest_[i]->prices[index]->mid))
        nearest_[i] = entry;
      return false;
    }
    return true;
  }

  /// As the search keeps answers: in order, and of several with one signature only the best.
  void keep(Entry entry) {
    const std::size_t most = request_.match.top;
    if (kept_.size() >= most && !better(entry, kept_.back())) return;
    if (!admitted(entry)) return;
    const auto rival = std::find_if(kept_.begin(), kept_.end(), [&](const Entry& other) {
      return solve::same_signature(space_.problem(), entry.answer, other.answer);
    });
    if (rival != kept_.end()) {
      if (!better(entry, *rival)) return;
      kept_.erase(rival);
    }
    const auto place = std::find_if(kept_.begin(), kept_.end(),
                                    [&](Entry& other) { return better(entry, other); });
    kept_.insert(place, std::move(entry));
    if (kept_.size() > most) kept_.pop_back();
  }

  void add(solve::MatchAnswer answer, Entry& entry) {
    std::vector<Predicted> values;
    for (std::size_t i = 0; i < request_.prices.size(); ++i) values.push_back(price(entry, i));
    result_.values.push_back(std::move(values));
    if (kept_.empty())
      result_.match.nearest = std::move(answer);
    else
      result_.match.answers.push_back(std::move(answer));
  }

  /// Nothing is within tolerance, or a requirement fails everywhere.
  void find_nearest() {
    if (!result_.within_budgets) {
      const solve::Certificate certificate = result_.match.certificate;
      result_.match = solve::match(exact_request(request_));
      result_.match.certificate = certificate;
      if (!result_.match.nearest) return;
      Entry entry;
      entry.architecture = result_.match.nearest->architecture;
      entry.prices.resize(request_.prices.size());
      add(solve::MatchAnswer(*result_.match.nearest), entry);
      return;
    }
    for (std::size_t i = required_.size(); i-- > 0;) {
      if (!nearest_[i]) continue;
      result_.match.binding = request_.require[i].key;
      add(space_.read(nearest_[i]->answer, true), *nearest_[i]);
      return;
    }
    // Not one candidate has a price that the first requirement asks for.
    if (!required_.empty()) result_.match.binding = request_.require.front().key;
  }

  const PricedRequest& request_;
  solve::MatchSpace space_;
  std::vector<Pricer> pricers_;
  std::vector<std::pair<std::size_t, double>> required_;
  std::vector<Key> keys_;
  std::vector<Entry> kept_;  // best first
  std::vector<std::optional<Entry>> nearest_;  // by requirement
  PricedResult result_;
};

}  // namespace

PricedResult match(const PricedRequest& request) { return Ranking(request).run(); }

}  // namespace isoloop::space
