// Checked 128-bit integers: products, quotients and gcds against literals computed with Python's
// unbounded integers, the edges of the range, and identities on random values.
//
// Source: Python 3 int and math.gcd; 2^127-1 by definition. Holds src/base/integer.cpp.
#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <random>
#include <string>

#include "isoloop/base.h"
#include "support/numbers.h"

namespace isoloop {
namespace {

using test::error_of;
using test::integer;
using test::largest;
using test::smallest;
using test::text_or_overflow;

struct Product {
  const char *a, *b, *result;
};
constexpr Product products[] = {
    {"863851", "-1017762681", "-879195309744531"},
    {"5057049700044350544", "-7574918311415852851", "-38306738374605996983260549184165800944"},
    {"10293263326392719453", "4680268584103075220", "48175236974416163284087425916016254660"},
    {"17222723036608766810", "10511977190840423579", "overflow"},
    {"1", "96206961185274333709182621206344190502", "96206961185274333709182621206344190502"},
    {"-1234612210971607389249450586936", "37705923", "-46552192961755183405270811623313621928"},
    {"637515960275077562819339344588", "-115221686", "-73455663794803460568815192689564335368"},
    {"-669336698727933992814555714", "627571139008", "overflow"},
    {"-29175373440969989090", "3172245190959158599", "-92551438092554607140047561036609684910"},
    {"31582869123875011369", "-19546191605817569475", "overflow"},
    {"-1008925298809429915300527459971412", "-106711", "107663427561253075691634585781009345932"},
    {"50126672628692353", "3394224562255922457342", "170141183460469231731687303715884105726"},
    {"50126672628692353", "-3394224562255922457342", "-170141183460469231731687303715884105726"},
    {"50126672628692353", "3394224562255922457343", "overflow"},
    {"-50126672628692353", "3394224562255922457343", "overflow"},
    {"18446744073709551629", "9223372036854775801", "170141183460469231722463931679029329829"},
    {"18446744073709551629", "9223372036854775802", "overflow"},
    {"-18446744073709551629", "9223372036854775801", "-170141183460469231722463931679029329829"},
    {"134217727", "1267650600228229401496703205653", "170141182192818631503457902256359210731"},
    {"134217728", "1267650600228229401496703205653", "overflow"},
};

struct Quotient {
  const char *a, *b, *floor, *ceil;
};
constexpr Quotient quotients[] = {
    {"882", "7", "126", "126"},
    {"-882", "7", "-126", "-126"},
    {"915857186588516983", "712787", "1284896030074", "1284896030075"},
    {"-915857186588516983", "712787", "-1284896030075", "-1284896030074"},
    {"773417973584453121793120318822370452", "922624420064620207", "838280406159511004",
     "838280406159511005"},
    {"-773417973584453121793120318822370452", "922624420064620207", "-838280406159511005",
     "-838280406159511004"},
    {"71754975899505878861672589370047285025", "735866242455480305329603669281", "97510894",
     "97510895"},
    {"-71754975899505878861672589370047285025", "735866242455480305329603669281", "-97510895",
     "-97510894"},
    {"43550429128255445956410305945023593784", "3", "14516809709418481985470101981674531261",
     "14516809709418481985470101981674531262"},
    {"-43550429128255445956410305945023593784", "3", "-14516809709418481985470101981674531262",
     "-14516809709418481985470101981674531261"},
};

struct Divisor {
  const char *a, *b, *gcd;
};
constexpr Divisor divisors[] = {
    {"297566802355291515", "-135390276736670329785", "2488911584895"},
    {"25482498400242899587644312859272219", "-424123995730305646641490623911772",
     "563736073883798499"},
    {"626583119638111754463518770759811175", "-695176525658983933475883069947560755",
     "3786343896051676916116377742755"},
    {"465466935965202590931055791133802956", "-1059251105883290410250036379109597133", "17"},
    {"1095017839875295722017657419872668714", "-643323334042805923760620455", "634226243327876971"},
    {"147808829414345923316083210206383297601", "14016833953562607293918185758734155776",
     "12157665459056928801"},
    {"127127879743834334146972278486287885163", "78569350599398894027251472817058687522", "1"},
};

/// A random integer of up to `bits` bits, either sign.
Int random_int(std::mt19937_64& random, int bits) {
  const auto high = static_cast<int128>(random() >> 1), low = static_cast<int128>(random());
  const int128 value = ((high << 64) | low) >> (127 - bits);
  return Int::from_raw(random() % 2 == 0 ? value : -value);
}

}  // namespace

TEST_CASE("integer product") {
  for (const auto& row : products) {
    CAPTURE(row.a);
    CAPTURE(row.b);
    const Int a = integer(row.a), b = integer(row.b);
    CHECK(text_or_overflow([&] { return a * b; }) == row.result);
    CHECK(text_or_overflow([&] { return b * a; }) == row.result);
  }
}

TEST_CASE("integer quotients round towards the named side") {
  for (const auto& row : quotients) {
    CAPTURE(row.a);
    CHECK(floor_div(integer(row.a), integer(row.b)) == integer(row.floor));
    CHECK(ceil_div(integer(row.a), integer(row.b)) == integer(row.ceil));
  }
  CHECK(floor_div(6, 3) == 2);
  CHECK(ceil_div(-6, 3) == -2);
  CHECK(floor_div(smallest(), 1) == smallest());
}

TEST_CASE("integer gcd") {
  for (const auto& row : divisors) {
    CAPTURE(row.a);
    CHECK(gcd(integer(row.a), integer(row.b)) == integer(row.gcd));
    CHECK(gcd(integer(row.b), integer(row.a)) == integer(row.gcd));
  }
  CHECK(gcd(0, 0) == 0);
  CHECK(gcd(0, -5) == 5);
  CHECK(gcd(smallest(), 6) == 2);
  CHECK(text_or_overflow([] { return gcd(smallest(), 0); }) == "overflow");
}

TEST_CASE("integer edges: the last value that fits and the first that does not") {
  const Int max = largest(), min = smallest();
  CHECK(max.str() == "170141183460469231731687303715884105727");
  CHECK(min.str() == "-170141183460469231731687303715884105728");
  CHECK(text_or_overflow([&] { return max + 0; }) == max.str());
  CHECK(text_or_overflow([&] { return max + 1; }) == "overflow");
  CHECK(text_or_overflow([&] { return min + 1; }) == (-max).str());
  CHECK(text_or_overflow([&] { return min - 1; }) == "overflow");
  CHECK(text_or_overflow([&] { return -min; }) == "overflow");
  CHECK(text_or_overflow([&] { return abs(min); }) == "overflow");
  CHECK(text_or_overflow([&] { return min * 1; }) == min.str());
  CHECK(text_or_overflow([&] { return min * -1; }) == "overflow");
  CHECK(text_or_overflow([&] { return max * -1; }) == (-max).str());
  CHECK(text_or_overflow([&] { return min * min; }) == "overflow");
  CHECK(text_or_overflow([&] { return min * 0; }) == "0");
  CHECK(text_or_overflow([&] { return exact_div(min, -1); }) == "overflow");
  const Int two63 = Int(std::uint64_t{1} << 63);
  CHECK(text_or_overflow([&] { return two63 * two63 * 2; }) == "overflow");
  CHECK(text_or_overflow([&] { return two63 * two63 * -2; }) == min.str());
}

TEST_CASE("integer overflow says what overflowed and why that may be") {
  const Error error = error_of([] { return largest() * 2; });
  CHECK(std::string(error.what()) ==
        "count overflows 128 bits in multiplication\n  hint: a dimension is far too large");
  CHECK(error.kind == ErrorKind::input);
  CHECK(error_of([] { return largest() + 1; }).message == "count overflows 128 bits in addition");
  CHECK(error_of([] { return smallest() - 1; }).message ==
        "count overflows 128 bits in subtraction");
}

TEST_CASE("integer to 64 bits") {
  const Int max = std::numeric_limits<std::int64_t>::max();
  const Int min = std::numeric_limits<std::int64_t>::min();
  CHECK(max.to_int64() == std::numeric_limits<std::int64_t>::max());
  CHECK(min.to_int64() == std::numeric_limits<std::int64_t>::min());
  CHECK(error_of([&] { (max + 1).to_int64(); }).message ==
        "count 9223372036854775808 does not fit 64 bits");
  CHECK(error_of([&] { (min - 1).to_int64(); }).kind == ErrorKind::input);
  CHECK(Int(std::numeric_limits<std::uint64_t>::max()).str() == "18446744073709551615");
}

TEST_CASE("integer division that must be exact") {
  CHECK(exact_div(-12, 4) == -3);
  CHECK(exact_div(12, -4) == -3);
  CHECK(error_of([] { exact_div(13, 4); }).message == "4 does not divide 13");
  CHECK(error_of([] { exact_div(13, 4); }).kind == ErrorKind::internal);
  CHECK(error_of([] { exact_div(13, 0); }).kind == ErrorKind::internal);
  CHECK(error_of([] { floor_div(1, 0); }).kind == ErrorKind::internal);
  CHECK(error_of([] { ceil_div(1, -2); }).kind == ErrorKind::internal);
}

TEST_CASE("integer rounding up to a multiple") {
  CHECK(round_up(50257, 128) == 50304);  // GPT-2 vocabulary, padded as Megatron-LM pads it
  CHECK(round_up(50304, 128) == 50304);
  CHECK(round_up(0, 128) == 0);
  CHECK(round_up(-1, 128) == 0);
  CHECK(text_or_overflow([] { return round_up(largest(), 2); }) == "overflow");
}

TEST_CASE("integer identities on random values") {
  std::mt19937_64 random(1);
  for (int i = 0; i < 2000; ++i) {
    const Int a = random_int(random, 62), b = random_int(random, 62), c = random_int(random, 2);
    CHECK((a + b) - b == a);
    CHECK(a * b == b * a);
    CHECK((a + b) * c == a * c + b * c);
    if (b != 0) CHECK(exact_div(a * b, b) == a);
    const Int step = abs(b) + 1, rest = a - floor_div(a, step) * step;
    CHECK(rest >= 0);
    CHECK(rest < step);
    CHECK(ceil_div(a, step) == -floor_div(-a, step));
    const Int wide = random_int(random, 126), other = random_int(random, 126);
    const Int common = gcd(wide, other);
    if (common != 0) {
      CHECK(exact_div(wide, common) * common == wide);
      CHECK(gcd(exact_div(wide, common), exact_div(other, common)) == 1);
    }
  }
}

}  // namespace isoloop
