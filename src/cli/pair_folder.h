// A folder of configs with the manifest of pairs that must stay equal, as match, grid and sweep
// write it.
#pragma once

#include <map>
#include <string>

#include "isoloop/pairs.h"

namespace isoloop::cli {

class PairFolder {
 public:
  PairFolder(const cost::Options& options, const std::vector<solve::BudgetTolerance>& tolerance);

  /// Adds an architecture as `file` and returns it; a file added twice is kept once.
  std::string add(const std::string& file, const arch::Architecture& model);
  /// Adds a pair of files already added; without a tolerance of its own it has the manifest's.
  void pair(const std::string& name, const std::string& baseline, const std::string& match,
            std::vector<solve::BudgetTolerance> tolerance = {});
  /// Adds any other file.
  void text(const std::string& file, std::string text);

  /// All files by path, with pairs.json and its recorded counts if there is a pair.
  std::map<std::string, std::string> files() const;

 private:
  pairs::Manifest manifest_;
  std::map<std::string, std::string> files_;
  std::map<std::string, arch::Architecture> models_;
};

}  // namespace isoloop::cli
