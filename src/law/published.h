// The tables a paper prints beside its laws: shown beside ours by gain, and the source of the
// gain's intervals in plan --grid.
//
// Source: data/laws/paper_tables.json. Held by tests/law/laws_test.cpp and tests/law/gain_test.cpp.
#pragma once

#include <string>
#include <vector>

#include "isoloop/law.h"

namespace isoloop::law {

struct PublishedGain {
  double compute = 0, sparsity = 0, gain = 0;
  Interval interval;
};
struct PublishedTpp {
  double sparsity = 0;
  std::string law;
  double tokens_per_param = 0;
  Interval interval;
};
struct Published {
  std::string source;
  double tpp_compute = 0;
  std::vector<PublishedGain> gains;
  std::vector<PublishedTpp> tpp;
};
/// The tables of arXiv 2609.01343.
Published published();

}  // namespace isoloop::law
