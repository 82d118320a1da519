// The comparison of alignments and freedoms over a grid.
#pragma once

#include <functional>

#include "cli/command.h"
#include "isoloop/grid.h"

namespace isoloop::cli {

using RequestOf = std::function<solve::MatchRequest(const grid::Cell&, const solve::Alignment&)>;

Answer compare_grid(const grid::Grid& grid, const RequestOf& request_of);

}  // namespace isoloop::cli
