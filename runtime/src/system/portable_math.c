//===- portable_math.c - Functions with the same bits everywhere ----------===//
//
// Arguments are reduced as in fdlibm (Sun Microsystems, 1993): the largest term
// of a result is exact or in two parts, and only corrections are rounded. The
// coefficients are those of power series, since the reduced arguments are short
// enough for few terms.
//===----------------------------------------------------------------------===//

#include "system/portable_math.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/// ln 2 in two parts. The first one ends with zero bits, such that its product
/// with any exponent is exact.
static const double LN2_HIGH = 0x1.62e42feep-1;
static const double LN2_LOW = 0x1.a39ef35793c76p-33;

enum { MANTISSA_BITS = 52, EXPONENT_BIAS = 1023, EXPONENT_MASK = 0x7ff };

static uint64_t bits_of(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof(bits));
  return bits;
}

static double double_of(uint64_t bits) {
  double x;
  memcpy(&x, &bits, sizeof(x));
  return x;
}

/// Returns 2^n, for which n must be the exponent of a normal number.
static double power_of_two(int n) {
  return double_of((uint64_t)(n + EXPONENT_BIAS) << MANTISSA_BITS);
}

/// Returns the sum of coefficients[i] * x^i.
static double polynomial(const double *coefficients, int count, double x) {
  double sum = coefficients[count - 1];
  for (int i = count - 2; i >= 0; --i)
    sum = sum * x + coefficients[i];
  return sum;
}

/// Computes x = 2^n (1 + f) with sqrt(1/2) <= 1 + f < sqrt(2), and with s = f /
/// (2 + f) log(1 + f) = 2 atanh(s) = f - (f^2/2 - s (f^2/2 + R)), where R is
/// the rest of atanh's series.
double hfta_portable_log(double x) {
  static const double series[] = {2.0 / 3,  2.0 / 5,  2.0 / 7,  2.0 / 9,
                                  2.0 / 11, 2.0 / 13, 2.0 / 15, 2.0 / 17,
                                  2.0 / 19, 2.0 / 21, 2.0 / 23};
  if (!(x > 0.0))
    return x == 0.0 ? -INFINITY : NAN;
  if (x > 0x1.fffffffffffffp+1023)
    return x;
  int n = 0;
  if (x < 0x1p-1022) {
    x *= 0x1p+54;
    n = -54;
  }
  uint64_t bits = bits_of(x);
  n += (int)(bits >> MANTISSA_BITS) - EXPONENT_BIAS;
  double mantissa = double_of((bits & (((uint64_t)1 << MANTISSA_BITS) - 1)) |
                              ((uint64_t)EXPONENT_BIAS << MANTISSA_BITS));
  if (mantissa > 0x1.6a09e667f3bcdp+0) {
    mantissa *= 0.5;
    ++n;
  }
  double f = mantissa - 1.0;
  double s = f / (2.0 + f), square = s * s, half = 0.5 * f * f;
  double rest = square * polynomial(series, 11, square);
  return n * LN2_HIGH - ((half - (s * (half + rest) + n * LN2_LOW)) - f);
}

/// Computes e^x = 2^n e^r with |r| <= ln 2 / 2, where r is in two parts, and
/// e^r = 1 + r + r c / (2 - c) with c = r - r^2/6 + r^4/360 - ..., which is the
/// series of 2 - (r coth(r/2) - r), with Bernoulli's numbers.
double hfta_portable_exp(double x) {
  static const double series[] = {1.0 / 6,          -1.0 / 360,
                                  1.0 / 15120,      -1.0 / 604800,
                                  1.0 / 23950080.0, -691.0 / 653837184000.0};
  if (x != x)
    return x;
  if (x > 709.782712893384)
    return INFINITY;
  if (x < -745.1332191019412)
    return 0.0;
  int n = (int)(x * 0x1.71547652b82fep+0 + (x < 0.0 ? -0.5 : 0.5));
  double high = x - n * LN2_HIGH, low = n * LN2_LOW;
  double r = high - low, square = r * r;
  double c = r - square * polynomial(series, 6, square);
  double result = 1.0 - ((low - r * c / (2.0 - c)) - high);
  if (n < -1021)
    return result * power_of_two(n + 54) * 0x1p-54;
  if (n > 1023)
    return result * 2.0 * power_of_two(n - 1);
  return result * power_of_two(n);
}

/// Returns 1 - erf(x) for x >= 2, by Laplace's continued fraction e^(-x^2) /
/// sqrt(pi) / (x + 1/2 / (x + 2/2 / (x + 3/2 / ...))).
static double erf_complement(double x) {
  enum { TERMS = 64 };
  static const double one_by_root_of_pi = 0x1.20dd750429b6dp-1;
  double fraction = x;
  for (int i = TERMS; i > 0; --i)
    fraction = x + 0.5 * i / fraction;
  return one_by_root_of_pi * hfta_portable_exp(-x * x) / fraction;
}

/// Sums 2/sqrt(pi) e^(-x^2) (x + 2/3 x^3 + 4/15 x^5 + ...), all of whose terms
/// have the same sign, if x is small.
double hfta_portable_erf(double x) {
  static const double two_by_root_of_pi = 0x1.20dd750429b6dp+0;
  double size = fabs(x);
  if (!(size < 6.0))
    return x != x ? x : x < 0.0 ? -1.0 : 1.0;
  if (size >= 2.0)
    return x < 0.0 ? erf_complement(size) - 1.0 : 1.0 - erf_complement(size);
  double square = x * x, term = 1.0, sum = 0.0;
  for (int i = 1; term > 0x1p-56 * sum; ++i) {
    sum += term;
    term *= square / (i + 0.5);
  }
  return two_by_root_of_pi * hfta_portable_exp(-square) * sum * x;
}

double hfta_portable_power(double x, double n) {
  enum { MOST_MULTIPLIED = 64 };
  if (n < 0.0 || n > MOST_MULTIPLIED || n != (double)(int)n)
    return x > 0.0 ? hfta_portable_exp(n * hfta_portable_log(x)) : 0.0;
  double result = 1.0, square = x;
  for (int left = (int)n; left > 0; left /= 2) {
    if (left % 2)
      result *= square;
    square *= square;
  }
  return result;
}

/// Returns the sum of (-square)^i / (first (first + 1) ... (first + 2 i - 1)),
/// that is the cosine's series for `first` 1, and for 2 the sine's without its
/// factor.
static double alternating_series(double square, int first) {
  enum { TERMS = 10 };
  double sum = 1.0;
  for (int i = TERMS; i > 0; --i)
    sum = 1.0 - sum * square / ((first + 2 * i - 2) * (first + 2 * i - 1));
  return sum;
}

/// Reduces the angle to at most pi / 4, where the series converge fast.
double hfta_portable_cos_pi(double x) {
  const double pi = 3.14159265358979323846;
  if (x > 0.75)
    return -hfta_portable_cos_pi(1.0 - x);
  double angle = pi * (x < 0.25 ? x : 0.5 - x);
  return x < 0.25 ? alternating_series(angle * angle, 1)
                  : angle * alternating_series(angle * angle, 2);
}
