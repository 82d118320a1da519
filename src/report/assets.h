// What is built into the page: the library that draws in it, found where Debian's package node-d3
// puts it (CMakeLists.txt), and its version.
//
// Held by tests/report/html_test.cpp.
#pragma once

#include <string_view>

namespace isoloop::report {

/// D3 (https://d3js.org), minified, as packaged; begins with its copyright line.
extern const std::string_view d3_script;

}  // namespace isoloop::report
