// The emitted CUDA header: compiled for every target, registers and shared memory within the plan's
// bounds, nothing spilled. Compiled only; cuda_emulation_test.cpp runs the kernels on the host.
#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>

#include "gpu/examples.h"
#include "isoloop/gpu.h"
#include "support/numbers.h"

using namespace isoloop;
using namespace isoloop::gpu;

namespace {

std::string header(const std::string& id, DType dtype = DType::bf16,
                   Phase phase = Phase::training) {
  PlanOptions o;
  o.phase = phase;
  o.tokens = phase == Phase::decode ? 64 : 8192;
  o.sequence = 2048;
  o.dtype = dtype;
  const Device& device = find_device(id, "");
  return cuda_header(plan(gpu_test::plain(), device, o), device);
}

}  // namespace

TEST_CASE("cuda header: shapes, launches and instances are there once") {
  const std::string text = header("h100-sxm5");
  CHECK(text.find("struct qkv_projection_forward {") != text.npos);
  CHECK(text.find("struct experts_down_data_gradient {") != text.npos);
  CHECK(text.find("// wgmma: 8 launches per microbatch") != text.npos);
  CHECK(text.find("grouped_gemm<isoloop_plan::Tile") != text.npos);
  CHECK(text == header("h100-sxm5"));
  std::string dense = header("a100-sxm4-80gb", DType::fp16);
  CHECK(dense.find("const __half*") != dense.npos);
}

TEST_CASE("cuda header: what our kernels do not multiply is refused") {
  CHECK(std::string(isoloop::test::error_of([] { header("h100-sxm5", DType::fp8); }).what()) ==
        "dtype: kernels are emitted for bf16 and fp16, not fp8");
}

#ifdef ISOLOOP_NVCC
namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

/// ptxas output of compiling `text` for `target`; fails the test if nvcc does.
std::string compile(const std::string& text, const std::string& target) {
  const fs::path folder = fs::temp_directory_path() / ("isoloop-cuda-" + std::to_string(getpid()));
  fs::create_directories(folder);
  std::ofstream(folder / "plan.cuh") << text;
  std::ofstream(folder / "plan.cu") << "#include \"plan.cuh\"\n";
  const std::string command =
      std::string(ISOLOOP_NVCC) + " -std=c++17 -arch=" + target +
      " -cubin -Xptxas -v -Werror all-warnings -o " + (folder / "plan.cubin").string() + " " +
      (folder / "plan.cu").string() + " > " + (folder / "log").string() + " 2>&1";
  const int status = std::system(command.c_str());
  std::string log = read(folder / "log");
  fs::remove_all(folder);
  REQUIRE_MESSAGE(status == 0, log);
  return log;
}

/// The whole number after `label`; none if it is not there.
std::optional<int> number_after(const std::string& text, const std::string& label) {
  const std::size_t at = text.find(label);
  if (at == text.npos) return std::nullopt;
  return std::atoi(text.c_str() + at + label.size());
}

/// A field of a shape's struct in the header.
int field(const std::string& header_text, const std::string& shape, const std::string& name) {
  const std::size_t at = header_text.find("struct " + shape + " {");
  REQUIRE(at != header_text.npos);
  return number_after(header_text.substr(at), name + " = ").value();
}

/// "Tile64x64x32s6w2x2" in a mangled name.
std::string shape_in(const std::string& mangled) {
  const std::size_t from = mangled.find("Tile"), to = mangled.find('E', from);
  REQUIRE(to != mangled.npos);
  return mangled.substr(from, to - from);
}

/// ptxas writes "0 bytes spill stores, 0 bytes spill loads".
bool spills(const std::string& line) {
  return line.find("bytes spill") != line.npos &&
         line.find(" 0 bytes spill stores, 0 bytes spill loads") == line.npos;
}

}  // namespace

namespace {

/// Compiles for `target` and holds every kernel's registers and shared memory against the header.
void check_compiled(const std::string& text, const std::string& id, const std::string& target,
                    int least_kernels) {
  CAPTURE(target);
  std::istringstream log(compile(text, target));
  const Limits& limits = find_device(id, "").limits;
  std::string line, shape;
  int kernels = 0;
  while (std::getline(log, line)) {
    CHECK_MESSAGE(!spills(line), shape, ": ", line);
    if (line.find("entry function") != line.npos) shape = shape_in(line);
    const std::optional<int> registers = number_after(line, "Used ");
    if (!registers) continue;
    ++kernels;
    const int used = *registers;
    CAPTURE(shape);
    CHECK(used <= field(text, shape, "registers"));
    CHECK(line.find("bytes smem") == line.npos);  // all of it is dynamic
    // What ptxas used still holds the planned blocks per SM.
    const BlockNeeds needs{field(text, shape, "threads"), used, 0,
                           field(text, shape, "smem_bytes")};
    CHECK(occupancy(limits, needs).blocks_per_sm >= field(text, shape, "blocks_per_sm"));
  }
  CHECK(kernels >= least_kernels);
}

}  // namespace

TEST_CASE("cuda header: compiles for every target within the plan's bounds") {
  const std::pair<const char*, const char*> targets[] = {
      {"a100-sxm4-80gb", "sm_80"}, {"rtx3090", "sm_86"}, {"rtx4090", "sm_89"},
      {"h100-sxm5", "sm_90"},      {"b200", "sm_100"},   {"b300", "sm_103"},
      {"rtx5090", "sm_120"}};
  for (const auto& [id, target] : targets) check_compiled(header(id), id, target, 3);
}

TEST_CASE("cuda header: shapes of few rows compile within the plan's bounds, too") {
  for (const auto& [id, target] : {std::pair{"a100-sxm4-80gb", "sm_80"}, {"rtx5090", "sm_120"}})
    check_compiled(header(id, DType::bf16, Phase::decode), id, target, 2);
}
#else
TEST_CASE("cuda header: compiles for every target [skipped: nvcc is not installed]" *
          doctest::skip()) {}
#endif
