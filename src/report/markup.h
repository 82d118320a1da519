// Text inside HTML, SVG and embedded JSON: whatever a name contains, it stays text.
//
// Held by tests/report/markup_test.cpp.
#pragma once

#include <string>
#include <string_view>

namespace isoloop::report {

/// For element content and quoted attributes of HTML and XML. Characters XML 1.0 cannot hold, and
/// bytes that are not UTF-8, become U+FFFD.
std::string escaped_markup(std::string_view text);

/// JSON text for a script element: no "<", so neither "</script" nor "<!--" can occur.
std::string script_safe(std::string_view json);

}  // namespace isoloop::report
