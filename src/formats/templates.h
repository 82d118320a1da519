// Python files of data/templates with their @names@ filled in.
//
// Held by tests/formats/templates_test.cpp.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace isoloop::formats {

using Values = std::vector<std::pair<std::string_view, std::string>>;

/// data/templates/<path> with every @name@ replaced by its value. A name without a value, and a value
/// without a name, are internal errors, so that neither a file nor a writer can forget one.
std::string filled(std::string_view path, const Values& values);

}  // namespace isoloop::formats
