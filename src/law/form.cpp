// Forms of a law: their coefficients, their names, what is left out and what is pinned.
//
// Source: arXiv 2609.01343 (smelt), arXiv 2203.15556 (chinchilla). Held by tests/law/form_test.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "isoloop/law.h"
#include "law/numbers.h"

namespace isoloop::law {
namespace {

constexpr std::array<std::string_view, coefficient_count> smelt_names = {"E", "A", "K",
                                                                         "a", "b", "c"};
constexpr std::array<std::string_view, coefficient_count> chinchilla_names = {"E",     "A", "B",
                                                                              "alpha", "",  "beta"};

std::size_t index_of(Coefficient which) { return static_cast<std::size_t>(which); }

bool exists(const Form& form, Coefficient which) {
  switch (which) {
    case Coefficient::E:
      return form.floor;
    case Coefficient::A:
    case Coefficient::a:
      return form.size;
    case Coefficient::b:
      return form.size && form.sparsity && form.family == Family::smelt;
    default:
      return form.data;
  }
}

bool is_amplitude(Coefficient which) {
  return which == Coefficient::E || which == Coefficient::A || which == Coefficient::K;
}

std::string written(const Form& form, Coefficient which) {
  const auto& pinned = form.pinned[index_of(which)];
  return pinned ? detail::number_text(*pinned) : std::string(name(form.family, which));
}

}  // namespace

Form parse_form(std::string_view text, std::string_view where) {
  const std::vector<std::string> known = {"smelt", "chinchilla"};
  Form form;
  if (text == known[0]) return form;
  form.family = Family::chinchilla;
  form.sparsity = false;
  if (text == known[1]) return form;
  throw unknown_name(ErrorKind::usage, "form", text, known, where);
}

std::string_view name(Family family) { return family == Family::smelt ? "smelt" : "chinchilla"; }

std::string_view name(Family family, Coefficient which) {
  return (family == Family::smelt ? smelt_names : chinchilla_names)[index_of(which)];
}

Coefficient parse_coefficient(Family family, std::string_view text, std::string_view where) {
  std::vector<std::string> known;
  for (const Coefficient which : all_coefficients) {
    if (name(family, which).empty()) continue;
    if (name(family, which) == text) return which;
    known.emplace_back(name(family, which));
  }
  throw unknown_name(ErrorKind::usage, "coefficient", text, known, where);
}

void leave_out(Form& form, std::string_view term, std::string_view where) {
  const std::vector<std::string> known = {"floor", "size", "sparsity", "data"};
  const std::array<bool Form::*, 4> members = {&Form::floor, &Form::size, &Form::sparsity,
                                               &Form::data};
  const auto at = std::find(known.begin(), known.end(), term);
  if (at == known.end()) throw unknown_name(ErrorKind::usage, "term", term, known, where);
  form.*members[static_cast<std::size_t>(at - known.begin())] = false;
}

void pin(Form& form, std::string_view assignment, std::string_view where) {
  const auto [left, right] = detail::parse_assignment(assignment, where);
  const Coefficient which = parse_coefficient(form.family, left, where);
  const auto value = detail::parse_number(right);
  if (!value || !(std::abs(*value) < 1e300))
    throw usage_error(fmt::format("'{}' is no number", right), std::string(where));
  if (is_amplitude(which) && !(*value > 0))
    throw usage_error(fmt::format("{} must be positive, not {}", left, right), std::string(where),
                      "leave the term out instead");
  if (!exists(form, which))
    throw usage_error(fmt::format("{} is in a term that is left out", left), std::string(where));
  form.pinned[index_of(which)] = *value;
}

Form share_exponents(Form form, const Coefficients& fitted) {
  for (const Coefficient which : {Coefficient::a, Coefficient::b, Coefficient::c})
    if (exists(form, which)) form.pinned[index_of(which)] = fitted[which];
  return form;
}

std::vector<Coefficient> coefficients_of(const Form& form) {
  std::vector<Coefficient> out;
  for (const Coefficient which : all_coefficients)
    if (exists(form, which)) out.push_back(which);
  return out;
}

std::vector<Coefficient> free_coefficients(const Form& form) {
  std::vector<Coefficient> out;
  for (const Coefficient which : coefficients_of(form))
    if (!form.pinned[index_of(which)]) out.push_back(which);
  return out;
}

std::string equation(const Form& form) {
  const auto w = [&](Coefficient which) { return written(form, which); };
  std::vector<std::string> terms;
  if (form.floor) terms.push_back(w(Coefficient::E));
  if (form.size) {
    const bool smelt = form.family == Family::smelt;
    const std::string factor =
        exists(form, Coefficient::b) ? " (1-S)^" + w(Coefficient::b) : std::string();
    terms.push_back(fmt::format("{}{} / {}^{}", w(Coefficient::A), factor, smelt ? "F" : "N",
                                w(Coefficient::a)));
  }
  if (form.data) terms.push_back(w(Coefficient::K) + " / D^" + w(Coefficient::c));
  return fmt::format("L = {}", terms.empty() ? "0" : fmt::format("{}", fmt::join(terms, " + ")));
}

}  // namespace isoloop::law
