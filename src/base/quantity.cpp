// The named conversions between quantities: MACs to FLOPs, elements and parameters to bytes.
//
// Source: one multiply-accumulate is two operations; IEEE 754 widths, bfloat16, and OCP 8-bit
// floating point (OFP8) widths. Held by tests/base/quantity_test.cpp.
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "isoloop/base.h"

namespace isoloop {
namespace {

struct DTypeRow {
  DType dtype;
  std::string_view name;
  int bytes;
};
constexpr std::array<DTypeRow, 4> dtypes{{
    {DType::fp32, "fp32", 4},
    {DType::bf16, "bf16", 2},
    {DType::fp16, "fp16", 2},
    {DType::fp8, "fp8", 1},
}};

const DTypeRow& row(DType dtype) {
  for (const DTypeRow& candidate : dtypes) {
    if (candidate.dtype == dtype) return candidate;
  }
  throw internal_error("data type " + std::to_string(static_cast<int>(dtype)) + " has no row");
}

}  // namespace

Flops flops(const Macs& macs) { return Flops(2 * macs.value()); }

DType parse_dtype(std::string_view name, std::string_view where) {
  std::vector<std::string> names;
  for (const DTypeRow& candidate : dtypes) {
    if (candidate.name == name) return candidate.dtype;
    names.emplace_back(candidate.name);
  }
  throw unknown_name(ErrorKind::input, "data type", name, names, where);
}

std::string_view name(DType dtype) { return row(dtype).name; }
Int bytes_per_element(DType dtype) { return row(dtype).bytes; }

Bytes bytes(const Elements& elements, DType dtype) {
  return Bytes(bytes_per_element(dtype) * elements.value());
}

Bytes bytes(const Params& params, DType dtype) {
  return Bytes(bytes_per_element(dtype) * params.value());
}

}  // namespace isoloop
