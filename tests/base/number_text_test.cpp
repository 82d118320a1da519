// Numbers as text: rounding against literals computed with Python's fractions, the edges where a
// rounded number changes its scale, and the error bound of half a unit on random values.
//
// Source: Python 3 fractions.Fraction; IEC 80000-13 binary prefixes. Holds
// src/base/number_text.cpp.
#include <doctest/doctest.h>

#include <cstdint>
#include <random>
#include <string>

#include "isoloop/base.h"
#include "support/numbers.h"

namespace isoloop {
namespace {

using test::error_of;
using test::largest;
using test::ratio;
using test::smallest;

struct Fixed {
  const char* value;
  int digits;
  const char* text;
};
constexpr Fixed fixed[] = {
    {"7/3", 3, "2.333"},
    {"1/2", 0, "1"},
    {"-1/2", 0, "-1"},
    {"3/2", 0, "2"},
    {"5/2", 0, "3"},
    {"-5/2", 0, "-3"},
    {"1/8", 2, "0.13"},
    {"-1/8", 2, "-0.13"},
    {"199999/200", 2, "1000.00"},
    {"19999/2000", 3, "10.000"},
    {"-1/1000", 2, "0.00"},
    {"1/170141183460469231731687303715884105727", 3, "0.000"},
    {"1/170141183460469231731687303715884105727", 40, "0.0000000000000000000000000000000000000059"},
    {"170141183460469231731687303715884105727", 2, "170141183460469231731687303715884105727.00"},
    {"170141183460469231731687303715884105727/2", 0, "85070591730234615865843651857942052864"},
    {"170141183460469231731687303715884105727/2", 1, "85070591730234615865843651857942052863.5"},
    {"-170141183460469231731687303715884105727/3", 5,
     "-56713727820156410577229101238628035242.33333"},
    {"170141183460469231731687303715884105726/170141183460469231731687303715884105727", 10,
     "1.0000000000"},
    {"170141183460469231731687303715884105726/170141183460469231731687303715884105727", 40,
     "0.9999999999999999999999999999999999999941"},
    {"22/7", 50, "3.14285714285714285714285714285714285714285714285714"},
    {"0", 3, "0.000"},
    {"49999/100000", 0, "0"},
};

struct Text {
  const char *value, *text;
};
constexpr Text scaled_texts[] = {
    {"0", "0"},
    {"7", "7"},
    {"512", "512"},
    {"-999", "-999"},
    {"1000", "1.00K"},
    {"4100", "4.10K"},
    {"9994", "9.99K"},
    {"9995", "10.0K"},
    {"99950", "100K"},
    {"999499", "999K"},
    {"999500", "1.00M"},
    {"208600000", "209M"},
    {"999.6e6", "1.00B"},
    {"6919161856", "6.92B"},
    {"-6919161856", "-6.92B"},
    {"70553706496", "70.6B"},
    {"15e12", "15.0T"},
    {"999e12", "999T"},
    {"999.5e12", "1.00e15"},
    {"6.3e24", "6.30e24"},
    {"170141183460469231731687303715884105727", "1.70e38"},
    {"7/2", "3.50"},
    {"-7/2", "-3.50"},
    {"25/2", "12.5"},
    {"999.4", "999"},
    {"999.6", "1.00K"},
    {"0.9996", "1.00"},
    {"1/3", "0.333"},
    {"0.01", "0.0100"},
    {"0.00123", "0.00123"},
    {"0.000123", "1.23e-4"},
    {"0.0009996", "0.00100"},
    {"1/170141183460469231731687303715884105727", "5.88e-39"},
    {"170141183460469231731687303715884105726/170141183460469231731687303715884105727", "1.00"},
};

constexpr Text byte_texts[] = {
    {"0", "0 B"},
    {"1023", "1023 B"},
    {"1/2", "0.5 B"},
    {"1024", "1.0 KiB"},
    {"12288", "12.0 KiB"},
    {"131072", "128.0 KiB"},
    {"1048524", "1023.9 KiB"},  // 1023.949 KiB
    {"1048525", "1.0 MiB"},     // 1023.950 KiB
    {"80e9", "74.5 GiB"},
    {"-1536", "-1.5 KiB"},
    {"1208925819614629174706176", "1048576.0 EiB"},
};

struct Percentage {
  const char* value;
  int digits;
  const char* text;
};
constexpr Percentage percentages[] = {
    {"0.0012", 2, "+0.12 %"},       {"-0.0012", 2, "-0.12 %"},   {"0", 2, "0.00 %"},
    {"0.00001", 2, "+0.00 %"},      {"-1e-9", 2, "-0.00 %"},     {"1", 2, "+100.00 %"},
    {"0.005", 0, "+1 %"},           {"0.0049", 0, "+0 %"},       {"1/3", 3, "+33.333 %"},
    {"12345/1000", 1, "+1234.5 %"}, {"0.99999", 2, "+100.00 %"}, {"-2/3", 0, "-67 %"},
};

}  // namespace

TEST_CASE("decimal text rounds half away from zero") {
  for (const auto& row : fixed) {
    CAPTURE(row.value);
    CHECK(decimal(ratio(row.value), row.digits) == row.text);
  }
  CHECK(decimal(smallest(), 1) == "-170141183460469231731687303715884105728.0");
  CHECK(error_of([] { decimal(1, -1); }).kind == ErrorKind::internal);
}

TEST_CASE("decimal text is within half a unit of the last digit") {
  std::mt19937_64 random(5);
  for (int i = 0; i < 1000; ++i) {
    const auto top = static_cast<std::int32_t>(random());
    const Ratio value(top, static_cast<std::int64_t>(random() % 100'000) + 1);
    Int unit = 1;
    for (int digits = 0; digits < 8; ++digits, unit *= 10) {
      const Ratio read = ratio(decimal(value, digits));
      CHECK(abs(read - value) <= Ratio(1, 2 * unit));
      CHECK((read * unit).is_integer());
      // The rounded text of the opposite is the opposite.
      CHECK(ratio(decimal(-value, digits)) == -read);
    }
  }
}

TEST_CASE("grouped text") {
  CHECK(grouped(0) == "0");
  CHECK(grouped(999) == "999");
  CHECK(grouped(-999) == "-999");
  CHECK(grouped(1000) == "1,000");
  CHECK(grouped(-1000) == "-1,000");
  CHECK(grouped(123456) == "123,456");
  CHECK(grouped(6919161856) == "6,919,161,856");
  CHECK(grouped(Ratio(2469, 2)) == "1,234.50");
  CHECK(grouped(Ratio(-1, 3)) == "-0.33");
  CHECK(grouped(Ratio(1999999, 2000)) == "1,000.00");
  CHECK(grouped(largest()) == "170,141,183,460,469,231,731,687,303,715,884,105,727");
}

TEST_CASE("scaled text has three significant digits") {
  for (const auto& row : scaled_texts) {
    CAPTURE(row.value);
    CHECK(scaled(ratio(row.value)) == row.text);
  }
}

TEST_CASE("percentages carry their sign") {
  for (const auto& row : percentages) {
    CAPTURE(row.value);
    CHECK(percent(ratio(row.value), row.digits) == row.text);
  }
  CHECK(percent(Ratio(1, 800)) == "+0.13 %");
  CHECK(percent(largest(), 1) == "+17014118346046923173168730371588410572700.0 %");
}

TEST_CASE("byte text has a binary prefix") {
  for (const auto& row : byte_texts) {
    CAPTURE(row.value);
    CHECK(byte_text(ratio(row.value)) == row.text);
  }
}

}  // namespace isoloop
