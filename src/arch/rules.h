// What reading and validating an architecture share: the bounds of its numbers and the messages
// about fields that belong to another kind.
//
// Held by tests/arch/validate_test.cpp.
#pragma once

#include <string>
#include <string_view>

#include "base/json_reader.h"
#include "isoloop/arch.h"

namespace isoloop::arch {

inline constexpr json::Range dimension_range{1, max_dimension};
inline constexpr json::Range optional_range{0, max_dimension};  // 0 stands for "none"
inline constexpr json::Range layers_range{1, max_layers};

/// A field that means nothing for this kind of attention or FFN.
Error not_of_kind(std::string where, std::string_view kind, std::string_view other_kind);

/// True if a field that only loops use is not at its default.
bool has_loop_fields(const Segment& segment);

}  // namespace isoloop::arch
