// Tile shapes of one kernel family on one compute capability.
//
// Held by tests/gpu/shapes_test.cpp.
#pragma once

#include "gpu/efficiency.h"

namespace isoloop::gpu {

ShapeList shapes_of_family(const Limits& limits, Width width, Family family);

}  // namespace isoloop::gpu
