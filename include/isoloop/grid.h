// grid: a published grid of baselines and looped models, and how well it can be reproduced.
//
// A grid file (data/grids/) holds the printed figures of a paper with the geometry recovered from
// them. compare() recounts every row and rounds to the printed digits; match requests for each
// cell come from the same file. Held by tests/grid/grid_test.cpp.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "isoloop/arch.h"
#include "isoloop/cost.h"
#include "isoloop/solve.h"

namespace isoloop::grid {

/// Figures as printed, so that the digits are known; "" where the paper prints none.
struct Figures {
  std::string active_b, total_b;        // 1e9 parameters without embedding and head
  std::string sparsity;                 // S = 1 - (F/F0) N0/N
  std::string flops_ratio, kv_ratio;    // looped rows: relative to the baseline
  bool operator==(const Figures&) const = default;
};

struct Row {
  std::optional<arch::Architecture> architecture;  // none: not reproducible as printed
  std::int64_t experts = 0;
  Figures published;
  Figures reproduced;  // recounted, rounded to the printed digits; empty without architecture
};

struct Cell {
  std::string scale;
  std::string name;      // "200M-E192"
  Row baseline, looped;
  Ratio published_mismatch;  // largest of the printed ones: FLOPs, parameters, KV
};

struct Grid {
  std::string name, title, source, confidence;
  cost::Options options;  // the grid's own convention and mean attended length
  // Every cell was trained on so many (smelt: 196,075 steps of 256 x 4,096); 0 = not stated.
  std::int64_t train_tokens = 0;
  std::vector<std::string> notes;
  std::vector<Cell> cells;
};

std::vector<std::string> names();
/// Throws Error (kind usage) with the nearest name. Rows are recounted on loading.
Grid load(std::string_view name, std::string_view where);

/// The paper's own question for a cell: its loop and alignment (expert counts in steps of 1 for
/// the dense cells), one tolerance of 2 % for all three budgets.
solve::MatchRequest request(const Grid& grid, const Cell& cell);

/// Baselines of all grids as built-in architectures: "smelt-200m-e192", and the reproducible
/// looped models: "smelt-200m-e288-looped".
std::vector<arch::Architecture> built_in_architectures();

}  // namespace isoloop::grid
