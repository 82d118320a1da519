// The one exception type and its text: "where: message", then the hint on a line of its own.
//
// Source: design rule "errors say where, what and what instead". Held by tests/base/error_test.cpp.
#include <utility>

#include "isoloop/base.h"

namespace isoloop {

Error::Error(ErrorKind kind_, std::string message_, std::string where_, std::string hint_)
    : kind(kind_),
      message(std::move(message_)),
      where(std::move(where_)),
      hint(std::move(hint_)),
      text_(where.empty() ? message : where + ": " + message) {
  if (!hint.empty()) text_ += "\n  hint: " + hint;
}

Error usage_error(std::string message, std::string where, std::string hint) {
  return Error(ErrorKind::usage, std::move(message), std::move(where), std::move(hint));
}

Error input_error(std::string message, std::string where, std::string hint) {
  return Error(ErrorKind::input, std::move(message), std::move(where), std::move(hint));
}

Error internal_error(std::string message) { return Error(ErrorKind::internal, std::move(message)); }

}  // namespace isoloop
