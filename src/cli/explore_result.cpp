// Results of an exploration: JSON out and in.
//
// Exact numbers are written as fractions, doubles with all their digits, so a result read back is
// the one that was written. Held by tests/cli/explore_test.cpp.
#include "cli/explore_result.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/hash.h"
#include "cli/match_view.h"
#include "cli/output.h"
#include "isoloop/pairs.h"

namespace isoloop::cli {
namespace {

using Json = nlohmann::ordered_json;
constexpr std::string_view schema = "isoloop/explore/v1";

std::string budget_key(const solve::BudgetTolerance& budget) {
  return std::string(cost::name(budget.budget).name);
}

/// "0-3,7": numbers of the units done.
std::string ranges(const std::vector<bool>& done) {
  std::string text;
  for (std::size_t i = 0; i < done.size();) {
    if (!done[i]) {
      ++i;
      continue;
    }
    std::size_t end = i;
    while (end + 1 < done.size() && done[end + 1]) ++end;
    text += (text.empty() ? "" : ",") +
            (end == i ? std::to_string(i) : fmt::format("{}-{}", i, end));
    i = end + 1;
  }
  return text;
}

[[noreturn]] void no_result(const std::string& file, const std::string& what) {
  throw input_error(what, file, "give a file written by isoloop explore --format json");
}

std::size_t whole(const std::string& text, const std::string& file) {
  if (text.empty() || text.size() > 9 || text.find_first_not_of("0123456789") != std::string::npos)
    no_result(file, fmt::format("'{}' is not a number of a unit", text));
  return std::stoul(text);
}

std::vector<bool> read_ranges(const std::string& text, std::size_t total, const std::string& file) {
  std::vector<bool> done(total);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string item = text.substr(at, end - at);
    const std::size_t dash = item.find('-');
    const std::size_t low = whole(item.substr(0, dash), file);
    const std::size_t high = dash == std::string::npos ? low : whole(item.substr(dash + 1), file);
    if (high >= total || low > high) no_result(file, fmt::format("has no units {}", item));
    for (std::size_t i = low; i <= high; ++i) done[i] = true;
    at = end + 1;
  }
  return done;
}

Int read_int(const Json& value, const std::string& file) {
  const Ratio number = parse_ratio(value.get<std::string>(), file);
  if (!number.is_integer()) no_result(file, "a count that is not whole");
  return number.num();
}

Json score_json(const space::Score& score) {
  Json j;
  j["value"] = score.predicted.mid;
  if (score.exact)
    j["exact"] = score.exact->str();
  else
    j.update({{"low", score.predicted.low}, {"high", score.predicted.high}});
  return j;
}

space::Score read_score(const Json& j, const std::string& file) {
  space::Score score;
  score.predicted.low = score.predicted.mid = score.predicted.high = j.at("value");
  if (j.contains("exact")) {
    score.exact = parse_ratio(j.at("exact").get<std::string>(), file);
  } else {
    score.predicted.low = j.at("low");
    score.predicted.high = j.at("high");
  }
  return score;
}

std::pair<std::size_t, std::size_t> read_shard(const std::string& text, const std::string& file) {
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos) no_result(file, fmt::format("'{}' is not a shard", text));
  const std::pair shard{whole(text.substr(0, slash), file), whole(text.substr(slash + 1), file)};
  if (shard.first < 1 || shard.first > shard.second)
    no_result(file, fmt::format("'{}' is not a shard", text));
  return shard;
}

/// What the views read of an entry.
void check_entry(const Json& entry, const std::string& file) {
  const auto is = [&](const char* key, auto test) {
    if (!entry.contains(key) || !test(entry.at(key)))
      no_result(file, fmt::format("an entry of the front whose {} is damaged", key));
  };
  const auto of = [](auto test) {
    return [test](const Json& object) {
      return object.is_object() && std::all_of(object.begin(), object.end(), test);
    };
  };
  is("loop", [](const Json& v) { return v.is_string(); });
  is("arch", [](const Json& v) { return v.is_object(); });
  is("dimensions", of([](const Json& v) { return v.is_number_integer(); }));
  is("mismatch", of([](const Json& v) { return v.is_number(); }));
  is("mismatch_exact", of([](const Json& v) { return v.is_string(); }));
}

void read_front(const Json& j, const std::string& file, ExploreResult& result) {
  for (const Json& entry : j.at("front")) {
    space::FrontPoint point{read_int(entry.at("index"), file), {}};
    if (point.index < Int(0) ||
        point.index >= parse_ratio(result.question.at("candidates").get<std::string>(), file).num())
      no_result(file, fmt::format("a candidate {} beyond the last", point.index.str()));
    check_entry(entry, file);
    for (const Json& measure : result.question.at("measures"))
      point.scores.push_back(
          read_score(entry.at("measures").at(measure.at("key").get<std::string>()), file));
    result.entries[point.index.str()] = entry;
    result.state.front.add(std::move(point));
  }
}

/// A count of units; a damaged one must not size anything.
std::size_t read_units(const Json& value, const std::string& file) {
  constexpr std::int64_t most = 1 << 20;
  const std::int64_t units = value.is_number_integer() ? value.get<std::int64_t>() : 0;
  if (units < 1 || units > most) no_result(file, "units whose number is not from 1 to 1048576");
  return static_cast<std::size_t>(units);
}

/// Points are visited or cut off; work that found candidates has a front.
void check_sums(const ExploreResult& result, const std::string& file) {
  const solve::Certificate& c = result.state.certificate;
  Int sum = c.visited;
  for (const auto& [by, points] : c.pruned) sum += points;
  if (sum != c.points) no_result(file, "a space whose points are not those visited and cut off");
  if (result.state.priced > result.state.without && result.state.front.points().empty())
    no_result(file, "candidates without a front");
}

ExploreResult read_fields(const Json& j, const std::string& file) {
  ExploreResult result;
  result.question = j.at("question");
  for (const char* key : {"baseline", "tolerance", "domains", "measures", "candidates", "problem"})
    if (!result.question.contains(key)) no_result(file, fmt::format("a question without {}", key));
  if (j.contains("shard")) result.shard = read_shard(j.at("shard"), file);
  const Json& units = j.at("units");
  result.blocks = read_units(units.at("blocks"), file);
  result.state.done = read_ranges(units.at("done"), read_units(units.at("total"), file), file);
  // The question states both, so parts of two explorations never meet.
  if (result.question.value("units", Json()) != Json({{"total", units.at("total")}, {"blocks", units.at("blocks")}}) ||
      result.state.done.size() % result.blocks != 0)
    no_result(file, "units that are not those of its question");
  const Json& space = j.at("space");
  solve::Certificate& c = result.state.certificate;
  c.points = read_int(space.at("points"), file);
  c.visited = read_int(space.at("visited"), file);
  c.nodes = read_int(space.at("nodes"), file);
  for (const auto& [by, points] : space.at("pruned").items())
    c.pruned.emplace_back(by, read_int(points, file));
  result.state.priced = j.at("priced");
  result.state.without = j.at("without_prediction");
  read_front(j, file, result);
  check_sums(result, file);
  return result;
}

/// The integer problem as a fingerprint: what the domains and rules of a question do not say, the
/// shapes of the loop among it, is in its polynomials.
std::string problem_hash(const solve::Problem& problem) {
  std::string text;
  for (const solve::Variable& v : problem.variables) {
    text += v.name;
    for (const std::int64_t value : v.domain) text += fmt::format(" {}", value);
    text += '\n';
  }
  for (const solve::Measure& m : problem.measures)
    text += fmt::format("{} {} {}\n", m.name, m.target.str(), m.tolerance.str());
  for (const solve::Rule& r : problem.rules)
    text += fmt::format("{} {} {} {} {} {}\n", r.name, r.a, r.b, r.c, r.low.str(), r.high.str());
  for (const solve::Case& c : problem.cases) {
    text += c.multiplicity.str();
    for (const Poly& value : c.values)
      for (const auto& [exponents, coefficient] : value.terms()) {
        text += ' ' + coefficient.str() + ':';
        for (const std::uint8_t exponent : exponents) text += static_cast<char>('0' + exponent);
      }
    text += '\n';
  }
  return fnv1a(text);
}

bool of_loop(solve::Unknown unknown) {
  return unknown == solve::Unknown::loop_start || unknown == solve::Unknown::loop_span ||
         unknown == solve::Unknown::loop_visits;
}

/// Dimensions of an answer that the next value of their range might improve. A low end of 1 has no
/// next value; a start is bound by depth and span.
std::vector<std::string> at_edge(const solve::MatchResult& stated, const solve::MatchAnswer& a) {
  std::vector<std::string> result;
  for (const auto& [name, domain] : stated.domains) {
    const solve::Unknown unknown = solve::parse_unknown(name, "domains");
    if (domain.size() < 2 || unknown == solve::Unknown::loop_start) continue;
    if (of_loop(unknown) && a.loop.span == 0) continue;
    const std::int64_t value = a.values.at(unknown);
    if (value == domain.back() || (value == domain.front() && value > 1)) result.push_back(name);
  }
  return result;
}

}  // namespace

bool ExploreResult::mine(std::size_t unit) const {
  return !shard || unit % blocks % shard->second == shard->first - 1;
}

bool ExploreResult::complete() const {
  for (std::size_t unit = 0; unit < state.done.size(); ++unit)
    if (mine(unit) && !state.done[unit]) return false;
  return true;
}

Json question_json(const space::Exploration& exploration) {
  const space::ExploreRequest& request = exploration.request();
  const solve::MatchRequest& r = exploration.space().request();
  const solve::MatchResult& stated = exploration.space().stated();
  Json j;
  j["baseline"] = arch_json(r.baseline);
  j["counting"] = Json::parse(pairs::to_json({r.options, r.budgets, {}}));
  for (std::size_t i = 0; i < r.budgets.size(); ++i) {
    j["budget"][budget_key(r.budgets[i])] = number(stated.targets[i]);
    j["tolerance"][budget_key(r.budgets[i])] = fraction(r.budgets[i].tolerance);
  }
  j["alignment"] = solve::alignment_text(r.alignment);
  j["loop"] = r.loop;
  j["parallel"] = fmt::format("tp {}, ep {}, pp {}", r.tensor_parallel, r.expert_parallel,
                              r.pipeline_parallel);
  j["assumptions"] = stated.assumptions;
  for (const auto& [name, domain] : stated.domains) {
    j["domains"][name] = list_of(domain);
    const solve::Unknown unknown = solve::parse_unknown(name, "domains");
    if (!of_loop(unknown) && unknown != solve::Unknown::depth)
      j["dimensions"][name] = baseline_value(r.baseline, unknown);
  }
  j["dimensions"]["depth"] = arch::depth(r.baseline);
  j["loop_shapes"] = exploration.space().problem().cases.size();
  j["candidates"] = solve::candidates(exploration.space().problem()).str();
  j["problem"] = problem_hash(exploration.space().problem());
  j["units"] = {{"total", exploration.units()}, {"blocks", exploration.blocks()}};
  j["measures"] = Json::array();
  for (const space::FrontMeasure& m : request.measures) {
    Json measure = {{"key", m.key}, {"unit", m.unit}, {"meaning", m.meaning}};
    if (m.kind == space::FrontMeasure::Kind::price) {
      measure["baseline"] = predicted_json(request.prices[m.price].baseline);
      measure["identity"] = request.prices[m.price].identity;
    }
    if (m.kind == space::FrontMeasure::Kind::budget)
      measure["baseline"] = number(exploration.space().baseline_value(m.budget));
    j["measures"].push_back(std::move(measure));
  }
  return j;
}

Json entry_json(const space::Exploration& exploration, const space::FrontPoint& point) {
  const solve::MatchSpace& space = exploration.space();
  const solve::MatchAnswer a =
      space.read(solve::candidate_at(space.problem(), point.index), true);
  const solve::MatchRequest& r = space.request();
  Json j;
  j["index"] = point.index.str();
  j["loop"] = a.loop.span == 0 ? "none" : arch::loop_text(a.loop, a.depth);
  for (std::size_t i = 0; i < point.scores.size(); ++i)
    j["measures"][exploration.request().measures[i].key] = score_json(point.scores[i]);
  for (const auto& [unknown, value] : a.values) j["dimensions"][std::string(solve::name(unknown))] = value;
  j["at_edge"] = at_edge(space.stated(), a);
  for (std::size_t i = 0; i < r.budgets.size(); ++i) {
    j["mismatch"][budget_key(r.budgets[i])] = fraction(a.mismatch[i]);
    j["mismatch_exact"][budget_key(r.budgets[i])] = a.mismatch[i].str();
  }
  j["max_mismatch"] = fraction(a.largest);
  j["arch"] = arch_json(a.architecture);
  return j;
}

ExploreResult result_of(const space::Exploration& exploration,
                        const space::Exploration::State& state,
                        std::optional<std::pair<std::size_t, std::size_t>> shard) {
  ExploreResult result{question_json(exploration), shard, exploration.blocks(), state, {}};
  for (const space::FrontPoint& point : state.front.points())
    result.entries[point.index.str()] = entry_json(exploration, point);
  return result;
}

Json explore_json(const ExploreResult& result) {
  const space::Exploration::State& s = result.state;
  Json j;
  j["schema"] = schema;
  j["complete"] = result.complete();
  if (result.shard) j["shard"] = fmt::format("{}/{}", result.shard->first, result.shard->second);
  j["question"] = result.question;
  j["units"] = {{"total", s.done.size()}, {"blocks", result.blocks}, {"done", ranges(s.done)}};
  j["space"] = certificate_json(s.certificate);
  j["priced"] = s.priced;
  j["without_prediction"] = s.without;
  j["front"] = Json::array();
  for (const space::FrontPoint& point : s.front.points())
    j["front"].push_back(result.entries.at(point.index.str()));
  return j;
}

ExploreResult read_explore(const std::string& text, const std::string& file) {
  const Json j = Json::parse(text, nullptr, false);
  if (!j.is_object() || !j.contains("schema") || j["schema"] != schema)
    no_result(file, "is not the result of an exploration");
  try {
    return read_fields(j, file);
  } catch (const nlohmann::json::exception& error) {
    no_result(file, fmt::format("is damaged: {}", error.what()));
  }
}

std::string difference(const Json& a, const Json& b) {
  for (const auto& [key, value] : a.items())
    if (!b.contains(key) || b.at(key) != value) return key;
  for (const auto& [key, value] : b.items())
    if (!a.contains(key)) return key;
  return {};
}

}  // namespace isoloop::cli
