// isoloop fit --form sigmoid: from pre-training loss to a benchmark.
//
// Held by tests/cli/fit_test.cpp.
#pragma once

#include <string>

#include "cli/command.h"
#include "isoloop/law.h"

namespace isoloop::cli {

/// The curve through the points of `runs`, and how far those of `against` lie off it.
Answer sigmoid_answer(const law::Runs& runs, const std::optional<law::Runs>& against,
                      const std::string& direction);

}  // namespace isoloop::cli
