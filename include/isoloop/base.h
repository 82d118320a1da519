// base: what every other module counts with and complains with.
//
// Checked 128-bit integers, exact ratios, polynomials in named unknowns, quantities that carry
// their unit in the type, the one exception type, number text, nearest names and the data files
// compiled into the library. Knows nothing about transformers.
//
// Held by tests/base/*_test.cpp.
#pragma once

#include <array>
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace isoloop {

// ---------------------------------------------------------------------------------------------
// Errors

enum class ErrorKind {
  usage,     // the command line is wrong                       -> exit 2
  input,     // a file or value is wrong                        -> exit 2
  internal,  // isoloop is wrong                                -> exit 3
};

/// The only exception type of the project. `where` is a JSON field path, `file:line:column` or an
/// option; `hint` says what would be right instead. Either may be empty.
class Error : public std::exception {
 public:
  Error(ErrorKind kind, std::string message, std::string where = {}, std::string hint = {});
  ErrorKind kind;
  std::string message, where, hint;
  /// "where: message" and, on a second line, "  hint: ..."; either part only if there is one.
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;
};

Error usage_error(std::string message, std::string where = {}, std::string hint = {});
Error input_error(std::string message, std::string where = {}, std::string hint = {});
Error internal_error(std::string message);

// ---------------------------------------------------------------------------------------------
// Checked integer

__extension__ typedef __int128 int128;
__extension__ typedef unsigned __int128 uint128;

namespace detail {
[[noreturn]] void overflow(const char* operation);
int128 checked_mul(int128 a, int128 b);
}  // namespace detail

/// A signed 128-bit integer whose every operator throws Error (kind input) instead of wrapping.
class Int {
 public:
  constexpr Int() = default;
  template <std::integral T>
  constexpr Int(T value) : value_(static_cast<int128>(value)) {}
  static constexpr Int from_raw(int128 value) {
    Int result;
    result.value_ = value;
    return result;
  }
  constexpr int128 raw() const { return value_; }

  /// Throws if the value does not fit.
  std::int64_t to_int64() const;
  double to_double() const { return static_cast<double>(value_); }
  std::string str() const;

  friend Int operator+(Int a, Int b) {
    int128 r = 0;
    if (__builtin_add_overflow(a.value_, b.value_, &r)) detail::overflow("addition");
    return from_raw(r);
  }
  friend Int operator-(Int a, Int b) {
    int128 r = 0;
    if (__builtin_sub_overflow(a.value_, b.value_, &r)) detail::overflow("subtraction");
    return from_raw(r);
  }
  friend Int operator*(Int a, Int b) { return from_raw(detail::checked_mul(a.value_, b.value_)); }
  friend Int operator-(Int a) { return Int(0) - a; }
  Int& operator+=(Int b) { return *this = *this + b; }
  Int& operator-=(Int b) { return *this = *this - b; }
  Int& operator*=(Int b) { return *this = *this * b; }
  friend constexpr bool operator==(Int a, Int b) { return a.value_ == b.value_; }
  friend constexpr auto operator<=>(Int a, Int b) { return a.value_ <=> b.value_; }

 private:
  int128 value_ = 0;
};

/// Largest integer <= a/b, and smallest integer >= a/b. b must be positive.
Int floor_div(Int a, Int b);
Int ceil_div(Int a, Int b);
/// a/b, throwing Error (kind internal) if b does not divide a.
Int exact_div(Int a, Int b);
/// Smallest multiple of `step` >= a.
Int round_up(Int a, Int step);
Int gcd(Int a, Int b);
Int abs(Int a);

// ---------------------------------------------------------------------------------------------
// Exact ratio

/// num/den in lowest terms with den > 0. Comparison never overflows; arithmetic throws if it would.
class Ratio {
 public:
  constexpr Ratio() = default;
  template <std::integral T>
  constexpr Ratio(T value) : num_(value) {}
  constexpr Ratio(Int value) : num_(value) {}
  Ratio(Int num, Int den);

  constexpr Int num() const { return num_; }
  constexpr Int den() const { return den_; }
  constexpr bool is_integer() const { return den_ == Int(1); }
  double to_double() const;
  /// "7" or "7/2".
  std::string str() const;

  friend Ratio operator+(const Ratio& a, const Ratio& b);
  friend Ratio operator-(const Ratio& a, const Ratio& b);
  friend Ratio operator*(const Ratio& a, const Ratio& b);
  friend Ratio operator/(const Ratio& a, const Ratio& b);
  friend Ratio operator-(const Ratio& a) { return Ratio(0) - a; }
  Ratio& operator+=(const Ratio& b) { return *this = *this + b; }
  friend bool operator==(const Ratio& a, const Ratio& b) = default;
  friend std::strong_ordering operator<=>(const Ratio& a, const Ratio& b);

 private:
  Int num_ = 0, den_ = 1;
};

Ratio abs(const Ratio& a);
Int floor(const Ratio& a);
Int ceil(const Ratio& a);

/// Reads "3", "-1.25", "1e-3", "7/2" or "1.5%" exactly. Throws Error (kind input) otherwise.
Ratio parse_ratio(std::string_view text, std::string_view where);

// ---------------------------------------------------------------------------------------------
// Polynomials in up to 16 unknowns

/// A sum of ratio x monomial. Offers only + and x, which is all a cost formula needs.
class Poly {
 public:
  static constexpr std::size_t max_unknowns = 16;
  using Monomial = std::array<std::uint8_t, max_unknowns>;  // exponent of each unknown

  Poly() = default;
  template <std::integral T>
  Poly(T value) : Poly(Ratio(value)) {}
  Poly(Int value) : Poly(Ratio(value)) {}
  Poly(const Ratio& value);
  static Poly unknown(std::size_t index);

  const std::map<Monomial, Ratio>& terms() const { return terms_; }
  /// Value where unknown i is `at[i]`; throws if an unknown is missing.
  Ratio at(std::span<const Int> values) const;

  friend Poly operator+(const Poly& a, const Poly& b);
  friend Poly operator*(const Poly& a, const Poly& b);
  Poly& operator+=(const Poly& b);
  friend bool operator==(const Poly& a, const Poly& b) = default;

 private:
  std::map<Monomial, Ratio> terms_;
};

// ---------------------------------------------------------------------------------------------
// Quantities: the unit is in the type; adding parameters to FLOPs does not compile.

template <class Tag, class Rep = Ratio>
class Quantity {
 public:
  constexpr Quantity() = default;
  constexpr explicit Quantity(Rep value) : value_(value) {}
  constexpr const Rep& value() const { return value_; }
  friend Quantity operator+(const Quantity& a, const Quantity& b) {
    return Quantity(a.value_ + b.value_);
  }
  friend Quantity operator-(const Quantity& a, const Quantity& b) {
    return Quantity(a.value_ - b.value_);
  }
  friend Quantity operator*(const Rep& scale, const Quantity& b) {
    return Quantity(scale * b.value_);
  }
  Quantity& operator+=(const Quantity& b) { return *this = *this + b; }
  friend bool operator==(const Quantity& a, const Quantity& b) = default;
  friend auto operator<=>(const Quantity& a, const Quantity& b) { return a.value_ <=> b.value_; }

 private:
  Rep value_{};
};

using Params = Quantity<struct ParamsTag, Int>;
using Macs = Quantity<struct MacsTag>;    // multiply-accumulates
using Flops = Quantity<struct FlopsTag>;  // one multiply-accumulate is two
using Bytes = Quantity<struct BytesTag>;
using Elements = Quantity<struct ElementsTag>;  // cache or activation entries
using Tokens = Quantity<struct TokensTag, Int>;

/// One multiply-accumulate is two floating-point operations.
Flops flops(const Macs& macs);

enum class DType { fp32, bf16, fp16, fp8 };
/// Accepts fp32, bf16, fp16, fp8; an unknown name is an error with the nearest one.
DType parse_dtype(std::string_view name, std::string_view where);
std::string_view name(DType dtype);
Int bytes_per_element(DType dtype);
Bytes bytes(const Elements& elements, DType dtype);
Bytes bytes(const Params& params, DType dtype);

// ---------------------------------------------------------------------------------------------
// Number text. Rounding is half away from zero on the exact value.

/// Fixed decimals: decimal(7/3, 3) is "2.333".
std::string decimal(const Ratio& value, int digits);
/// Thousands separated by commas: "6,919,161,856"; a non-integer keeps two decimals.
std::string grouped(const Ratio& value);
/// Three significant digits and a scale letter K, M, B or T: "6.92B", "209M", "4.10K". An integer
/// below 1000 stays as it is: "512". Outside 1e-3 .. 1e15: "7.00e24".
std::string scaled(const Ratio& value);
/// Signed percentage, "+0.12 %"; value is a fraction. Only an exact zero has no sign, so "+0.00 %"
/// tells that there is a difference.
std::string percent(const Ratio& value, int digits = 2);
/// Binary prefix: "12.0 KiB".
std::string byte_text(const Ratio& bytes);

/// The candidate closest to `name` by edit distance, or "" if none is close.
std::string nearest(std::string_view name, std::span<const std::string> candidates);
/// "unknown <what> 'name'" with the nearest candidate, or the whole list if none is near.
Error unknown_name(ErrorKind kind, std::string_view what, std::string_view name,
                   std::span<const std::string> candidates, std::string_view where);

// ---------------------------------------------------------------------------------------------
// Data files compiled in from data/, so that the program runs from any folder.

struct DataFile {
  std::string_view path;  // relative to data/, e.g. "models/llama-3-8b.json"
  std::string_view text;
};
/// All embedded files, sorted by path.
std::span<const DataFile> data_files();
/// The text of one file; throws Error (kind internal) if it is not embedded.
std::string_view data_file(std::string_view path);

}  // namespace isoloop
