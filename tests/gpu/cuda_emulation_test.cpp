// The emitted kernels compute what they should: their text is compiled for the host, with the four
// instructions they use replaced by stand-ins, and every entry of small products is compared.
#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "gpu/cuda_kernel.h"

using namespace isoloop;

namespace {

namespace fs = std::filesystem;

/// The kernels without the inline assembly before them and the launches after them.
std::string kernels() {
  const std::string text(gpu::cuda_kernel_text());
  const std::size_t from = text.find("// ---- One tile"), to = text.find("// ---- Launches");
  REQUIRE(from != text.npos);
  REQUIRE(to != text.npos);
  return text.substr(from, to - from);
}

std::string shell(const std::string& command, const fs::path& log) {
  const int status = std::system((command + " > " + log.string() + " 2>&1").c_str());
  std::ifstream in(log);
  std::stringstream text;
  text << in.rdbuf();
  CHECK_MESSAGE(status == 0, text.str());
  return text.str();
}

}  // namespace

TEST_CASE("cuda kernels: run on the host, they multiply and group correctly") {
  const fs::path folder =
      fs::temp_directory_path() / ("isoloop-emulation-" + std::to_string(getpid()));
  fs::create_directories(folder);
  std::ofstream(folder / "run.cpp") << "#include \"gpu/cuda_emulation.h\"\nnamespace isoloop {\n"
                                    << kernels() << "}\n#include \"gpu/cuda_emulation_main.h\"\n";
  const fs::path log = folder / "log", program = folder / "run";
  shell(std::string(ISOLOOP_CXX) +
            " -std=c++20 -O1 -w -pthread -I" ISOLOOP_SOURCE_DIR "/tests -o " + program.string() +
            " " + (folder / "run.cpp").string(),
        log);
  const std::string result = shell(program.string(), log);
  CHECK(result == "64x64x32: 0 wrong\n64x128x64: 0 wrong\n16x64x128: 0 wrong\ngrouped: 0 wrong\n");
  fs::remove_all(folder);
}
