// Minimising the objective of model.h from one start; the method is told in minimise.cpp.
//
// Held by tests/law/minimise_test.cpp.
#pragma once

#include "law/model.h"

namespace isoloop::law::detail {

struct Target {
  double delta = 1e-3;      // infinity for least squares
  double tolerance = 1e-8;  // of the relative gradient
  int max_iterations = 200;
  bool stop_when_vanished = true;  // give up when a term is nothing in every row
};

struct Outcome {
  Vector parameters = Vector::Zero();
  double objective = 0;
  double gradient_norm = 0, relative_gradient = 0;
  int iterations = 0;
  StopReason stop = StopReason::iterations;
};

/// The local minimum that the start leads to.
Outcome minimise(Model& model, const Vector& start, const Target& target);

}  // namespace isoloop::law::detail
