// Templates: names filled in, none forgotten.
#include "formats/templates.h"

#include <doctest/doctest.h>

#include "isoloop/base.h"

using namespace isoloop;
using formats::filled;

TEST_CASE("templates: every name is filled in, decorators are left alone") {
  const std::string text = filled("megatron/looped_layers.py",
                                  {{"name", "tiny"}, {"loops", "(1, 2, 3)"}, {"scales", ""}});
  CHECK(text.starts_with("# The loop of tiny for Megatron-LM"));
  CHECK(text.find("LOOPS = [(1, 2, 3)]  #") != std::string::npos);
  CHECK(text.find("SCALES = []  #") != std::string::npos);
  CHECK(text.find('@') == std::string::npos);
  CHECK(filled("torchtitan/looped.py", {}).find("@dataclass(kw_only=True") != std::string::npos);
}

TEST_CASE("templates: a name too many or too few is an internal error") {
  CHECK_THROWS_WITH_AS(filled("megatron/looped_layers.py", {{"name", "tiny"}, {"scales", ""}}),
                       "megatron/looped_layers.py: nothing is filled in for @loops@", Error);
  CHECK_THROWS_WITH_AS(filled("torchtitan/looped.py", {{"name", "tiny"}}),
                       "torchtitan/looped.py: has no @name@", Error);
}
