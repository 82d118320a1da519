// isoloop plan: JSON keys, occupancy by itself, pairs, the grid, written headers, and refusals.
#include <filesystem>

#include "support/json_keys.h"
#include "support/temp_folder.h"

namespace {

using namespace isoloop::test;

const std::vector<std::string> small = {"plan", "smelt-200m-e192", "--gpu", "h100-sxm5"};

std::vector<std::string> with(std::vector<std::string> args, const std::string& more) {
  for (const std::string& word : words(more)) args.push_back(word);
  return args;
}

std::string refused(const std::string& line, const std::string& input = {}) {
  const Ran ran = run_cli(words(line), input);
  CHECK(ran.code() == 2);
  CHECK(ran.out == "");
  return ran.err;
}

TEST_CASE("plan: JSON keys") {
  const Json j = run_json(small);
  CHECK(j.begin().key() == "schema");
  CHECK(j.at("schema") == "isoloop/plan/v1");
  check_numbers(j, "/", {"step_time_ms/low", "step_time_ms/mid", "step_time_ms/high", "mfu"});
  check_numbers(j, "/layer_time_us/0/", {"forward/mid", "backward/mid"});
  bool gemm = false;
  for (std::size_t i = 0; i < j.at("kernels").size(); ++i) {
    const std::string under = "/kernels/" + std::to_string(i) + "/";
    check_strings(j, under, {"name", "kind", "bound"});
    check_integers(j, under,
                   {"m", "n", "k", "groups", "warps", "threads", "registers", "smem_bytes", "grid",
                    "blocks_per_sm"});
    check_numbers(j, under,
                  {"count", "occupancy", "waves", "tile_efficiency", "wave_efficiency",
                   "time_us/low", "time_us/mid", "time_us/high"});
    if (j.at("kernels")[i].at("kind") != "gemm") continue;
    gemm = true;
    check_integers(j, under, {"tile/m", "tile/n", "tile/k", "stages", "cluster/0", "cluster/1"});
  }
  CHECK(gemm);
}

TEST_CASE("plan: shares by kind add up to the step") {
  const Json j = run_json(with(small, "--microbatches 4 --pp 2 --dp 2"));
  double sum = 0;
  for (const auto& [kind, time] : j.at("time_ms_by_kind").items())
    sum += time.at("mid").get<double>();
  CHECK(sum == doctest::Approx(j.at("step_time_ms").at("mid").get<double>()));
}

TEST_CASE("plan: occupancy by itself, against vectors of the published calculator") {
  // tests/gpu/data/occupancy_vectors.csv: 7.0,128,168,0,65536 and 7.0,64,16,0,0.
  const Json one =
      run_json(words("plan --gpu v100-sxm2-32gb --occupancy threads=128,regs=168,smem=65536"));
  CHECK(one.at("blocks_per_sm") == 1);
  CHECK(one.at("limiting") == Json{"smem"});
  CHECK(one.at("allowed").at("registers") == 3);
  CHECK(one.at("allowed").at("barriers").is_null());
  CHECK(one.at("occupancy").get<double>() == doctest::Approx(0.0625));
  CHECK(one.at("registers_per_block") == 21504);
  const Json two = run_json(words("plan --gpu v100-sxm2-32gb --occupancy threads=64,regs=16"));
  CHECK(two.at("blocks_per_sm") == 32);
  CHECK(two.at("limiting") == Json{"warps", "blocks"});
  CHECK(refused("plan --gpu h100-sxm5 --occupancy threads=256,regz=3") ==
        "isoloop: --occupancy: unknown need 'regz'\n  hint: did you mean 'regs'?\n");
  CHECK(refused("plan --gpu h100-sxm5 --occupancy regs=3") ==
        "isoloop: --occupancy: states no threads\n  hint: write e.g. --occupancy "
        "threads=256,regs=128,smem=65536\n");
}

TEST_CASE("plan: a pair side by side") {
  const Json j = run_json(with(small, "--loop middle --against smelt-200m-e192"));
  const Json r = j.at("step_time_ratio");
  CHECK(r.at("mid").get<double>() > 1);
  for (const auto& [low, high] : {std::pair{"unshared_low", "low"},
                                  {"low", "mid"},
                                  {"mid", "high"},
                                  {"high", "unshared_high"}})
    CHECK(r.at(low).get<double>() <= r.at(high).get<double>());
  // Kernel by kernel, each side adds up to its step.
  double ours = 0, theirs = 0, shares = 0;
  for (const Json& k : j.at("pair").at("kernels")) {
    ours += k.at("ms").get<double>();
    theirs += k.at("baseline_ms").get<double>();
  }
  for (const Json& k : j.at("kernels")) shares += k.at("share").get<double>();
  CHECK(ours == doctest::Approx(j.at("step_time_ms").at("mid").get<double>()));
  CHECK(theirs == doctest::Approx(j.at("baseline").at("step_time_ms").at("mid").get<double>()));
  CHECK(shares == doctest::Approx(1));
  CHECK(j.at("pair").at("by_kind").at("link").at("ratio").is_null());
  CHECK(j.at("pair").at("by_kind").at("attention").at("ratio").get<double>() > 1);
  const Json same = run_json(with(small, "--against smelt-200m-e192")).at("step_time_ratio");
  CHECK(same.at("low") == 1);
  CHECK(same.at("high") == 1);
}

TEST_CASE("plan: text, with the rejected shapes and their reasons") {
  const Ran ran = run_cli(with(small, "--why"));
  CHECK(ran.code() == 0);
  for (const char* part : {"qkv projection", "attention", "The step by kind of kernel", "MFU",
                           "Advice", "Rejected GEMM shapes", "Times are estimates"})
    CHECK_MESSAGE(ran.out.find(part) != ran.out.npos, part);
  for (const char* phase : {"prefill", "decode"})
    CHECK(run_cli(with(small, std::string("--phase ") + phase)).code() == 0);
}

TEST_CASE("plan: a written header, and a folder that exists already") {
  const TempFolder folder;
  const std::string out = folder / "cuda";
  CHECK(run_cli(with(small, "--emit cuda -o " + out)).code() == 0);
  CHECK(folder.read("cuda/plan.cuh").find("struct Tile") != std::string::npos);
  CHECK(Json::parse(folder.read("cuda/plan.json")).at("schema") == "isoloop/plan/v1");
  const Ran again = run_cli(with(small, "--emit cuda -o " + out));
  CHECK(again.code() == 2);
  CHECK(again.err.find("exists already\n  hint: add --force to replace it\n") != again.err.npos);
  CHECK(run_cli(with(small, "--force --emit cuda -o " + out)).code() == 0);
  CHECK(refused("plan smelt-200m-e192 --gpu h100-sxm5 --emit cuda") ==
        "isoloop: --emit: needs a folder to write\n  hint: add -o DIR\n");
}

TEST_CASE("plan: the grid has sixteen cells") {
  const Json j = run_json(words("plan --grid smelt --gpu h100-sxm5 --tokens 8192"));
  CHECK(j.at("cells").size() == 16);
  std::size_t paper = 0;
  for (const Json& cell : j.at("cells")) {
    CHECK(cell.at("match").at("step_time_ratio").at("mid").get<double>() > 0);
    const bool law = cell.at("sparsity") != "0.000";
    CHECK(cell.at("gain").is_null() == !law);
    CHECK(cell.at("match").at("gain_left").is_null() == !law);
    if (law) {
      const Json left = cell.at("match").at("gain_left");
      CHECK(left.at("low").get<double>() < left.at("mid").get<double>());
      CHECK(left.at("mid").get<double>() < left.at("high").get<double>());
    }
    paper += cell.at("paper_looped").is_null() ? 0 : 1;
  }
  CHECK(paper == 12);
}

TEST_CASE("plan: the grid's gain is taken at each cell's own budget, or at the one given") {
  // 196,075 steps of 256 x 4096 tokens; 6 FLOPs per active parameter and attention beside.
  const Json own = run_json(words("plan --grid smelt --gpu h100-sxm5")).at("cells")[13];
  CHECK(own.at("name") == "1.6B-E64");
  const double tokens = 196075.0 * 256 * 4096;
  const double per_token = own.at("compute_flops").get<double>() / tokens;
  CHECK(per_token > 6 * 1.6e9);
  CHECK(per_token < 1.2 * 6 * 1.6e9);
  const Json given =
      run_json(words("plan --grid smelt --gpu h100-sxm5 --compute 1e21")).at("cells")[13];
  CHECK(given.at("compute_flops") == 1e21);
  CHECK(given.at("gain").at("low").get<double>() == doctest::Approx(0.08));
  CHECK(given.at("gain").at("high").get<double>() == doctest::Approx(0.28));
  const double f = given.at("match").at("flops_ratio");
  CHECK(f == doctest::Approx(1).epsilon(0.02));
  const double r = given.at("match").at("step_time_ratio").at("mid"),
               gain = given.at("gain").at("mid"),
               left = given.at("match").at("gain_left").at("mid");
  CHECK(left == doctest::Approx(1 - (1 - gain) * r / f));
  CHECK(refused("plan smelt-200m-e192 --gpu h100-sxm5 --compute 1e21") ==
        "isoloop: --compute: belongs to --grid\n  hint: add --grid smelt\n");
  CHECK(refused("plan --grid smelt --gpu h100-sxm5 --phase decode --compute 1e21") ==
        "isoloop: --compute: is a budget of training\n  hint: leave it out, or --phase\n");
  const Json decode = run_json(words("plan --grid smelt --gpu h100-sxm5 --phase decode"));
  CHECK(decode.at("cells")[13].at("gain").is_null());
  CHECK(decode.at("cells")[13].at("match").at("gain_left").is_null());
  CHECK(refused("plan --grid smelt --gpu h100-sxm5 --compute 0") ==
        "isoloop: --compute: '0' is no budget of training FLOPs\n  hint: write e.g. --compute "
        "1e21\n");
}

TEST_CASE("plan: bad input is refused with where, what and what instead") {
  CHECK(refused("plan smelt-200m-e192 --gpu h100-smx5") ==
        "isoloop: --gpu: unknown GPU 'h100-smx5'\n  hint: did you mean 'h100-sxm5'?\n");
  CHECK(refused("plan smelt-200m-e192 --gpu H100") ==
        "isoloop: --gpu: unknown GPU 'H100'\n  hint: did you mean 'h100-nvl', 'h100-pcie' or "
        "'h100-sxm5'?\n");
  CHECK(refused("plan smelt-200m-e192 --gpu b20") ==
        "isoloop: --gpu: unknown GPU 'b20'\n  hint: did you mean 'b200'?\n");
  CHECK(refused("plan smelt-200m-e192 --gpu t4") ==
        "isoloop: --dtype: T4 has no bf16 tensor cores\n  hint: it has fp32, fp16, int8\n");
  CHECK(refused("plan smelt-200m-e192 --gpu h100-sxm5 --tokens 5000") ==
        "isoloop: --tokens: 5000 tokens are not whole sequences of 4096\n  hint: for example "
        "8192\n");
  CHECK(
      refused("plan smelt-200m-e192 --gpu h100-sxm5 --tokens 8190 --sequence 8190 --tp 4") ==
      "isoloop: --tokens: 8190 tokens cannot be split over TP 4\n  hint: TP may be 1, 2, 3, 5, 6, "
      "7, 9, 10, 13, 14, 15, 18\n");
  CHECK(refused("plan smelt-200m-e192 --gpu h100-sxm5 --ep 7") ==
        "isoloop: smelt-200m-e192: segments[0].ffn.experts: 192 experts cannot be split over EP 7\n"
        "  hint: EP may be 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64\n");
  CHECK(
      refused("plan smelt-200m-e192 --gpu a100-sxm4-80gb --dtype fp8") ==
      "isoloop: --dtype: A100 SXM4 80GB has no fp8 tensor cores\n  hint: it has fp32, tf32, bf16, "
      "fp16, int8\n");
  CHECK(refused("plan - --gpu h100-sxm5", R"({"model_type": "llama", "hidden_size": 528,
    "num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 2, "head_dim": 264,
    "intermediate_size": 128, "vocab_size": 128, "max_position_embeddings": 2048,
    "tie_word_embeddings": true})") ==
        "isoloop: -: attention.head_size: no FlashAttention-3 kernel supports a head size of 264\n"
        "  hint: templates go up to 256\n");
  CHECK(refused("plan smelt-200m-e192 --gpu l40s --tp 2") ==
        "isoloop: --link: L40S has no NVLink\n  hint: state the bandwidth of the link between "
        "GPUs\n");
}

TEST_CASE("plan: what is missing or does not go together") {
  CHECK(refused("plan smelt-200m-e192") ==
        "isoloop: --gpu: is missing\n  hint: isoloop list gpus names them; a .json file may be "
        "given\n");
  CHECK(refused("plan --gpu h100-sxm5") ==
        "isoloop: plan: ARCH is missing\n  hint: see isoloop plan --help\n");
  CHECK(refused("plan x --gpu h100-sxm5 --grid smelt") ==
        "isoloop: --grid: answers by itself and takes no ARCH\n  hint: keep one of the two\n");
  CHECK(refused("plan smelt-200m-e192 --gpu h100-sxm5 --tokens 0") ==
        "isoloop: --tokens: '0' is not a positive number\n  hint: write e.g. --tokens 8\n");
}

TEST_CASE("plan: a device file") {
  const TempFolder folder;
  const std::string path = folder.write("my.json", R"({"schema": "isoloop/gpu/v1", "id": "mine",
    "compute_capability": "9.0", "sms": 100, "l2_bytes": 50000000, "memory_bytes": 80000000000,
    "memory_bytes_per_s": 3000000000000, "clock_mhz": {"tensor": 1700},
    "dense_tflops": {"bf16": 800}})");
  const Json j = run_json({"plan", "smelt-200m-e192", "--gpu", path});
  CHECK(j.at("gpu") == "mine");
  CHECK(j.at("gpu_name") == "mine");
  CHECK(j.at("options").at("sequence") == 4096);
  const std::string missing = folder / "none.json";
  CHECK(refused("plan smelt-200m-e192 --gpu " + missing) ==
        "isoloop: " + missing +
            ": cannot be read: No such file or directory\n  hint: name a device file that is "
            "there, or a built-in GPU: isoloop list gpus\n");
  const auto file = [&](const std::string& capability, const std::string& rates) {
    return folder.write("bad.json",
                        R"({"schema": "isoloop/gpu/v1", "id": "mine", "compute_capability": ")" +
                            capability + R"(", "sms": 100, "l2_bytes": 1, "memory_bytes": 1,
      "memory_bytes_per_s": 1, "clock_mhz": {"tensor": 1700}, "dense_tflops": )" +
                            rates + "}");
  };
  const std::string bad = folder / "bad.json";
  file("9.1", R"({"bf16": 800})");
  CHECK(refused("plan smelt-200m-e192 --gpu " + bad) ==
        "isoloop: " + bad +
            ": compute_capability: unknown compute capability '9.1'\n  hint: did "
            "you mean '9.0'?\n");
  file("9.0", R"({"bf17": 800})");
  CHECK(refused("plan smelt-200m-e192 --gpu " + bad) ==
        "isoloop: " + bad +
            ": dense_tflops.bf17: unknown number format 'bf17'\n  hint: did you "
            "mean 'bf16'?\n");
  file("9.0", "{}");
  CHECK(refused("plan smelt-200m-e192 --gpu " + bad) ==
        "isoloop: " + bad +
            ": dense_tflops: states no rate\n  hint: for example {\"bf16\": "
            "312}\n");
}

}  // namespace
