// Loop shapes: which depths, spans, visits and starts a request allows.
//
// Shapes that execute the same numbers of the same layers cost the same whatever the dimensions
// are (moving the loop's start in a uniform stack, say), so they form one case of the search.
// Held by tests/solve/match_test.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "solve/statement.h"

namespace isoloop::solve::detail {
namespace {

std::vector<std::int64_t> values(const Range& range) {
  std::vector<std::int64_t> result;
  for (std::int64_t v = range.low; v <= range.high; v += range.step) result.push_back(v);
  return result;
}

/// The values of a loop unknown: fixed, freed, or the one the loop text says.
std::vector<std::int64_t> choices(const MatchRequest& request, Unknown unknown, std::int64_t usual,
                                  Range free_range) {
  if (const auto fixed = request.fixed.find(unknown); fixed != request.fixed.end())
    return {fixed->second};
  const auto freed = request.freed.find(unknown);
  if (freed == request.freed.end()) return {usual};
  return values(freed->second.value_or(free_range));
}

bool given(const MatchRequest& request, Unknown unknown) {
  return request.fixed.contains(unknown) || request.freed.contains(unknown);
}

/// Whether the request asks for a loop by its visits: fixed to 2 or more, or freed from 2 up.
/// Having no loop is then a candidate only by `span` fixed or freed to 0 alone, or a loop of none.
bool asks_for_loop(const MatchRequest& request, const arch::Loop& usual) {
  if (const auto span = request.fixed.find(Unknown::loop_span); span != request.fixed.end()) {
    if (span->second == 0) return false;
  } else if (const auto freed = request.freed.find(Unknown::loop_span);
             freed == request.freed.end()) {
    if (usual.span == 0) return false;
  } else if (freed->second && freed->second->high == 0) {
    return false;
  }
  if (const auto visits = request.fixed.find(Unknown::loop_visits); visits != request.fixed.end())
    return visits->second >= 2;
  const auto visits = request.freed.find(Unknown::loop_visits);
  return visits != request.freed.end() && visits->second && visits->second->low >= 2;
}

/// Each shape is written out layer by layer once; more than this takes more than seconds.
constexpr std::int64_t most_listed_layers = 20'000'000;

void add_shape(const Shape& shape, std::vector<Shape>& shapes) {
  if ((std::ssize(shapes) + 1) * shape.depth > most_listed_layers)
    throw usage_error("too many loop shapes are left", "--free",
                      "give depth, span, visits or start a narrower range");
  shapes.push_back(shape);
}

void add_shapes_of_span(const MatchRequest& request, std::int64_t depth, std::int64_t span,
                        const arch::Loop& usual, std::vector<Shape>& shapes) {
  if (span > depth) return;
  if (span == 0) {
    if (!asks_for_loop(request, usual)) add_shape({depth, arch::Loop{}}, shapes);
    return;
  }
  const std::int64_t centre = arch::centred_first(depth, span);
  const std::int64_t start = given(request, Unknown::loop_span) ? centre : usual.first;
  const arch::Order order = span > 1 ? usual.order : arch::Order::block;  // one layer has one order
  for (const std::int64_t visits :
       choices(request, Unknown::loop_visits, std::max<std::int64_t>(usual.visits, 1), {2, 4, 1})) {
    for (const std::int64_t first :
         choices(request, Unknown::loop_start, start, {1, depth - span + 1, 1})) {
      if (first < 1 || first + span - 1 > depth) continue;
      if (visits == 1)
        add_shape({depth, arch::Loop{}}, shapes);
      else if (depth + span * (visits - 1) <= max_executed_layers)
        add_shape({depth, {first, span, visits, order}}, shapes);
    }
  }
}

std::vector<Shape> all_shapes(const MatchRequest& request) {
  const std::int64_t base_depth = arch::depth(request.baseline);
  std::vector<Shape> shapes;
  std::optional<Error> does_not_fit;  // "4-9x2" needs nine layers: shallower depths are left out
  for (const std::int64_t depth :
       choices(request, Unknown::depth, base_depth,
               {std::max<std::int64_t>(1, base_depth / 2), 2 * base_depth, 1})) {
    if (depth % request.pipeline_parallel != 0 || depth > max_executed_layers) continue;
    arch::Loop usual;
    try {
      usual = arch::parse_loop(request.loop, depth, "--loop");
    } catch (const Error& error) {
      if (!does_not_fit) does_not_fit = error;
      continue;
    }
    for (const std::int64_t span :
         choices(request, Unknown::loop_span, usual.span, {1, depth, 1}))
      add_shapes_of_span(request, depth, span, usual, shapes);
  }
  if (shapes.empty() && does_not_fit) throw *does_not_fit;
  return shapes;
}

/// Order of preference among shapes of equal cost: depth nearest the baseline's, then fewer
/// visits, then centred.
void prefer(const MatchRequest& request, std::vector<Shape>& shapes) {
  const std::int64_t base_depth = arch::depth(request.baseline);
  const auto rank = [&](const Shape& s) {
    const std::int64_t centre = arch::centred_first(s.depth, s.loop.span);
    return std::tuple(std::abs(s.depth - base_depth), s.loop.visits, -s.loop.span,
                      std::abs(s.loop.first - centre), s.depth, s.loop.first);
  };
  std::sort(shapes.begin(), shapes.end(),
            [&](const Shape& a, const Shape& b) { return rank(a) < rank(b); });
  const auto same = [](const Shape& a, const Shape& b) {
    return a.depth == b.depth && a.loop == b.loop;
  };
  shapes.erase(std::unique(shapes.begin(), shapes.end(), same), shapes.end());
}

/// What decides the cost of a shape: for each kind of layer and window, how many layers are stored
/// and how many are executed.
using CostKey = std::map<std::pair<std::size_t, std::int64_t>, std::pair<std::int64_t, Ratio>>;

CostKey cost_key(const arch::Architecture& model,
                 std::vector<std::pair<arch::Attention, arch::Ffn>>& kinds) {
  CostKey key;
  for (const arch::Segment& segment : model.segments) {
    std::pair<arch::Attention, arch::Ffn> kind{segment.attention, segment.ffn};
    kind.first.windows.clear();
    const auto known = std::find(kinds.begin(), kinds.end(), kind);
    const auto index = static_cast<std::size_t>(known - kinds.begin());
    if (known == kinds.end()) kinds.push_back(std::move(kind));
    for (std::int64_t i = 0; i < segment.layers; ++i) {
      auto& [stored, executed] = key[{index, arch::window_of(segment, i)}];
      stored += 1;
      executed += segment.visits.forward;
    }
  }
  return key;
}

}  // namespace

std::vector<ShapeClass> shape_classes(const MatchRequest& request) {
  std::vector<Shape> shapes = all_shapes(request);
  if (shapes.empty())
    throw usage_error("no loop shape satisfies --loop, --fix and --free", "--loop",
                      fmt::format("the span must fit the depth, the start leave room for the span, "
                                  "--pp divide the depth, and at most {} layers be executed",
                                  max_executed_layers));
  prefer(request, shapes);
  const arch::Architecture plain = arch::without_loop(request.baseline);
  std::vector<std::pair<arch::Attention, arch::Ffn>> kinds;
  std::map<CostKey, std::size_t> classes;
  std::vector<ShapeClass> result;
  std::int64_t depth = 0;
  arch::Architecture deep;
  for (const Shape& shape : shapes) {
    if (shape.depth != depth) deep = arch::with_depth(plain, depth = shape.depth);
    arch::Architecture model = arch::with_loop(deep, shape.loop);
    const auto [at, is_new] = classes.emplace(cost_key(model, kinds), result.size());
    if (is_new) result.push_back({{}, std::move(model)});
    result[at->second].shapes.push_back(shape);
  }
  return result;
}

}  // namespace isoloop::solve::detail
