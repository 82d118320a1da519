// What the pages of laws share: frontiers, colours of sparsities, warnings.
//
// Held by tests/cli/report_test.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/report_parts.h"

namespace isoloop::cli {

void add_warnings(json::Fields& result, Page& page) {
  for (const std::string& warning : result.optional_texts("warnings"))
    page.add(report::Paragraph{"Warning: " + warning, report::Tone::warn});
}

std::size_t colour_of(std::vector<double>& known, double sparsity) {
  for (std::size_t i = 0; i < known.size(); ++i)
    if (std::abs(known[i] - sparsity) < 1e-9) return i;
  known.push_back(sparsity);
  return known.size() - 1;
}

void add_frontiers(json::Fields& result, report::Plot& plot, std::vector<double>& sparsities,
                   bool name_laws) {
  std::string first;
  for (json::Fields& f : result.optional_objects("frontiers")) {
    const double s = f.number("sparsity");
    const std::string law = f.optional_text("law").value_or("");
    if (first.empty()) first = law;
    report::Series curve{fmt::format("{}{:g}", name_laws ? law + ", S = " : "frontier, S = ", s),
                         report::Mark::line,
                         colour_of(sparsities, s),
                         name_laws && law == first,
                         {}};
    for (json::Fields& p : f.optional_objects("points")) {
      const double compute = p.number("compute"), loss = p.number("loss_nats");
      const auto low = p.optional_number("low"), high = p.optional_number("high");
      if (!(compute > 0)) continue;
      curve.points.push_back(
          {compute, loss, low && high ? std::optional(report::Range{*low, *high}) : std::nullopt});
    }
    if (!curve.points.empty()) plot.series.push_back(std::move(curve));
  }
}

}  // namespace isoloop::cli
