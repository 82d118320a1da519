// Putting a loop into an architecture and taking it out again.
//
// A loop is a range of physical layers, an architecture a list of segments, so a loop cuts the
// segments at its two ends. Example, segments dense (1 layer) and moe (5 layers), loop 1-3x2:
//
//   dense  moe.recur (2 layers)  moe.coda (3 layers)
//   schedule: dense moe.recur dense moe.recur moe.coda
//
// The schedule is needed because the block spans two segments: without it each segment would repeat
// on its own. Layer by layer (Order::layer) repeating on its own is what is meant.
//
// A piece's window pattern is the segment's pattern rotated to where the piece begins. It keeps its
// full length, even in a piece shorter than it, so that joining the pieces gives back the original.
//
// Held by tests/arch/loop_test.cpp.
#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "arch/rules.h"

namespace isoloop::arch {
namespace {

constexpr std::string_view roles[] = {"prelude", "recur", "coda"};

std::vector<std::int64_t> rotated(const std::vector<std::int64_t>& windows, std::int64_t layers) {
  std::vector<std::int64_t> result = windows;
  if (result.empty()) return result;
  const auto shift = layers % std::ssize(result);
  std::rotate(result.begin(), result.begin() + shift, result.end());
  return result;
}

bool is_looped(const Segment& segment) { return segment.visits.forward != Ratio(1); }

Segment unlooped(Segment segment) {
  if (segment.residual_scale) {
    const Ratio scale = *segment.residual_scale * segment.visits.forward;
    segment.residual_scale = scale == Ratio(1) ? std::nullopt : std::optional(scale);
  }
  const Segment plain;
  segment.visits = plain.visits;
  segment.order = plain.order;
  segment.injection = plain.injection;
  segment.kv_policy = plain.kv_policy;
  segment.kv_slots = plain.kv_slots;
  segment.norms_per_visit = plain.norms_per_visit;
  segment.adapter_rank = plain.adapter_rank;
  segment.exit_gate = plain.exit_gate;
  return segment;
}

bool continues_windows(const Segment& before, const Segment& after) {
  return after.attention.windows == rotated(before.attention.windows, before.layers);
}

// True if `after` is more layers of `before`.
bool continues(const Segment& before, const Segment& after) {
  if (!continues_windows(before, after)) return false;
  Segment same = after;
  same.name = before.name;
  same.layers = before.layers;
  same.attention.windows = before.attention.windows;
  return same == before;
}

// The segment a piece was cut from: "moe" of "moe.recur", "" of "recur".
std::string stem(const std::string& name) {
  for (const std::string_view role : roles) {
    if (name == role) return "";
    if (name.size() > role.size() + 1 && name.ends_with(role) &&
        name[name.size() - role.size() - 1] == '.') {
      return name.substr(0, name.size() - role.size() - 1);
    }
  }
  return name;
}

// Segments of the loopless architecture and the names of the pieces each was joined from.
struct Joined {
  Segment segment;
  std::vector<std::string> pieces;
  bool was_looped = false;
};

std::vector<Joined> join(const std::vector<Segment>& segments) {
  std::vector<Joined> joined;
  for (const Segment& original : segments) {
    Segment segment = unlooped(original);
    if (!joined.empty() && continues(joined.back().segment, segment)) {
      joined.back().segment.layers += segment.layers;
    } else {
      joined.push_back({std::move(segment), {}});
    }
    joined.back().pieces.push_back(original.name);
    joined.back().was_looped |= is_looped(original);
  }
  return joined;
}

// Undoes the naming of with_loop where that is what happened.
std::string joined_name(const Joined& joined, bool only_one) {
  const std::string& first = joined.pieces.front();
  if (joined.pieces.size() == 1 && !joined.was_looped) return first;
  for (const std::string& piece : joined.pieces) {
    if (stem(piece) != stem(first)) return first;
  }
  if (!stem(first).empty()) return stem(first);
  return only_one ? "layers" : first;
}

std::string unused_name(std::string name, const std::set<std::string>& used) {
  if (!used.contains(name)) return name;
  for (int i = 2;; ++i) {
    std::string numbered = fmt::format("{}.{}", name, i);
    if (!used.contains(numbered)) return numbered;
  }
}

// Part [from, to) of a segment's layers.
Segment piece_of(const Segment& segment, std::int64_t from, std::int64_t to) {
  Segment piece = segment;
  piece.layers = to - from;
  piece.attention.windows = rotated(segment.attention.windows, from);
  return piece;
}

void set_visits(Segment& segment, const Loop& loop) {
  segment.visits = {Ratio(loop.visits), Ratio(loop.visits)};
  segment.residual_scale = segment.residual_scale.value_or(Ratio(1)) / Ratio(loop.visits);
  segment.order = loop.span > 1 ? loop.order : Order::block;  // one layer has only one order
}

// The segments with cuts at both ends of the loop; `parts` lists those before, in and after it.
struct Cut {
  std::vector<Segment> segments;
  std::vector<std::string> parts[3];
};

void cut_segment(const Segment& segment, std::int64_t start, const Loop& loop, bool only_one,
                 std::set<std::string>& used, Cut& cut) {
  const std::int64_t begin = loop.first - 1, end = begin + loop.span;
  const std::int64_t last = start + segment.layers;
  const std::int64_t bounds[] = {start, std::clamp(begin, start, last),
                                 std::clamp(end, start, last), last};
  for (std::size_t part = 0; part < 3; ++part) {
    if (bounds[part] == bounds[part + 1]) continue;
    Segment piece = piece_of(segment, bounds[part] - start, bounds[part + 1] - start);
    if (only_one) {
      piece.name = roles[part];
    } else if (piece.layers != segment.layers) {
      piece.name = unused_name(fmt::format("{}.{}", segment.name, roles[part]), used);
      used.insert(piece.name);
    }
    if (part == 1) set_visits(piece, loop);
    cut.parts[part].push_back(piece.name);
    cut.segments.push_back(std::move(piece));
  }
}

Cut cut_at(const std::vector<Segment>& segments, const Loop& loop) {
  std::set<std::string> used;
  for (const Segment& segment : segments) used.insert(segment.name);
  Cut cut;
  std::int64_t start = 0;
  for (const Segment& segment : segments) {
    cut_segment(segment, start, loop, segments.size() == 1, used, cut);
    start += segment.layers;
  }
  return cut;
}

std::vector<std::string> block_schedule(const std::vector<std::string> (&parts)[3],
                                        std::int64_t visits) {
  std::vector<std::string> schedule = parts[0];
  for (std::int64_t i = 0; i < visits; ++i) {
    schedule.insert(schedule.end(), parts[1].begin(), parts[1].end());
  }
  schedule.insert(schedule.end(), parts[2].begin(), parts[2].end());
  return schedule;
}

void check_loop(const Loop& loop, std::int64_t layers) {
  if (loop.visits < 1 || loop.visits > max_visits) {
    throw input_error(fmt::format("is {} visits; expected 1 to {}", loop.visits, max_visits),
                      "loop");
  }
  if (loop.span < 0)
    throw input_error(fmt::format("spans {} layers; expected 0 or more", loop.span), "loop");
  if (loop.span == 0) return;
  if (loop.first < 1 || loop.first > layers || loop.span > layers - loop.first + 1) {
    throw input_error(fmt::format("{} layers from layer {} on do not lie in a model of {} layers",
                                  loop.span, loop.first, layers),
                      "loop", fmt::format("layers count from 1 to {}", layers));
  }
}

}  // namespace

bool has_loop_fields(const Segment& segment) {
  Segment plain = unlooped(segment);
  plain.residual_scale = segment.residual_scale;
  return plain != segment;
}

Architecture without_loop(const Architecture& architecture) {
  const std::vector<Joined> joined = join(architecture.segments);
  Architecture result = architecture;
  result.schedule.clear();
  result.segments.clear();
  std::set<std::string> taken;
  for (const Joined& one : joined) taken.insert(one.pieces.front());
  for (const Joined& one : joined) {
    Segment segment = one.segment;
    std::string name = joined_name(one, joined.size() == 1);
    taken.erase(one.pieces.front());
    segment.name = taken.contains(name) ? one.pieces.front() : std::move(name);
    taken.insert(segment.name);
    result.segments.push_back(std::move(segment));
  }
  return result;
}

Architecture with_loop(const Architecture& architecture, const Loop& loop) {
  Architecture result = without_loop(architecture);
  check_loop(loop, depth(result));
  if (loop.span == 0 || loop.visits == 1) return result;
  Cut cut = cut_at(result.segments, loop);
  result.segments = std::move(cut.segments);
  if (loop.order == Order::block && cut.parts[1].size() > 1) {
    result.schedule = block_schedule(cut.parts, loop.visits);
  }
  return result;
}

Architecture with_depth(const Architecture& architecture, std::int64_t wanted) {
  Architecture result = architecture;
  auto& segments = result.segments;
  if (segments.empty()) throw input_error("is empty; expected at least one segment", "segments");
  const auto longest =
      std::max_element(segments.begin(), segments.end(),
                       [](const Segment& a, const Segment& b) { return a.layers < b.layers; });
  const std::int64_t fixed = depth(architecture) - longest->layers;
  if (wanted <= fixed || wanted > max_layers) {
    throw input_error(fmt::format("a depth of {} cannot be reached by changing segment '{}'",
                                  wanted, longest->name),
                      "depth", fmt::format("depth can be {} to {}", fixed + 1, max_layers));
  }
  // A pattern that runs on through the segments behind keeps running.
  auto end = longest + 1;
  while (end != segments.end() && continues_windows(*(end - 1), *end)) ++end;
  longest->layers = wanted - fixed;
  for (auto next = longest + 1; next != end; ++next) {
    next->attention.windows = rotated((next - 1)->attention.windows, (next - 1)->layers);
  }
  return result;
}

}  // namespace isoloop::arch
