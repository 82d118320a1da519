// Building a folder of configs and its manifest.
//
// Held by tests/cli/match_test.cpp, grid_test.cpp and sweep_test.cpp.
#include "cli/pair_folder.h"

namespace isoloop::cli {

PairFolder::PairFolder(const cost::Options& options,
                       const std::vector<solve::BudgetTolerance>& tolerance) {
  manifest_.options = options;
  manifest_.tolerance = tolerance;
}

std::string PairFolder::add(const std::string& file, const arch::Architecture& model) {
  files_[file] = arch::to_json(model);
  models_[file] = model;
  return file;
}

void PairFolder::pair(const std::string& name, const std::string& baseline,
                      const std::string& match,
                      std::vector<solve::BudgetTolerance> tolerance) {
  manifest_.pairs.push_back({name, baseline, match, std::move(tolerance), {}, {}});
}

void PairFolder::text(const std::string& file, std::string text) { files_[file] = std::move(text); }

std::map<std::string, std::string> PairFolder::files() const {
  std::map<std::string, std::string> result = files_;
  if (manifest_.pairs.empty()) return result;
  const auto open = [&](const std::string& file) { return models_.at(file); };
  result["pairs.json"] = pairs::to_json(pairs::record(manifest_, open));
  return result;
}

}  // namespace isoloop::cli
