// What is drawn and left out together.
//
// Held by tests/law/resample_test.cpp.
#pragma once

#include <string>
#include <vector>

#include "isoloop/law.h"

namespace isoloop::law::detail {

struct Units {
  bool by_cell = false;
  std::vector<std::string> names;              // of cells, sorted
  std::vector<std::vector<std::size_t>> rows;  // of each unit
};
/// Cells if every row has one (or throws, if cells are asked for), else single rows.
Units units_of(const Fit& fit, Resample by);

/// How often each row is drawn. Depends on seed, draw and the number of units alone.
std::vector<double> draw_weights(const Units& units, std::size_t rows, std::uint64_t seed,
                                 std::size_t draw);

}  // namespace isoloop::law::detail
