// gpu: how an architecture runs on a device: launch shapes, occupancy, waves and times.
//
// The only home of rates and efficiencies. Amounts (MACs, rows, parameters) are exact and agree
// with the cost ledger; rates and times are double and never flow back into counting or matching.
//
// Units: sizes in elements unless a name says bytes; times in microseconds unless a name says ms;
// rates in bytes/s and FLOP/s, one multiply-accumulate being two FLOPs. Peaks are dense.
// A GEMM (m, n, k) is C[m][n] = A[m][k] * B[n][k]; m counts tokens, rows or, in a weight gradient,
// output features.
//
// Held by tests/gpu/*_test.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "isoloop/arch.h"
#include "isoloop/base.h"

namespace isoloop::gpu {

class Launches;

// ---- Devices (data/gpus/*.json, data/compute_capabilities.json) --------------------------------

/// Number formats tensor cores multiply. fp32 weights are multiplied as tf32.
enum class Precision { fp32, tf32, bf16, fp16, fp8, int8, fp4 };
inline constexpr std::size_t precision_count = static_cast<std::size_t>(Precision::fp4) + 1;
std::string_view name(Precision precision);
/// Throws Error (kind input) with the nearest name.
Precision parse_precision(std::string_view name, std::string_view where);
Precision tensor_precision(DType dtype);
/// 4, 2, 1 or 0.5.
double bytes_per_element(Precision precision);

/// What one compute capability allows per SM and per block. Bytes, 32-bit registers.
struct Limits {
  std::string compute_capability;  // "9.0"
  int max_threads_per_sm = 0, max_threads_per_block = 0, max_blocks_per_sm = 0;
  int registers_per_sm = 0, registers_per_block = 0, max_registers_per_thread = 0;
  int register_unit = 0;   // registers are given to a warp in multiples of this
  int warp_unit = 0;       // the launch check rounds warps up to a multiple of this
  int sub_partitions = 0;  // schedulers the register file is split over
  int smem_per_sm = 0, smem_per_block_optin = 0, smem_per_block_default = 0;
  int smem_reserved_per_block = 0, smem_unit = 0;
  int barrier_slots = 0;  // named barriers per SM, 0 = not limited
  int max_cluster = 1;    // blocks of a cluster that every device of this kind accepts
  int tmem_columns = 0;   // tensor memory, 0 = none
};
/// Known capabilities, ascending.
const std::vector<Limits>& capabilities();

struct Device {
  std::string id, name;
  Limits limits;
  int sms = 0;
  std::int64_t l2_bytes = 0, memory_bytes = 0;
  double memory_bytes_per_s = 0;
  double tensor_mhz = 0, fp32_mhz = 0;
  double nvlink_gbs_both_ways = 0;  // GB/s per GPU, both directions together; 0 = none
  std::array<double, precision_count> dense_tflops{};  // 0 = the device lacks the format
  std::array<double, precision_count> flop_per_clock_per_sm{};
  std::map<std::string, std::string> sources;
  std::vector<std::string> unconfirmed;  // fields recalled, not read in a source
  std::string note;
};
/// All built-in devices, sorted by id.
const std::vector<Device>& devices();
/// Throws Error (kind usage) with the nearest name.
const Device& find_device(std::string_view id, std::string_view where);
/// Reads a device file, schema "isoloop/gpu/v1" (data/schemas/gpu.schema.json). Throws Error (kind
/// input) at "file: field.path".
Device device_from_json(std::string_view text, std::string_view file);
/// Dense peak in FLOP/s. Throws Error (kind input) naming the formats the device has.
double peak_flops(const Device& device, Precision precision);

// ---- Occupancy (cuda_occupancy.h, CUDA 13.0) ---------------------------------------------------

struct BlockNeeds {
  int threads = 0, registers = 0;  // registers per thread; 0 = not limited by them
  std::int64_t static_smem = 0, dynamic_smem = 0;
  bool opt_in = true;  // the kernel asked for the largest dynamic shared memory
  int barriers = 1;    // named barriers used
};
enum class Limit { warps, registers, smem, blocks, barriers };
inline constexpr std::size_t limit_count = static_cast<std::size_t>(Limit::barriers) + 1;
std::string_view name(Limit limit);

struct Occupancy {
  int blocks_per_sm = 0;
  std::array<std::optional<int>, limit_count> allowed;  // blocks each limit allows; none = any
  // Limits equal to the smallest; where barriers lower it further, the others stay listed.
  std::vector<Limit> limiting;
  int registers_per_block = 0;
  std::int64_t smem_per_block = 0;  // as allocated
  double fraction = 0;              // resident warps over the most an SM holds
};
/// Throws Error (kind input) if a need is negative or there are no threads.
Occupancy occupancy(const Limits& limits, const BlockNeeds& needs);

// ---- Launch shapes -----------------------------------------------------------------------------

enum class Family {
  mma_register,  // sm_70, sm_75: mma fed through registers, two stages
  mma_sync,      // sm_80, 86, 89, 120: cp.async and mma.sync
  wgmma,         // sm_90: TMA and wgmma, producer and consumer warpgroups
  tcgen05,       // sm_100, sm_103: TMA and tcgen05, accumulators in tensor memory
};
std::string_view name(Family family);
Family family_of(const Limits& limits);

/// A CTA tile and everything its launch needs. smem is dynamic shared memory in bytes.
struct TileShape {
  Family family{};
  int m = 0, n = 0, k = 0, stages = 0;
  int warps_m = 0, warps_n = 0;  // mma_sync: warps over the tile
  int consumer_groups = 0;       // wgmma: warpgroups that multiply
  int cluster_m = 1, cluster_n = 1;
  bool two_sm = false;             // tcgen05: a pair of SMs shares one MMA; m is per CTA
  int threads = 0, registers = 0;  // registers per thread at launch
  std::int64_t smem_bytes = 0;
  int tmem_columns = 0, accumulator_stages = 0;
  bool persistent = false;  // grid = min(tiles, SMs), a CTA walks over tiles
  int blocks_per_sm = 0;
  double occupancy = 0;
};
/// "128x256x64 s4, 2 consumer warpgroups, cluster 2x1".
std::string text(const TileShape& shape);
struct RejectedShape {
  TileShape shape;
  std::string reason;
};
struct ShapeList {
  std::vector<TileShape> fitting;
  std::vector<RejectedShape> rejected;
};
/// Every shape of the device's family. `family` overrides it (mma_sync runs on all of sm_80 up).
ShapeList gemm_shapes(const Device& device, Precision precision, std::optional<Family> family = {});

// ---- Routing statistics ------------------------------------------------------------------------

/// Tokens choose top_k of `experts` uniformly: an expert's rows are binomial (tokens,
/// top_k/experts).
struct Routing {
  std::int64_t tokens = 0, experts = 0, top_k = 0;
  bool operator==(const Routing&) const = default;
};
struct RoutingStats {
  double mean = 0, sd = 0;   // rows of one expert
  double empty = 0;          // probability that an expert has none
  double max_over_mean = 0;  // expected largest expert, experts taken as independent
};
RoutingStats routing_stats(const Routing& routing);
/// Expected tiles of `rows` rows one expert needs: E[ceil(X / rows)].
double expected_tiles(const Routing& routing, std::int64_t rows);

// ---- Times -------------------------------------------------------------------------------------

/// Microseconds; the fit's own range.
struct Time {
  double low = 0, mid = 0, high = 0;
  friend Time operator+(Time a, Time b) { return {a.low + b.low, a.mid + b.mid, a.high + b.high}; }
  friend Time operator*(double s, Time t) { return {s * t.low, s * t.mid, s * t.high}; }
  Time& operator+=(Time b) { return *this = *this + b; }
};
enum class Bound { compute, memory, l2, latency, link };
std::string_view name(Bound bound);

/// How rows of an expert are padded in storage.
enum class GroupBackend {
  none,       // not grouped, or groups of equal size
  quantised,  // no padding of storage; tiles round up (CUTLASS grouped, torch._grouped_mm)
  padded,     // each expert padded to the backend's rows (DeepGEMM contiguous)
  masked,     // fixed slots, tiles of the rows present (DeepGEMM masked)
};
std::string_view name(GroupBackend backend);

struct GemmProblem {
  std::int64_t m = 0, n = 0, k = 0;  // m: rows of one group; mean rows where `routing` is given
  std::int64_t groups = 1;           // groups on this GPU
  std::optional<Routing> routing;    // rows are random
  bool rows_are_k = false;           // weight gradient of experts: the random rows are k, m fixed
  GroupBackend backend = GroupBackend::none;
  Precision precision = Precision::bf16;
  double output_bytes = 2;      // per element of C
  bool weights_cached = false;  // B is already in L2
  bool operator==(const GemmProblem&) const = default;
};
struct Launch {
  std::int64_t grid = 0;
  int threads = 0, registers = 0, blocks_per_sm = 0;
  std::int64_t smem_bytes = 0;
  double occupancy = 0;
  double tiles = 0, waves = 0;  // expected, for random rows
  double tile_efficiency = 1;   // useful over padded arithmetic
  double wave_efficiency = 1;   // tiles over tiles of full waves
  double fill_efficiency = 1;   // main loop over main loop, prologue and epilogue
  double bytes = 0;             // device memory traffic
  Bound bound = Bound::memory;
  Time time;
  bool measured = false;  // the device's generation has measured points of this kind
};
struct GemmLaunch : Launch {
  GemmProblem problem;
  TileShape tile;
  int split_k = 1;
  bool raster_along_m = true;   // consecutive tiles walk along m
  bool compute_limited = true;  // arithmetic, not traffic, is the slowest part beside the launch
};
/// The fastest fitting shape. Throws Error (kind input) if a size is not positive or the device
/// lacks the format.
GemmLaunch plan_gemm(const Device& device, const GemmProblem& problem,
                     std::optional<Family> family = {});

enum class AttentionKernel { flash2, flash3, flash4 };
std::string_view name(AttentionKernel kernel);
struct AttentionProblem {
  std::int64_t sequences = 0, heads = 0, kv_heads = 0;
  std::int64_t queries = 0, keys = 0;          // per sequence; causal aligns the ends
  std::int64_t head_size = 0, value_size = 0;  // of q and k; of v
  std::int64_t window = 0;                     // 0 = all keys
  bool causal = true, chunked = false, backward = false;
  bool shared_latent = false;  // decode with MLA: v is a part of k, one kv head
  Precision precision = Precision::bf16;
  bool operator==(const AttentionProblem&) const = default;
};
struct AttentionLaunch : Launch {
  AttentionKernel kernel{};
  AttentionProblem problem;
  int tile_m = 0, tile_n = 0, stages = 0;
  int kernel_head_size = 0, kernel_value_size = 0;  // the template the sizes are padded to
  int splits = 1;                                   // split-KV
  double padded_share = 0;  // arithmetic spent on padding and masked-out entries, of all
};
/// The newest kernel of the device that has a shape for the problem, or `kernel`. Throws Error
/// (kind input) if no kernel supports the head size or the device, listing what is supported.
AttentionLaunch plan_attention(const Device& device, const AttentionProblem& problem,
                               std::optional<AttentionKernel> kernel = {});
struct RejectedAttention {
  std::string shape, reason;  // "FlashAttention-2 backward 128x128, head 64"
};
/// Kernels and shapes passed over before the one that is planned.
std::vector<RejectedAttention> rejected_attention(const Device& device,
                                                  const AttentionProblem& problem);

// ---- Plans -------------------------------------------------------------------------------------

enum class Phase { training, prefill, decode };
std::string_view name(Phase phase);
Phase parse_phase(std::string_view name, std::string_view where);
enum class Recompute { none, elementwise /* norms and activations */, full };
std::string_view name(Recompute recompute);
Recompute parse_recompute(std::string_view name, std::string_view where);

struct PlanOptions {
  Phase phase = Phase::training;
  /// Tokens of one microbatch in one TP group; in decode, sequences that get one token each.
  std::int64_t tokens = 8192;
  std::int64_t sequence = 0;  // tokens per sequence; in decode, tokens cached. 0 = arch.context
  DType dtype = DType::bf16;
  DType kv_dtype = DType::bf16;
  /// TP splits heads, FFN widths and the vocabulary, with sequence parallelism (norms and routers
  /// see tokens/tp); EP splits experts; PP splits executed layers; dp is the replicas (0 = as many
  /// as EP needs), over which optimizer state is sharded.
  std::int64_t tp = 1, ep = 1, pp = 1, dp = 0;
  std::int64_t microbatches = 1;
  Recompute recompute = Recompute::none;
  double link_gbs_both_ways = 0;  // 0 = the device's NVLink
  std::int64_t vocab_multiple = 1;
};

enum class KernelKind { gemm, grouped_gemm, attention, elementwise, link };
inline constexpr std::size_t kernel_kind_count = static_cast<std::size_t>(KernelKind::link) + 1;
std::string_view name(KernelKind kind);
enum class Pass { forward, recompute, data_gradient, weight_gradient, update };
std::string_view name(Pass pass);

struct Kernel {
  std::string_view name;  // "qkv projection"
  KernelKind kind{};
  Pass pass = Pass::forward;
  std::optional<std::size_t> segment;            // none: once per model
  Ratio count = 1;                               // launches per microbatch on one pipeline stage
  bool per_step = false;                         // once per step, not per microbatch
  bool weights_from_l2 = false;                  // a later visit that finds the weights still in L2
  std::int64_t m = 0, n = 0, k = 0, groups = 1;  // m: mean rows of a group where routed
  Ratio macs = 0;           // multiply-accumulates of one launch, without padding
  double weight_bytes = 0;  // weights one launch reads or, in a weight gradient, writes
  std::variant<Launch, GemmLaunch, AttentionLaunch> detail;

  const Launch& launch() const {
    return std::visit([](const auto& l) -> const Launch& { return l; }, detail);
  }
  Time total_us() const { return count.to_double() * launch().time; }
};

struct SegmentTime {
  std::string name;
  Ratio visits;
  Time forward_us, backward_us;     // one layer, one visit
  double weight_bytes = 0;          // of all layers of the segment
  bool weights_stay_in_l2 = false;  // re-read from L2, not memory, at later visits
};
struct Plan {
  std::string device, arch;
  PlanOptions options;
  std::vector<Kernel> kernels;
  std::vector<SegmentTime> segments;
  Time step_ms;    // all microbatches, pipeline bubble and update
  double mfu = 0;  // useful FLOPs, none for recomputation, over dense peak x step time
  Ratio forward_macs = 0, useful_macs = 0;  // of one microbatch on one GPU
  double tokens_per_s = 0;                  // per GPU
  std::vector<std::string> notes;           // assumptions that matter for this plan
};

/// Plans many architectures on one device under the same options; shapes are laid out once.
class Planner {
 public:
  /// Throws Error (kind input) if an option is wrong or the device lacks the format.
  Planner(const Device& device, const PlanOptions& options);
  ~Planner();
  Planner(Planner&&) noexcept;
  Planner& operator=(Planner&&) noexcept;
  /// Throws Error (kind input) if the architecture cannot be sharded or no kernel supports it.
  Plan plan(const arch::Architecture& architecture) const;

 private:
  friend class StepTimer;
  struct State;
  std::unique_ptr<const State> state_;
};
Plan plan(const arch::Architecture& architecture, const Device& device, const PlanOptions& options);

/// Milliseconds of a step, and of its kinds of kernel, which add up to it.
struct StepTime {
  Time step_ms;
  std::array<Time, kernel_kind_count> by_kind_ms{};
};
StepTime step_time(const Plan& plan);

/// The step time alone of many architectures that differ in few dimensions: the numbers of
/// Planner::plan bit by bit, without kernels and notes, and with launches remembered by problem.
/// Not to be shared between threads; `planner` must outlive it.
class StepTimer {
 public:
  explicit StepTimer(const Planner& planner);
  ~StepTimer();
  StepTimer(StepTimer&&) noexcept;
  /// Throws as Planner::plan.
  StepTime time(const arch::Architecture& architecture);

 private:
  const Planner* planner_;
  std::unique_ptr<Launches> launches_;
};

/// How often a step launches what a microbatch launches `kernel.count` times, idle waits included.
double step_repeats(const Plan& plan, const Kernel& kernel);
/// Milliseconds of a step by kind of kernel; they add up to its step time.
std::array<Time, kernel_kind_count> time_by_kind(const Plan& plan);
/// Step time over a baseline's on the same device.
struct StepRatio {
  double low = 0, mid = 0, high = 0;           // errors of one kind of kernel move both plans
  double unshared_low = 0, unshared_high = 0;  // if the two plans' errors had nothing in common
};
StepRatio step_ratio(const StepTime& time, const StepTime& baseline);
StepRatio step_ratio(const Plan& plan, const Plan& baseline);

/// One change of a dimension and what it gains, most first.
struct Advice {
  std::string text;
  double gain = 0;  // fraction of the time per multiply-accumulate
  std::string dimension, reason;
  std::int64_t from = 0, to = 0;
  double step_ms = 0;  // after the change
};
std::vector<Advice> advice(const arch::Architecture& architecture, const Device& device,
                           const PlanOptions& options);

// ---- CUDA text ---------------------------------------------------------------------------------

/// A header: the chosen shapes as constexpr structs, and a tiled GEMM and grouped GEMM (mma.sync)
/// instantiated with the best mma.sync shapes of the plan's GEMMs. Needs sm_80 or newer and a
/// 16-bit dtype; throws Error (kind input) otherwise.
std::string cuda_header(const Plan& plan, const Device& device);

}  // namespace isoloop::gpu
