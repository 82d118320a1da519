// The table of data files that scripts/embed_data.cmake generates.
//
// Held by tests/base/data_test.cpp.
#pragma once

#include <span>

#include "isoloop/base.h"

namespace isoloop::detail {

/// Every JSON file of data/, sorted by path byte by byte.
extern const std::span<const DataFile> embedded_files;

}  // namespace isoloop::detail
