// A sweep as sections of the page: members of each series, mismatch and printed loss along the
// series, and the pair of the selected member.
//
// Held by tests/cli/report_test.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/report_parts.h"

namespace isoloop::cli {
namespace {

using report::Align;
using report::Cell;
using report::Tone;

struct Member {
  json::Fields fields;
  std::string series;
  std::size_t baseline = 0;
};

/// Published figures are texts, as printed.
std::optional<double> printed_loss(json::Fields& member) {
  auto published = member.optional_object("published");
  const auto text = published ? published->optional_text("val_loss") : std::nullopt;
  double value = 0;
  if (!text || std::from_chars(text->data(), text->data() + text->size(), value).ec != std::errc{})
    return std::nullopt;
  return value;
}

/// What varies most: span, else visits, else depth.
std::string axis_of(std::vector<Member>& members) {
  std::string best = "span";
  std::size_t most = 0;
  for (const std::string key : {"span", "visits", "depth"}) {
    std::set<double> values;
    for (Member& m : members) values.insert(m.fields.number(key));
    if (values.size() > most) {
      most = values.size();
      best = key;
    }
  }
  return best;
}

report::Chart along(std::vector<Member>& members, const std::string& axis, bool loss,
                    const Page& page, const std::string& table) {
  report::Plot plot;
  plot.x = {axis == "visits"  ? "visits"
            : axis == "depth" ? "physical layers"
                              : "layers in the loop"};
  plot.y = loss ? report::Axis{"validation loss as printed", "nats"}
                : report::Axis{"largest mismatch", "%", false, true};
  for (std::size_t i = 0; i < members.size(); ++i) {
    json::Fields& f = members[i].fields;
    const auto y = loss ? printed_loss(f) : f.optional_number("max_mismatch");
    if (y)
      series_of(plot, members[i].series)
          .points.push_back({f.number(axis), loss ? *y : *y * 100, {}, f.text("name"), i});
  }
  return {page.name(loss ? "loss" : "largest"),
          loss ? "Printed loss along the series" : "How near each member comes", "",
          std::move(plot), table};
}

/// A control's own target, which its mismatch is against.
std::string controls_note(std::vector<Member>& members) {
  std::vector<std::string> texts;
  for (Member& m : members)
    for (const auto& [budget, times] : values_of(m.fields, "target_of_baseline"))
      texts.push_back(fmt::format("{}: {} against {:.6g} times the baseline's",
                                  m.fields.text("name"), budget, times));
  return texts.empty() ? "" : "Not against the baseline itself: " + list_text(texts) + ".";
}

/// "ok", or the budget that keeps a member from it.
Cell verdict(json::Fields& member) {
  if (member.optional_boolean("within_tolerance").value_or(false)) return {"ok", Tone::good};
  if (!member.has("arch")) return {"impossible", Tone::bad};
  return {"nearest miss: " + member.optional_text("binding").value_or(""), Tone::bad};
}

/// What a member is judged by stands before its shape; a series that all share is left out.
report::Table members_table(std::vector<Member>& members, const std::string& id, bool losses) {
  const bool several = std::any_of(members.begin(), members.end(), [&](const Member& m) {
    return m.series != members.front().series;
  });
  report::Table table;
  table.id = id;
  table.columns = {{"member", "", Align::left}};
  if (several) table.columns.push_back({"series", "", Align::left});
  table.columns.push_back({"loop", "", Align::left});
  table.columns.push_back({"result", "", Align::left});
  constexpr std::array budgets = {"flops", "params", "kv"};
  for (const char* b : budgets) table.columns.push_back({b, "% off"});
  table.columns.push_back({"largest", "%"});
  if (losses) table.columns.push_back({"printed loss", "nats"});
  table.columns.push_back({"span"});
  table.columns.push_back({"visits"});
  for (const report::Column& c : shape_columns()) table.columns.push_back(c);
  const std::string* series = nullptr;
  for (Member& m : members) {
    json::Fields& f = m.fields;
    if (series != nullptr && *series != m.series) table.rules.push_back(table.rows.size());
    series = &m.series;
    std::vector<Cell> row = {f.text("name")};
    if (several) row.emplace_back(m.series);
    row.emplace_back(f.text("loop"));
    row.push_back(verdict(f));
    const Values mismatch = values_of(f, "mismatch");
    for (const char* b : budgets) {
      const double value = value_or(mismatch, b, NAN);
      row.emplace_back(value != value ? "" : signed_percent(value));
    }
    const auto largest = f.optional_number("max_mismatch");
    row.emplace_back(largest ? fixed(*largest * 100, 3) : "none", row[several ? 3 : 2].tone);
    if (losses) {
      const auto loss = printed_loss(f);
      row.emplace_back(loss ? fmt::format("{:.4f}", *loss) : "");
    }
    row.emplace_back(number_text(f, "span"));
    row.emplace_back(number_text(f, "visits"));
    if (const auto model = optional_architecture(f, "arch"))
      add_shape(*model, row);
    else
      row.resize(row.size() + shape_columns().size());
    table.rows.push_back(std::move(row));
  }
  table.note = controls_note(members);
  return table;
}

}  // namespace

void add_sweep(json::Fields& result, Page& page) {
  std::vector<json::Fields> series = result.optional_objects("series");
  if (series.empty()) throw result.missing("series");
  std::vector<Named> baselines;
  std::vector<Member> members;
  for (json::Fields& s : series) {
    baselines.push_back({"baseline", architecture(s, "baseline")});
    const auto sparsity = s.optional_text("sparsity");
    const std::string name = sparsity ? "S = " + *sparsity : baselines.back().model.name;
    for (json::Fields& m : s.optional_objects("members"))
      members.push_back({std::move(m), name, baselines.size() - 1});
  }
  page.add(report::Heading{"Sweep: " + result.text("name")});
  const std::string table = page.name("members");
  const bool losses = std::any_of(members.begin(), members.end(),
                                  [](Member& m) { return printed_loss(m.fields).has_value(); });
  page.add(members_table(members, table, losses));
  const std::string axis = axis_of(members);
  page.add(along(members, axis, false, page, table));
  if (losses) page.add(along(members, axis, true, page, table));
  std::vector<MismatchPoint> points;
  for (std::size_t i = 0; i < members.size(); ++i)
    points.push_back({members[i].fields.text("name"), members[i].series,
                      values_of(members[i].fields, "mismatch"), i});
  page.add(mismatch_plot(page.name("mismatch"), table, points, values_of(result, "tolerance")));
  const cost::Options options = counting(result);
  std::vector<std::string> left_out;
  for (std::size_t i = 0; i < members.size(); ++i) {
    json::Fields& f = members[i].fields;
    if (auto model = optional_architecture(f, "arch");
        model && !add_pair(page, table, i, baselines[members[i].baseline],
                           {f.text("name"), *std::move(model)}, values_of(f, "mismatch"), options,
                           values_of(f, "target_of_baseline")))
      left_out.push_back(f.text("name"));
  }
  say_left_out(page, left_out);
}

}  // namespace isoloop::cli
