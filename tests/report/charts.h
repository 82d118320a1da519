// Test support: small charts of every kind, and a check that markup is well formed.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "isoloop/report.h"

namespace isoloop::test {

inline report::Chart plot_of(std::vector<report::Point> points, const std::string& name = "plot") {
  report::Plot plot;
  plot.x = {"compute", "FLOPs"};
  plot.y = {"loss", "nats"};
  plot.series.push_back({"runs", report::Mark::dots, 0, false, points});
  plot.series.push_back({"law", report::Mark::line, 1, true, std::move(points)});
  plot.guides.push_back({false, 2.5, "limit"});
  return {name, "Loss against compute", "a note", std::move(plot)};
}

inline report::Chart bars_of() {
  report::Bars bars;
  bars.categories = {"q projection", "routed experts"};
  bars.series = {"baseline", "match"};
  bars.panels = {{"FLOPs", "", {{{100}, {200}}, {{110}, {190}}}},
                 {"time", "ms", {{{1, report::Range{0.5, 2}}, {-2}}, {{0}, {3}}}}};
  return {"bars", "Budgets", "", std::move(bars)};
}

inline report::Chart stacks_of() {
  report::Stack looped{"looped",
                       "18 layers run",
                       {{"prelude", 3, ""}, {"recur", 6, ""}, {"coda", 3, ""}},
                       {{1, 1, "2"}}};
  return {"stacks", "Layers", "",
          report::Stacks{{{"plain", "", {{"layers", 12, ""}}, {}}, looped}}};
}

/// "" if every element is closed in order and every attribute quoted, else what is wrong. Knows no
/// comments, CDATA or doctypes other than the first.
inline std::string ill_formed(const std::string& text, const std::vector<std::string>& voids = {}) {
  std::vector<std::string> open;
  for (std::size_t at = text.find('<'); at != text.npos; at = text.find('<', at)) {
    std::size_t end = at + 1;
    for (char quote = 0; end < text.size() && (quote != 0 || text[end] != '>'); ++end) {
      if (quote == 0 && (text[end] == '"' || text[end] == '\''))
        quote = text[end];
      else if (quote != 0 && text[end] == quote)
        quote = 0;
      else if (quote == 0 && text[end] == '<')
        return "a tag within " + text.substr(at, 40);
    }
    if (end >= text.size()) return "unfinished " + text.substr(at, 40);
    const std::string tag = text.substr(at + 1, end - at - 1);
    at = end;
    if (tag.starts_with("?") || tag.starts_with("!")) continue;
    const std::string name =
        tag.substr(tag.starts_with("/") ? 1 : 0,
                   tag.find_first_of(" \n/", 1) - (tag.starts_with("/") ? 1 : 0));
    if (tag.starts_with("/")) {
      if (open.empty() || open.back() != name)
        return "</" + name + "> closes " + (open.empty() ? "nothing" : open.back());
      open.pop_back();
    } else if (!tag.ends_with("/") && std::find(voids.begin(), voids.end(), name) == voids.end()) {
      open.push_back(name);
      if (name == "script" || name == "style") at = text.find("</" + name, at);  // raw text
    }
  }
  return open.empty() ? "" : "never closed: " + open.back();
}

inline std::size_t count_of(const std::string& text, const std::string& what) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != text.npos; at = text.find(what, at + 1)) ++count;
  return count;
}

/// A name that is markup in every context it could end up in.
inline const std::string hostile =
    "</script></title></svg><img src=x onerror=alert(1)>\"'&<!--\x01";

}  // namespace isoloop::test
