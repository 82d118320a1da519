// Exact ratios: arithmetic and order against literals computed with Python's fractions, order of
// ratios whose cross products pass 128 bits, and identities on random values.
//
// Source: Python 3 fractions.Fraction. Holds src/base/ratio.cpp.
#include <doctest/doctest.h>

#include <compare>
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
using test::text_or_overflow;

struct Arithmetic {
  const char *a, *b, *sum, *difference, *product, *quotient;
};
constexpr Arithmetic arithmetic[] = {
    {"-433897/7768", "461803/1065", "3125185399/8272920", "-4049386009/8272920",
     "-200374936291/8272920", "-462100305/3587285704"},
    {"-872767/5073", "357127/9470", "-6453398219/48041310", "-10076808761/48041310",
     "-311688660409/48041310", "-8265103490/1811705271"},
    {"428657/7302", "-403160/6321", "-26037047/5128438", "1884471739/15385314",
     "-86408678060/23077971", "-903180299/981291440"},
    {"430129/2843", "-952683/7565", "545448116/21507295", "5962403654/21507295",
     "-409776586107/21507295", "-3253925885/2708477769"},
    {"-14141/153", "281191/1919", "15885644/293607", "-70158802/293607", "-3976321931/293607",
     "-27136579/43022223"},
    {"11783/322", "-271193/2355", "-59575181/758310", "115073111/758310", "-138933353/32970",
     "-27748965/87324146"},
    {"-728754/4057", "-165549/6406", "-5340030417/25989142", "-3996765831/25989142",
     "60322247973/12994571", "1556132708/223877431"},
    {"922702/8135", "-831009/2726", "-4244972563/22176010", "9275543867/22176010",
     "-383386833159/11088005", "-2515285652/6760258215"},
    {"170141183460469231731687303715884105727/6", "-170141183460469231731687303715884105727/6", "0",
     "170141183460469231731687303715884105727/3", "overflow", "-1"},
    {"1267650600228229401496703205376/3145729", "5/3145729",
     "1267650600228229401496703205381/3145729", "1267650600228229401496703205371/3145729",
     "6338253001141147007483516026880/9895610941441", "1267650600228229401496703205376/5"},
    {"1000000000000000000000000000000/79792266297612001",
     "79792266297612001/1000000000000000000000000000000", "overflow", "overflow", "1", "overflow"},
};

struct Order {
  const char *a, *b;
  char order;
};
// Neighbours near 1, neighbouring Fibonacci quotients (the longest continued fractions there are),
// and random pairs that differ in the last digits only.
constexpr Order orders[] = {
    {"170141183460469231731687303715884105726/170141183460469231731687303715884105727",
     "170141183460469231731687303715884105725/170141183460469231731687303715884105726", '>'},
    {"170141183460469231731687303715884105727/170141183460469231731687303715884105726",
     "170141183460469231731687303715884105726/170141183460469231731687303715884105725", '<'},
    {"-170141183460469231731687303715884105727/170141183460469231731687303715884105726",
     "-170141183460469231731687303715884105726/170141183460469231731687303715884105725", '>'},
    {"1/170141183460469231731687303715884105727", "1/170141183460469231731687303715884105726", '<'},
    {"170141183460469231731687303715884105727", "170141183460469231731687303715884105726", '>'},
    {"-170141183460469231731687303715884105727/2", "-170141183460469231731687303715884105727/3",
     '<'},
    {"127127879743834334146972278486287885163/78569350599398894027251472817058687522",
     "78569350599398894027251472817058687522/48558529144435440119720805669229197641", '<'},
    {"127127879743834334146972278486287885163/78569350599398894027251472817058687522",
     "48558529144435440119720805669229197641/30010821454963453907530667147829489881", '>'},
    {"78569350599398894027251472817058687522/48558529144435440119720805669229197641",
     "127127879743834334146972278486287885163/78569350599398894027251472817058687522", '>'},
    {"-127127879743834334146972278486287885163/78569350599398894027251472817058687522",
     "-78569350599398894027251472817058687522/48558529144435440119720805669229197641", '>'},
    {"-13996867113175928972021323662818749333/16200368877070318720627856226552249174",
     "-64434830639739692590840660274029455277/74578690820940377222100833016259899737", '>'},
    {"6297162511286580302247015920869825481/75883420876414155145628069481544977829",
     "448235032402203875417755144264552729/5401418107658176776493983044175614453", '>'},
    {"-23637455469313788164203076355619704208/83841361006125675463942118125751012489",
     "-12978187020101303195736684772424324185/46033248568988899701052367804217592878", '<'},
    {"83933027770318667444548017461713291288/97687194317892143606866696969094099969",
     "102082329512527896493911232691755396349/118810635388991252242634244358891669749", '<'},
    {"-861626641744458544471957930934857348/1540622525330435440644358789286034027",
     "-76665140541387309621444241279032110369/137080304511654787002206842742398439606", '<'},
    {"107572971251276780528595181370155312290/109248005284848128407740672625015590061",
     "6295881402646389423542878549192254829/6393915467319828003969233010116637763", '>'},
    {"190120383408928493191569658956083849/354293258270035407221227720423018381",
     "14523919180021813547666013213486436531/27065623142957190307975346063861451936", '<'},
    {"-101095829082993149231374606431096770239/105807652953231726450342221261318402973",
     "-42278180936194273929837062206587127083/44248661260974927046976876046697140554", '>'},
};

Ratio random_ratio(std::mt19937_64& random, std::int64_t limit) {
  std::uniform_int_distribution<std::int64_t> num(-limit, limit), den(1, limit);
  const std::int64_t top = num(random);
  return Ratio(top, den(random));
}

}  // namespace

TEST_CASE("ratio arithmetic") {
  for (const auto& row : arithmetic) {
    CAPTURE(row.a);
    CAPTURE(row.b);
    const Ratio a = ratio(row.a), b = ratio(row.b);
    CHECK(text_or_overflow([&] { return a + b; }) == row.sum);
    CHECK(text_or_overflow([&] { return a - b; }) == row.difference);
    CHECK(text_or_overflow([&] { return a * b; }) == row.product);
    CHECK(text_or_overflow([&] { return a / b; }) == row.quotient);
  }
}

TEST_CASE("ratio order never overflows") {
  for (const auto& row : orders) {
    CAPTURE(row.a);
    CAPTURE(row.b);
    const Ratio a = ratio(row.a), b = ratio(row.b);
    CHECK((a < b) == (row.order == '<'));
    CHECK((a > b) == (row.order == '>'));
    CHECK((b < a) == (row.order == '>'));
    CHECK((-b < -a) == (row.order == '<'));
    CHECK(a != b);
    CHECK((a <=> a) == std::strong_ordering::equal);
  }
  CHECK(Ratio(smallest()) < Ratio(smallest(), 3));
  CHECK(Ratio(smallest(), largest()) < Ratio(-1));
  CHECK(Ratio(1, largest()) > 0);
  CHECK(Ratio(-1, largest()) < 0);
  CHECK(Ratio(0) < Ratio(1, 2));
  CHECK(Ratio(1, 2) < 1);
}

TEST_CASE("ratio is in lowest terms with a positive denominator") {
  CHECK(Ratio(6, -4).str() == "-3/2");
  CHECK(Ratio(-6, -3).str() == "2");
  CHECK(Ratio(0, -5).str() == "0");
  CHECK(Ratio(0, -5).den() == 1);
  CHECK(Ratio(7, 2).str() == "7/2");
  CHECK(Ratio(8, 2).is_integer());
  CHECK_FALSE(Ratio(7, 2).is_integer());
  CHECK(Ratio(smallest(), smallest()) == 1);
  CHECK(Ratio(smallest(), 2).num() == exact_div(smallest(), 2));
  CHECK(text_or_overflow([] { return Ratio(smallest(), -1); }) == "overflow");
  CHECK(text_or_overflow([] { return Ratio(1, smallest()); }) == "overflow");
}

TEST_CASE("ratio refuses a zero denominator") {
  CHECK(error_of([] { Ratio(1, 0); }).kind == ErrorKind::internal);
  CHECK(error_of([] { Ratio(1, 2) / 0; }).message == "division of 1/2 by zero");
}

TEST_CASE("ratio floor, ceiling, absolute value, double") {
  CHECK(floor(Ratio(7, 2)) == 3);
  CHECK(floor(Ratio(-7, 2)) == -4);
  CHECK(ceil(Ratio(7, 2)) == 4);
  CHECK(ceil(Ratio(-7, 2)) == -3);
  CHECK(floor(Ratio(-4)) == -4);
  CHECK(ceil(Ratio(-4)) == -4);
  CHECK(abs(Ratio(-7, 2)) == Ratio(7, 2));
  CHECK(Ratio(-7, 2).to_double() == -3.5);
  CHECK(Ratio(largest()).to_double() == 0x1p127);
}

TEST_CASE("ratio sums overflow only if the result or the common denominator does") {
  const Int max = largest();
  CHECK(Ratio(max, 6) + Ratio(max, 6) == Ratio(max, 3));
  CHECK(Ratio(-max, 6) - Ratio(max, 6) == Ratio(-max, 3));
  CHECK(Ratio(-max, 3) + Ratio(1, 3) == Ratio(-max + 1, 3));
  CHECK(Ratio(smallest(), 3) + Ratio(1, 3) == Ratio(smallest() + 1, 3));
  CHECK(text_or_overflow([&] { return Ratio(max, 3) + Ratio(max, 2); }) == "overflow");
  CHECK(Ratio(max, 2) + Ratio(-max, 2) == 0);
  CHECK(Ratio(1, max) + Ratio(1, max) == Ratio(2, max));
  CHECK(Ratio(1, max) - Ratio(1, max) == 0);
  CHECK(Ratio(max, 3) * Ratio(3, max) == 1);
  CHECK(text_or_overflow([&] { return Ratio(max) + Ratio(1, 2); }) == "overflow");
  CHECK(text_or_overflow([&] { return Ratio(1, max) + Ratio(1, max - 1); }) == "overflow");
  CHECK(text_or_overflow([&] { return Ratio(-max, 2) - Ratio(1, 3); }) == "overflow");
}

TEST_CASE("ratio identities on random values") {
  std::mt19937_64 random(2);
  for (int i = 0; i < 2000; ++i) {
    const Ratio a = random_ratio(random, 1'000'000), b = random_ratio(random, 1'000'000);
    const Ratio c = random_ratio(random, 1'000'000);
    CHECK((a + b) + c == a + (b + c));
    CHECK((a * b) * c == a * (b * c));
    CHECK((a + b) - b == a);
    if (b != 0) CHECK((a * b) / b == a);
    if (b != 0) CHECK((a / b) * b == a);
    CHECK(a + b == b + a);
    CHECK(-(-a) == a);
    CHECK(gcd((a + b).num(), (a + b).den()) == 1);
    // Small enough to compare by cross multiplication, the independent definition of order.
    CHECK((a < b) == (a.num() * b.den() < b.num() * a.den()));
    CHECK(Ratio(floor(a)) <= a);
    CHECK(a < floor(a) + 1);
  }
}

}  // namespace isoloop
