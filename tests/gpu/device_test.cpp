// Devices: all of them, dense peaks that follow from clocks, and messages for wrong files.
#include <doctest/doctest.h>

#include <string>

#include "isoloop/gpu.h"
#include "support/numbers.h"

using namespace isoloop;
using namespace isoloop::gpu;

namespace {

const std::string mine = R"({
  "schema": "isoloop/gpu/v1",
  "id": "mine",
  "compute_capability": "8.6",
  "sms": 64,
  "l2_bytes": 6291456,
  "memory_bytes": 25769803776,
  "memory_bytes_per_s": 768000000000,
  "clock_mhz": {"tensor": 1695},
  "dense_tflops": {"bf16": 111.1}
})";

std::string message(std::string from, std::string to) {
  std::string text = mine;
  text.replace(text.find(from), from.size(), to);
  return test::error_of([&] { device_from_json(text, "my.json"); }).what();
}

}  // namespace

TEST_CASE("devices: 21, each with sources") {
  CHECK(devices().size() == 21);
  for (const Device& d : devices()) {
    CAPTURE(d.id);
    CHECK(&find_device(d.id, "--gpu") == &d);
    CHECK(!d.sources.empty());
    CHECK(d.memory_bytes_per_s > 2e11);
  }
  CHECK(find_device("h100-sxm5", "").sms == 132);
  CHECK(find_device("h100-sxm5", "").limits.smem_per_block_optin == 232448);
  CHECK(find_device("h100-nvl", "").unconfirmed.size() == 8);
}

TEST_CASE("devices: peaks are dense: SMs x clock x FLOP per clock, never twice that") {
  for (const Device& d : devices()) {
    for (std::size_t i = 1; i < precision_count; ++i) {  // fp32 runs at its own clock
      if (d.dense_tflops[i] == 0 || d.flop_per_clock_per_sm[i] == 0) continue;
      const double modelled = d.sms * d.tensor_mhz * 1e6 * d.flop_per_clock_per_sm[i] / 1e12;
      CAPTURE(d.id);
      CAPTURE(name(static_cast<Precision>(i)));
      CHECK(d.dense_tflops[i] / modelled == doctest::Approx(1).epsilon(0.02));
    }
  }
  CHECK(peak_flops(find_device("h100-sxm5", ""), Precision::bf16) == 989.4e12);
  CHECK(peak_flops(find_device("a100-sxm4-80gb", ""), Precision::bf16) == 312e12);
}

TEST_CASE("devices: an unknown GPU is an error with the nearest name") {
  const Error e = test::error_of([] { find_device("h100-sxm", "--gpu"); });
  CHECK(e.kind == ErrorKind::usage);
  CHECK(std::string(e.what()) ==
        "--gpu: unknown GPU 'h100-sxm'\n  hint: did you mean 'h100-sxm5'?");
}

TEST_CASE("devices: a format the device lacks is an error with those it has") {
  const auto text = [](std::string_view id, Precision p) {
    return std::string(test::error_of([&] { peak_flops(find_device(id, ""), p); }).what());
  };
  CHECK(text("a100-sxm4-80gb", Precision::fp8) ==
        "dtype: A100 SXM4 80GB has no fp8 tensor cores\n  hint: it has fp32, tf32, bf16, fp16, "
        "int8");
  CHECK(text("v100-sxm2-32gb", Precision::bf16) ==
        "dtype: V100 SXM2 32GB has no bf16 tensor cores\n  hint: it has fp32, fp16");
}

TEST_CASE("devices: a user's file is read, and its mistakes are located") {
  const Device d = device_from_json(mine, "my.json");
  CHECK(d.name == "mine");
  CHECK(d.limits.max_blocks_per_sm == 16);
  CHECK(peak_flops(d, Precision::bf16) == 111.1e12);
  CHECK(message("\"sms\": 64", "\"sms\": 0") ==
        "my.json: sms: is 0; expected a whole number of at least 1");
  CHECK(message("\"8.6\"", "\"8.7\"")
            .starts_with("my.json: compute_capability: unknown compute capability '8.7'"));
  CHECK(message("\"bf16\"", "\"bf61\"")
            .starts_with("my.json: dense_tflops.bf61: unknown number format 'bf61'"));
  CHECK(message("111.1", "-1") == "my.json: dense_tflops.bf16: is -1; expected more than 0");
  CHECK(message("\"tensor\"", "\"tensr\"").starts_with("my.json: clock_mhz"));
  CHECK(message("\"sms\"", "\"smss\"") ==
        "my.json: unknown field 'smss'\n  hint: did you mean 'sms'?");
  CHECK(message("gpu/v1", "gpu/v2") == "my.json: schema: is not \"isoloop/gpu/v1\"");
}
