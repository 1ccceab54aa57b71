/* Compares the compiled f32 functions with the C library's functions of double,
 * for every STEP-th bit pattern of a float. Prints each function's largest
 * error in units in the last place (ulp) and its argument. The exit code is 1
 * if an error is above 4 ulp. */

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { COUNT = 65536, STEP = 251 };

/* The exponent of all powers (nearly 1/3), and the divisor of all remainders.
 * The divisor is so small that most quotients have more than 100 bits before
 * the point. */
#define THIRD 0x1.555556p-2f
#define TINY 0x1.4p-147f

static double sigmoid(double x) { return 1 / (1 + exp(-x)); }
static double rsqrt_of(double x) { return 1 / sqrt(x); }
static double root_of(double x) { return pow(x, THIRD); }
static double rest_of(double x) { return fmod(x, TINY); }

/* X(name, reference): each compiled function, and its reference. */
#define FUNCTIONS(X)                                                           \
  X(exp, exp)                                                                  \
  X(log, log)                                                                  \
  X(log1p, log1p)                                                              \
  X(tanh, tanh)                                                                \
  X(erf, erf)                                                                  \
  X(sigmoid, sigmoid)                                                          \
  X(rsqrt, rsqrt_of)                                                           \
  X(sqrt, sqrt)                                                                \
  X(sin, sin)                                                                  \
  X(cos, cos)                                                                  \
  X(asin, asin)                                                                \
  X(acos, acos)                                                                \
  X(atan, atan)                                                                \
  X(remainder, rest_of)                                                        \
  X(pow, root_of)

/* Declares a kernel's entry, which computes one item of the kernel's work from
 * the addresses of its operands, the item's number, and scratch memory. */
#define DECLARE(name, reference)                                               \
  extern void name##_entry(void *const *, int64_t,                             \
                           void *) __asm__("f_" #name "/entry");
FUNCTIONS(DECLARE)

static _Alignas(64) float input[COUNT], second[COUNT], output[COUNT];
static _Alignas(64) char scratch[1 << 20];

static float from_bits(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* Returns the error in ulp, that is, in units of the distance of neighbouring
 * floats around `wanted`. It is 0 for equal infinities and for two NaNs, and
 * infinite for a wrong sign, infinity or NaN. */
static double get_error(float got, double wanted) {
  if (isnan(wanted) || isnan(got))
    return isnan(wanted) && isnan(got) ? 0 : INFINITY;
  float nearest = (float)wanted;
  if (signbit(nearest) != signbit(got))
    return INFINITY;
  if (isinf(nearest) || isinf(got))
    return nearest == got ? 0 : INFINITY;
  int exponent;
  frexp(wanted, &exponent);
  if (exponent < -125)
    exponent = -125;
  return fabs((double)got - wanted) / ldexp(1, exponent - 24);
}

/* Checks one function, of `items` items. Returns 1 if an error is too large. */
static int check(const char *name,
                 void (*entry)(void *const *, int64_t, void *), int64_t items,
                 double (*reference)(double)) {
  double worst = 0;
  float where = 0;
  uint64_t bits = 0;
  bool is_power = reference == root_of, is_rest = reference == rest_of;
  void *one[] = {input, output}, *two[] = {input, second, output};
  for (int i = 0; i < COUNT; ++i)
    second[i] = is_rest ? TINY : THIRD;
  while (bits < (uint64_t)1 << 32) {
    for (int i = 0; i < COUNT; ++i, bits += STEP)
      input[i] = from_bits((uint32_t)bits);
    for (int64_t item = 0; item < items; ++item)
      entry(is_power || is_rest ? two : one, item, scratch);
    for (int i = 0; i < COUNT; ++i) {
      double error = get_error(output[i], reference(input[i]));
      if (error > worst) {
        worst = error;
        where = input[i];
      }
    }
  }
  printf("%s: %.2f ulp at %a\n", name, worst, where);
  return worst > 4;
}

int main(void) {
  int failed = 0;
#define CHECK(name, reference)                                                 \
  failed |= check(#name, name##_entry, ITEMS_##name, reference);
  FUNCTIONS(CHECK)
  return failed;
}
