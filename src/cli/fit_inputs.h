// What isoloop fit does with its rows and its form before fitting: F from architectures, exponents
// from another law.
//
// Held by tests/cli/fit_test.cpp.
#pragma once

#include <string>
#include <vector>

#include "cli/options.h"
#include "isoloop/law.h"

namespace isoloop::cli {

struct Context;

/// Sets F of every row from the architecture of its cell ("CELL=ARCH" of `given`) or of its arch
/// column. Returns which F that is, in words; "" if no row names an architecture.
std::string set_flops(law::Runs& runs, const std::vector<std::string>& given,
                      const CountFlags& count, const Context& context);

/// Pins coefficients to those of another law: "LAW" shares a, b and c, "a,c=LAW" the ones named.
/// Warnings say so if that law is rounded.
void share_coefficients(law::Form& form, const std::string& text, const Context& context,
                        std::vector<law::Warning>& warnings);

}  // namespace isoloop::cli
