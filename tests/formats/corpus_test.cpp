// Replays the corpus of the fuzz target: every input is read or refused with an Error that says
// where, and nothing else happens.
//
// Source: tests/fuzz/corpus; names say what is expected (valid-, bad-, mutated-, found-).
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "formats/configs.h"

namespace isoloop::formats {
namespace {

struct Input {
  std::string name, text;
};

std::vector<Input> corpus() {
  std::vector<Input> inputs;
  for (const auto& entry :
       std::filesystem::directory_iterator(ISOLOOP_SOURCE_DIR "/tests/fuzz/corpus")) {
    std::ifstream in(entry.path(), std::ios::binary);
    std::stringstream text;
    text << in.rdbuf();
    inputs.push_back({entry.path().filename().string(), text.str()});
  }
  std::sort(inputs.begin(), inputs.end(),
            [](const Input& a, const Input& b) { return a.name < b.name; });
  return inputs;
}

/// "" if the input is read, else what it is refused with.
std::string outcome(const Input& input) {
  try {
    const Import import = read(input.text, input.name, "input");
    CHECK(!arch::to_json(import.architecture).empty());
    return {};
  } catch (const Error& error) {
    CHECK(error.kind == ErrorKind::input);
    CHECK(error.where.starts_with(input.name));
    CHECK(!error.message.empty());
    return error.what();
  }
}

}  // namespace

TEST_CASE("the fuzz corpus reads or is refused, nothing else") {
  const std::vector<Input> inputs = corpus();
  CHECK(inputs.size() > 80);
  for (const Input& input : inputs) {
    CAPTURE(input.name);
    const std::string refused = outcome(input);
    CAPTURE(refused);
    if (input.name.starts_with("valid-")) CHECK(refused.empty());
    if (input.name.starts_with("bad-")) CHECK(!refused.empty());
  }
}

}  // namespace isoloop::formats
