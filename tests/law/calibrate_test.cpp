// The sigmoid from loss to benchmark.
//
// Source: y(l) = b + a / (1 + exp(-d alpha (l - tau))) written out. Holds src/law/calibrate.cpp.
#include "law/support.h"

namespace isoloop::law {

using enum WarningKind;
using test::error_of;
using test::text_of;

namespace {

double curve(double a, double b, double alpha, double tau, double d, double l) {
  return b + a / (1 + std::exp(-d * alpha * (l - tau)));
}

std::vector<Point> points(double a, double b, double alpha, double tau, double d,
                          double noise = 0) {
  test::Noise random(4);
  std::vector<Point> out;
  for (double l = 1.7; l < 3.4; l += 0.1)
    out.push_back({l, curve(a, b, alpha, tau, d, l) + noise * random.normal(), "p"});
  return out;
}

}  // namespace

TEST_CASE("exact points give the four parameters back, for scores and for losses") {
  for (const auto& [direction, d] :
       {std::pair(Direction::score, -1.0), std::pair(Direction::loss, 1.0)}) {
    const Calibration c = calibrate(points(0.6, 0.25, 5, 2.4, d), direction);
    CHECK(c.a == doctest::Approx(0.6).epsilon(1e-6));
    CHECK(c.b == doctest::Approx(0.25).epsilon(1e-6));
    CHECK(c.alpha == doctest::Approx(5).epsilon(1e-6));
    CHECK(c.tau == doctest::Approx(2.4).epsilon(1e-6));
    CHECK(c.rmse < 1e-8);
    CHECK(c.starts.reached >= 3);
    CHECK(c.warnings.empty());
    CHECK(value(c, 2.1) == doctest::Approx(curve(0.6, 0.25, 5, 2.4, d, 2.1)).epsilon(1e-6));
  }
}

TEST_CASE("units of loss and value do not matter") {
  std::vector<Point> scaled = points(0.6, 0.25, 5, 2.4, -1);
  for (Point& p : scaled) {
    p.loss *= 1e3;
    p.value *= 1e-4;
  }
  const Calibration c = calibrate(scaled, Direction::score);
  CHECK(c.a == doctest::Approx(0.6e-4).epsilon(1e-6));
  CHECK(c.alpha == doctest::Approx(5e-3).epsilon(1e-6));
  CHECK(c.tau == doctest::Approx(2400).epsilon(1e-6));
}

TEST_CASE("no small step improves a noisy fit") {
  const std::vector<Point> noisy = points(0.6, 0.25, 5, 2.4, -1, 0.01);
  const Calibration c = calibrate(noisy, Direction::score);
  const auto squares = [&](double a, double b, double alpha, double tau) {
    double sum = 0;
    for (const Point& p : noisy) {
      const double r = curve(a, b, alpha, tau, -1, p.loss) - p.value;
      sum += r * r;
    }
    return sum;
  };
  const double best = squares(c.a, c.b, c.alpha, c.tau);
  CHECK(c.rmse == doctest::Approx(std::sqrt(best / static_cast<double>(noisy.size()))));
  for (const double step : {1e-4, 1e-2}) {
    for (const double s : {1 - step, 1 + step}) {
      CHECK(squares(c.a * s, c.b, c.alpha, c.tau) >= best * (1 - 1e-12));
      CHECK(squares(c.a, c.b * s, c.alpha, c.tau) >= best * (1 - 1e-12));
      CHECK(squares(c.a, c.b, c.alpha * s, c.tau) >= best * (1 - 1e-12));
      CHECK(squares(c.a, c.b, c.alpha, c.tau * s) >= best * (1 - 1e-12));
    }
  }
}

TEST_CASE("a second architecture against the curve of the first") {
  const Calibration c = calibrate(points(0.6, 0.25, 5, 2.4, -1), Direction::score);
  std::vector<Point> others = points(0.6, 0.25, 5, 2.4, -1);
  for (Point& p : others) p.value += 0.02;
  CalibrationResiduals r = residuals(c, others);
  CHECK(r.mean == doctest::Approx(0.02).epsilon(1e-6));
  CHECK(r.rmse == doctest::Approx(0.02).epsilon(1e-6));
  CHECK(r.rows.size() == others.size());
  CHECK(r.rows[3].predicted == doctest::Approx(value(c, others[3].loss)));
  CHECK(r.warnings.empty());
  others[0].loss = 1.2;
  r = residuals(c, others);
  CHECK(r.rows[0].extrapolated);
  CHECK(text_of(r.warnings, extrapolated) ==
        "1 of 17 points have a loss outside the calibrated range 1.7 .. 3.3");
  CHECK(residuals(c, {}).rows.empty());
}

TEST_CASE("points without a plateau are used with a warning") {
  std::vector<Point> straight;
  for (double l = 2; l < 3; l += 0.1) straight.push_back({l, 1 - 0.2 * l, ""});
  const Calibration c = calibrate(straight, Direction::score);
  CHECK(text_of(c.warnings, ill_conditioned) ==
        "the points show no plateau: height, place and slope of the curve cannot be told apart; "
        "use it only between the points");
  CHECK(value(c, 2.55) == doctest::Approx(1 - 0.2 * 2.55).epsilon(1e-3));
}

TEST_CASE("bad points are refused") {
  std::vector<Point> few = {{2, 0.5, ""}, {2.1, 0.4, ""}, {2.1, 0.41, ""}, {2.3, 0.3, ""}};
  CHECK(error_of([&] { calibrate(few, Direction::score); }).message ==
        "4 points at 3 different losses; the curve has 4 parameters");
  few[1] = {std::nan(""), 0.4, "line 3"};
  CHECK(std::string(error_of([&] { calibrate(few, Direction::score); }).what()) ==
        "line 3: a point of the calibration is not finite");
  const Error wrong = error_of([] { calibrate(points(0.6, 0.25, 5, 2.4, 1), Direction::score); });
  CHECK(std::string(wrong.what()) ==
        "no falling curve fits: the values rise with the loss\n  hint: the direction may be the "
        "other one");
}

}  // namespace isoloop::law
