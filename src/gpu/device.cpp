// Devices and compute capabilities as data.
//
// Right by the sources each data file names; figures recalled rather than read are listed there as
// unconfirmed. Held by tests/gpu/device_test.cpp.
#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "base/json_reader.h"
#include "isoloop/gpu.h"

namespace isoloop::gpu {
namespace {

constexpr json::Range count_range{1, 1'000'000};
constexpr json::Range byte_range{1, std::int64_t{1} << 50};
constexpr std::string_view schema = "isoloop/gpu/v1";
constexpr std::array<std::string_view, 13> device_fields = {
    "schema",    "id",           "name",         "compute_capability",
    "sms",       "l2_bytes",     "memory_bytes", "memory_bytes_per_s",
    "clock_mhz", "dense_tflops", "sources",      "unconfirmed",
    "note"};

int small(json::Fields& fields, std::string_view key, std::int64_t least = 0) {
  return static_cast<int>(fields.integer(key, {least, 1 << 24}));
}

Limits read_limits(json::Fields f) {
  Limits l;
  l.compute_capability = f.text("compute_capability");
  l.max_threads_per_sm = small(f, "max_threads_per_sm", 1);
  l.max_threads_per_block = small(f, "max_threads_per_block", 1);
  l.max_blocks_per_sm = small(f, "max_blocks_per_sm", 1);
  l.registers_per_sm = small(f, "registers_per_sm", 1);
  l.registers_per_block = small(f, "registers_per_block", 1);
  l.max_registers_per_thread = small(f, "max_registers_per_thread", 1);
  l.register_unit = small(f, "register_unit", 1);
  l.warp_unit = small(f, "warp_unit", 1);
  l.sub_partitions = small(f, "sub_partitions", 1);
  l.smem_per_sm = small(f, "smem_per_sm", 1);
  l.smem_per_block_optin = small(f, "smem_per_block_optin", 1);
  l.smem_per_block_default = small(f, "smem_per_block_default", 1);
  l.smem_reserved_per_block = small(f, "smem_reserved_per_block");
  l.smem_unit = small(f, "smem_unit", 1);
  l.barrier_slots = small(f, "barrier_slots");
  l.max_cluster = small(f, "max_cluster", 1);
  l.tmem_columns = small(f, "tmem_columns");
  f.finish();
  return l;
}

const Limits& find_capability(std::string_view text, std::string_view where) {
  std::vector<std::string> known;
  for (const Limits& limits : capabilities()) {
    if (limits.compute_capability == text) return limits;
    known.push_back(limits.compute_capability);
  }
  throw unknown_name(ErrorKind::input, "compute capability", text, known, where);
}

double positive(json::Fields& fields, std::string_view key) {
  const double value = fields.number(key);
  if (!(value > 0)) throw fields.error(key, fmt::format("is {}; expected more than 0", value));
  return value;
}

/// A table of rates by number format, e.g. {"bf16": 989.4}.
std::array<double, precision_count> rates(json::Fields table) {
  std::array<double, precision_count> result{};
  for (const std::string& key : table.unread()) {
    const Precision precision = parse_precision(key, table.where(key));
    result[static_cast<std::size_t>(precision)] = positive(table, key);
  }
  return result;
}

void read_clock(json::Fields clock, Device& device) {
  device.tensor_mhz = positive(clock, "tensor");
  device.fp32_mhz = clock.has("fp32") ? positive(clock, "fp32") : device.tensor_mhz;
  clock.finish();
}

/// FLOP per clock and SM that give the peak at the stated clock.
std::array<double, precision_count> derived_rates(const Device& d) {
  std::array<double, precision_count> result{};
  for (std::size_t i = 0; i < precision_count; ++i)
    result[i] = d.dense_tflops[i] * 1e12 / (d.sms * d.tensor_mhz * 1e6);
  return result;
}

void check_fields(const json::Fields& f) {
  std::vector<std::string_view> known(device_fields.begin(), device_fields.end());
  known.push_back("flop_per_clock_per_sm");
  known.push_back("nvlink_gbs_both_ways");
  f.allow_only(known);
}

Device read_device(json::Fields f) {
  check_fields(f);
  if (f.text("schema") != schema) throw f.error("schema", fmt::format("is not \"{}\"", schema));
  Device d;
  d.id = f.text("id");
  d.name = f.optional_text("name").value_or(d.id);
  d.limits = find_capability(f.text("compute_capability"), f.where("compute_capability"));
  d.sms = static_cast<int>(f.integer("sms", count_range));
  d.l2_bytes = f.integer("l2_bytes", byte_range);
  d.memory_bytes = f.integer("memory_bytes", byte_range);
  d.memory_bytes_per_s = positive(f, "memory_bytes_per_s");
  read_clock(f.object("clock_mhz"), d);
  d.dense_tflops = rates(f.object("dense_tflops"));
  if (std::ranges::all_of(d.dense_tflops, [](double rate) { return rate == 0; }))
    throw f.error("dense_tflops", "states no rate", "for example {\"bf16\": 312}");
  d.flop_per_clock_per_sm =
      f.has("flop_per_clock_per_sm") ? rates(f.object("flop_per_clock_per_sm")) : derived_rates(d);
  d.nvlink_gbs_both_ways = f.optional_number("nvlink_gbs_both_ways").value_or(0);
  if (d.nvlink_gbs_both_ways < 0) throw f.error("nvlink_gbs_both_ways", "is less than 0");
  if (auto sources = f.optional_object("sources"))
    for (const std::string& key : sources->unread()) d.sources[key] = sources->text(key);
  d.unconfirmed = f.optional_texts("unconfirmed");
  d.note = f.optional_text("note").value_or("");
  return d;
}

std::vector<Device> read_devices() {
  std::vector<Device> result;
  for (const DataFile& file : data_files()) {
    if (!file.path.starts_with("gpus/") || file.path == "gpus/efficiency.json") continue;
    result.push_back(device_from_json(file.text, "data/" + std::string(file.path)));
  }
  std::ranges::sort(result, {}, &Device::id);
  return result;
}

/// Known ids that begin as `id` does, whatever the case: "h100" is no id but nearly three.
std::vector<std::string> beginning_with(std::string_view id, const std::vector<std::string>& ids) {
  std::string lower(id);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  std::vector<std::string> result;
  for (const std::string& known : ids)
    if (!lower.empty() && known.starts_with(lower)) result.push_back(known);
  return result;
}

}  // namespace

const std::vector<Limits>& capabilities() {
  static const std::vector<Limits> table = [] {
    const std::string file = "data/compute_capabilities.json";
    const json::Value document = json::parse(data_file("compute_capabilities.json"), file);
    json::Fields fields(document, file);
    std::vector<Limits> result;
    for (const json::Fields& entry : fields.optional_objects("compute_capabilities"))
      result.push_back(read_limits(entry));
    return result;
  }();
  return table;
}

Device device_from_json(std::string_view text, std::string_view file) {
  const json::Value document = json::parse(text, file);
  return read_device(json::Fields(document, std::string(file)));
}

const std::vector<Device>& devices() {
  static const std::vector<Device> table = read_devices();
  return table;
}

const Device& find_device(std::string_view id, std::string_view where) {
  std::vector<std::string> known;
  for (const Device& device : devices()) {
    if (device.id == id) return device;
    known.push_back(device.id);
  }
  const std::vector<std::string> near = beginning_with(id, known);
  if (near.size() < 2)
    throw unknown_name(ErrorKind::usage, "GPU", id, near.empty() ? known : near, where);
  std::string list;
  for (std::size_t i = 0; i < near.size(); ++i)
    list += fmt::format("{}'{}'", i == 0 ? "" : i + 1 == near.size() ? " or " : ", ", near[i]);
  throw usage_error(fmt::format("unknown GPU '{}'", id), std::string(where),
                    fmt::format("did you mean {}?", list));
}

double peak_flops(const Device& device, Precision precision) {
  const double tflops = device.dense_tflops[static_cast<std::size_t>(precision)];
  if (tflops > 0) return tflops * 1e12;
  std::string has;
  for (std::size_t i = 0; i < precision_count; ++i)
    if (device.dense_tflops[i] > 0)
      has += (has.empty() ? "" : ", ") + std::string(name(static_cast<Precision>(i)));
  throw input_error(fmt::format("{} has no {} tensor cores", device.name, name(precision)), "dtype",
                    "it has " + has);
}

}  // namespace isoloop::gpu
