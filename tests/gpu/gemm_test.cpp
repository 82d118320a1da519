// GEMM launches: wave and tile arithmetic of published examples, and monotone behaviour.
#include <doctest/doctest.h>

#include <string>

#include "gpu/model.h"
#include "support/numbers.h"

using namespace isoloop;
using namespace isoloop::gpu;

namespace {

GemmProblem problem(std::int64_t m, std::int64_t n, std::int64_t k,
                    Precision precision = Precision::bf16) {
  GemmProblem p;
  p.m = m;
  p.n = n;
  p.k = k;
  p.precision = precision;
  return p;
}

TileShape tile(const DeviceModel& model, int m, int n) {
  for (const TileShape& s : model.shapes[static_cast<std::size_t>(Width::bits16)])
    if (s.m == m && s.n == n) return s;
  FAIL("no such tile");
  return {};
}

}  // namespace

TEST_CASE("gemm: where traffic decides, the shape pads least") {
  // A few rows per expert: every shape waits for the weights, and none should multiply 128 rows.
  GemmProblem p;
  p.groups = 192;
  p.m = 5;
  p.n = 864;
  p.k = 1280;
  p.routing = Routing{128, 192, 8};
  p.backend = GroupBackend::quantised;
  for (const char* id : {"a100-sxm4-80gb", "h100-sxm5"}) {
    const GemmLaunch l = plan_gemm(find_device(id, ""), p, Family::mma_sync);
    CHECK(!l.compute_limited);
    CHECK(l.tile.m <= 32);
  }
}

TEST_CASE("gemm: one column more is a wave more (NVIDIA guide, arXiv 2401.14489)") {
  // A100, 108 SMs, 256x128 tiles: 1792 x 1792 is 98 tiles, 1793 x 1793 is 120, in two waves.
  const DeviceModel a100(find_device("a100-sxm4-80gb", ""), efficiency());
  const TileShape shape = tile(a100, 256, 128);
  REQUIRE(shape.blocks_per_sm == 1);
  const GemmLaunch fits = predict_gemm_shape(a100, problem(1792, 1792, 4096), shape, 1);
  CHECK(fits.tiles == 98);
  CHECK(fits.wave_efficiency == doctest::Approx(98.0 / 108));
  CHECK(fits.tile_efficiency == 1);
  const GemmLaunch over = predict_gemm_shape(a100, problem(1793, 1793, 4096), shape, 1);
  CHECK(over.tiles == 120);
  CHECK(over.wave_efficiency == doctest::Approx(120.0 / 216));
  CHECK(over.time.mid > 1.5 * fits.time.mid);
}

TEST_CASE("gemm: tiles and waves of measured shapes") {
  const DeviceModel h100(find_device("h100-sxm5", ""), efficiency());
  const TileShape shape = tile(h100, 128, 128);
  // 4224 = 33 x 128: exactly four waves of 132 SMs.
  const GemmLaunch exact = predict_gemm_shape(h100, problem(4224, 2048, 8192), shape, 1);
  CHECK(exact.tiles == 528);
  CHECK(exact.waves == 4);
  CHECK(exact.wave_efficiency == 1);
  const GemmLaunch ragged = predict_gemm_shape(h100, problem(4096, 2112, 7168), shape, 1);
  CHECK(ragged.tiles == 544);
  CHECK(ragged.tile_efficiency * ragged.wave_efficiency == doctest::Approx(0.80).epsilon(0.01));
}

TEST_CASE("gemm: the launch chosen is no slower than any other shape") {
  for (const char* id : {"a100-sxm4-80gb", "rtx4090", "h100-sxm5", "b200", "rtx5090", "t4"}) {
    const DeviceModel model(find_device(id, ""), efficiency());
    for (const std::int64_t m : {64, 1000, 8192}) {
      const GemmProblem p = problem(m, 4096, 2048, Precision::fp16);
      const GemmLaunch best = predict_gemm(model, p);
      for (const TileShape& s : model.shapes[static_cast<std::size_t>(Width::bits16)])
        CHECK(best.time.mid <= predict_gemm_shape(model, p, s, 1).time.mid + 1e-9);
      CHECK(best.time.low < best.time.mid);
      CHECK(best.time.mid < best.time.high);
      CHECK(best.grid >= 1);
    }
  }
}

TEST_CASE("gemm: few rows are bound by bytes, many by arithmetic") {
  const Device& h100 = find_device("h100-sxm5", "");
  CHECK(plan_gemm(h100, problem(64, 8192, 8192)).bound == Bound::memory);
  CHECK(plan_gemm(h100, problem(8192, 8192, 8192)).bound == Bound::compute);
  CHECK(plan_gemm(h100, problem(16, 64, 64)).bound == Bound::latency);
  GemmProblem cached = problem(64, 8192, 8192);
  cached.weights_cached = true;
  CHECK(plan_gemm(h100, cached).time.mid < plan_gemm(h100, problem(64, 8192, 8192)).time.mid);
}

TEST_CASE("gemm: k is split where tiles leave SMs idle") {
  const GemmLaunch l = plan_gemm(find_device("h100-sxm5", ""), problem(256, 256, 65536));
  CHECK(l.split_k > 1);
  CHECK(plan_gemm(find_device("h100-sxm5", ""), problem(8192, 8192, 8192)).split_k == 1);
}

TEST_CASE("gemm: rows below 16-byte alignment leave TMA and lose rate") {
  const Device& h100 = find_device("h100-sxm5", "");
  const GemmLaunch odd = plan_gemm(h100, problem(8192, 4096, 4095));
  CHECK(odd.tile.family == Family::mma_sync);
  CHECK(odd.time.mid > 1.2 * plan_gemm(h100, problem(8192, 4096, 4096)).time.mid);
}

TEST_CASE("gemm: random routing costs more than perfect balance") {
  const Device& h100 = find_device("h100-sxm5", "");
  GemmProblem balanced = problem(256, 4096, 4096);
  balanced.groups = 256;
  balanced.backend = GroupBackend::padded;
  GemmProblem random = balanced;
  random.routing = Routing{8192, 256, 8};
  const GemmLaunch even = plan_gemm(h100, balanced), odd = plan_gemm(h100, random);
  CHECK(even.tile_efficiency > 0.99);
  CHECK(odd.tile_efficiency == doctest::Approx(1 / 1.242).epsilon(0.015));
  CHECK(odd.time.mid > even.time.mid);
}

TEST_CASE("gemm: a generation without points has a wider range") {
  const GemmLaunch known = plan_gemm(find_device("h100-sxm5", ""), problem(8192, 8192, 8192));
  const GemmLaunch unknown =
      plan_gemm(find_device("t4", ""), problem(8192, 8192, 8192, Precision::fp16));
  CHECK(known.measured);
  CHECK(!unknown.measured);
  CHECK(unknown.time.high / unknown.time.mid > 1.2 * known.time.high / known.time.mid);
}

TEST_CASE("gemm: sizes that make no sense are refused") {
  const Device& h100 = find_device("h100-sxm5", "");
  CHECK(std::string(test::error_of([&] { plan_gemm(h100, problem(0, 8, 8)); }).what()) ==
        "m: is 0; expected at least 1");
  CHECK(test::error_of([&] { plan_gemm(h100, problem(8, 8, 8, Precision::fp4)); }).message ==
        "H100 SXM5 80GB has no fp4 tensor cores");
}
