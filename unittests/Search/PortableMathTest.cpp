//===- PortableMathTest.cpp - Functions beside the C library's ------------===//

extern "C" {
#include "system/portable_math.h"
}

#include "gtest/gtest.h"

#include <cmath>
#include <limits>
#include <random>

namespace {

const double kInfinity = std::numeric_limits<double>::infinity();

/// Returns the error of a value in units in the last place of a double.
double errorOf(double value, long double expected) {
  int exponent;
  std::frexp(expected, &exponent);
  long double unit = std::ldexp(1.0L, std::max(exponent - 53, -1074));
  return double(std::fabs((long double)value - expected) / unit);
}

/// The largest error of a function over random arguments, and in how many
/// results the C library's function differs.
struct Errors {
  double largest = 0;
  int different = 0;

  void note(double value, long double expected, double library) {
    largest = std::max(largest, errorOf(value, expected));
    different += value != library;
  }
};

} // namespace

TEST(PortableMath, Logarithm) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> unit(0, 1);
  Errors errors;
  for (int i = 0; i < 300000; ++i) {
    double x = std::ldexp(1 + unit(random), int(unit(random) * 2098) - 1074);
    if (i % 3 == 1)
      x = 0.5 + unit(random);
    if (i % 3 == 2)
      x = 1 + (unit(random) - 0.5) * std::ldexp(1.0, -int(unit(random) * 50));
    errors.note(hfta_portable_log(x), std::log((long double)x), std::log(x));
  }
  EXPECT_LT(errors.largest, 1.0);
  RecordProperty("largest_error", std::to_string(errors.largest));
  EXPECT_LT(errors.different, 60000);
  EXPECT_EQ(hfta_portable_log(1), 0);
  EXPECT_EQ(hfta_portable_log(0), -kInfinity);
  EXPECT_EQ(hfta_portable_log(kInfinity), kInfinity);
  EXPECT_TRUE(std::isnan(hfta_portable_log(-1)));
  EXPECT_TRUE(std::isnan(hfta_portable_log(NAN)));
}

TEST(PortableMath, Exponential) {
  std::mt19937_64 random(2);
  std::uniform_real_distribution<double> unit(-1, 1);
  Errors errors, subnormal;
  for (int i = 0; i < 300000; ++i) {
    double x = unit(random) * (i % 3 == 0 ? 1 : i % 3 == 1 ? 30 : 708);
    errors.note(hfta_portable_exp(x), std::exp((long double)x), std::exp(x));
    x = -727 + 18 * unit(random);
    subnormal.note(hfta_portable_exp(x), std::exp((long double)x), std::exp(x));
  }
  EXPECT_LT(errors.largest, 1.0);
  EXPECT_LE(subnormal.largest, 1.0);
  RecordProperty("largest_error", std::to_string(errors.largest));
  EXPECT_LT(errors.different, 60000);
  EXPECT_EQ(hfta_portable_exp(0), 1);
  EXPECT_EQ(hfta_portable_exp(-kInfinity), 0);
  EXPECT_EQ(hfta_portable_exp(710), kInfinity);
  EXPECT_LT(hfta_portable_exp(709.7827128933840), kInfinity);
  EXPECT_EQ(hfta_portable_exp(-745.1), 4.9406564584124654e-324);
  EXPECT_EQ(hfta_portable_exp(-746), 0);
  EXPECT_TRUE(std::isnan(hfta_portable_exp(NAN)));
}

TEST(PortableMath, ErrorFunction) {
  Errors errors;
  for (double x = -7; x <= 7; x += 1.0 / 4096) {
    if (x == 0)
      continue;
    errors.note(hfta_portable_erf(x), std::erf((long double)x), std::erf(x));
    EXPECT_EQ(hfta_portable_erf(-x), -hfta_portable_erf(x));
  }
  EXPECT_LT(errors.largest, 16.0);
  EXPECT_EQ(hfta_portable_erf(0), 0);
  EXPECT_EQ(hfta_portable_erf(kInfinity), 1);
  EXPECT_TRUE(std::isnan(hfta_portable_erf(NAN)));
}

TEST(PortableMath, Power) {
  EXPECT_EQ(hfta_portable_power(0.5, 3), 0.125);
  EXPECT_EQ(hfta_portable_power(0, 0), 1);
  EXPECT_EQ(hfta_portable_power(0, 2), 0);
  EXPECT_EQ(hfta_portable_power(0, 100), 0);
  EXPECT_EQ(hfta_portable_power(0, 0.5), 0);
  EXPECT_EQ(hfta_portable_power(1, 1e9), 1);
  for (double x : {0.1, 0.5, 0.9999, 1.5})
    for (double n : {0.5, 1.0, 2.0, 7.0, 63.0, 64.0, 65.0, 1000.0})
      EXPECT_NEAR(hfta_portable_power(x, n), std::pow(x, n),
                  1e-13 * std::pow(x, n))
          << x << "^" << n;
}

TEST(PortableMath, Cosine) {
  double largest = 0;
  const long double pi = 3.14159265358979323846264338327950288L;
  for (double x = 0; x <= 1; x += 1.0 / 65536)
    largest = std::max(
        largest, double(std::fabs(hfta_portable_cos_pi(x) - std::cos(pi * x))));
  EXPECT_LT(largest, 0x1p-52);
  EXPECT_EQ(hfta_portable_cos_pi(0), 1);
  EXPECT_EQ(hfta_portable_cos_pi(0.5), 0);
  EXPECT_EQ(hfta_portable_cos_pi(1), -1);
}

// Settings of trials depend on these bits, so they must never change. Three of
// the five are rounded correctly, the others are the next double.
TEST(PortableMath, StaysAsItIs) {
  EXPECT_EQ(hfta_portable_log(0.01), -0x1.26bb1bbb55516p+2);
  EXPECT_EQ(hfta_portable_log(10), 0x1.26bb1bbb55516p+1);
  EXPECT_EQ(hfta_portable_exp(-7), 0x1.de16b9c24a98fp-11);
  EXPECT_EQ(hfta_portable_exp(0.3), 0x1.599058c8c1a96p+0);
  EXPECT_EQ(hfta_portable_erf(0.5), 0x1.0a7ef5c18edd3p-1);
}
