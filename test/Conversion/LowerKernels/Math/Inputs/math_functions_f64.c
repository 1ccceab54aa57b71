/* Compares the compiled f64 functions with the C library's functions of long
 * double. Arguments are drawn from the range in which a function changes most,
 * and from all bit patterns. Prints each function's largest error in units in
 * the last place (ulp) and its argument. For powers of special values, and for
 * remainders, also prints where the result isn't that of C's functions of
 * double. The exit code is 1 if there is such a result, or an error is above 2
 * ulp. */

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

_Static_assert(sizeof(long double) > sizeof(double), "for a reference");

enum { COUNT = 65536, ROUNDS = 24 };

/* X(name, low, high): each function, and the range from which half of its
 * arguments are drawn. */
#define FUNCTIONS(X)                                                           \
  X(exp, -746, 711)                                                            \
  X(log, 0.25, 4)                                                              \
  X(log1p, -1, 2)                                                              \
  X(tanh, -20, 20)                                                             \
  X(erf, -6, 6)                                                                \
  X(sin, -200, 200)                                                            \
  X(cos, -200, 200)                                                            \
  X(asin, -1, 1)                                                               \
  X(acos, -1, 1)                                                               \
  X(atan, -4, 4)

/* Declares a kernel's entry, which computes one item of the kernel's work from
 * the addresses of its operands, the item's number, and scratch memory. */
#define DECLARE(name)                                                          \
  extern void name##_entry(void *const *, int64_t,                             \
                           void *) __asm__("f_" #name "/entry");
#define DECLARE_ONE(name, low, high) DECLARE(name)
FUNCTIONS(DECLARE_ONE)
DECLARE(remainder)
DECLARE(pow)

typedef void entry_function(void *const *, int64_t, void *);

static _Alignas(64) double input[COUNT], exponent[COUNT], output[COUNT];
static _Alignas(64) char scratch[1 << 20];

/* Returns pseudorandom bits (xorshift64*). */
static uint64_t next_bits(void) {
  static uint64_t state = 1;
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state * 0x2545f4914f6cdd1du;
}

/* Returns a number with random bits, which may be infinite or a NaN. */
static double any_number(void) {
  uint64_t bits = next_bits();
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static double between(double low, double high) {
  return low + (high - low) * ((double)(next_bits() >> 11) * 0x1p-53);
}

/* Returns the error in ulp, that is, in units of the distance of neighbouring
 * doubles around `wanted`. It is 0 for equal infinities and for two NaNs, and
 * infinite for a wrong sign, infinity or NaN. */
static double get_error(double got, long double wanted) {
  if (isnan(wanted) || isnan(got))
    return isnan(wanted) && isnan(got) ? 0 : INFINITY;
  double nearest = (double)wanted;
  if (isinf(nearest) || isinf(got))
    return nearest == got ? 0 : INFINITY;
  if (signbit(nearest) != signbit(got))
    return INFINITY;
  int power;
  frexpl(wanted, &power);
  if (power < -1021)
    power = -1021;
  return (double)(fabsl(got - wanted) / ldexpl(1, power - 53));
}

typedef struct worst_case {
  double error, argument, exponent;
} worst_case;

static void note(worst_case *worst, int i, long double wanted) {
  double error = get_error(output[i], wanted);
  if (error > worst->error)
    *worst = (worst_case){error, input[i], exponent[i]};
}

static void compute(entry_function *entry, int64_t items, int has_exponent) {
  void *one[] = {input, output}, *two[] = {input, exponent, output};
  for (int64_t item = 0; item < items; ++item)
    entry(has_exponent ? two : one, item, scratch);
}

/* Returns argument number `i` of a round: first the special values, then
 * numbers from the range, multiples of pi/2, and any numbers. */
static double pick(int i, double low, double high) {
  static const double special[] = {
      0.0,  -0.0,   INFINITY, -INFINITY, NAN,      1.0,
      -1.0, 5e-324, -0.5,     0x1p-1022, 0x1p1023, 0x1.fffffffffffffp1023};
  if (i < (int)(sizeof special / sizeof *special))
    return special[i];
  /* At multiples of pi/2, the sine or the cosine is nearly 0. */
  if (i % 8 == 1)
    return (double)((int64_t)(next_bits() % 2000001) - 1000000) *
           1.5707963267948966;
  return i % 2 ? any_number() : between(low, high);
}

static int check(const char *name, entry_function *entry, int64_t items,
                 long double (*reference)(long double), double low,
                 double high) {
  worst_case worst = {0, 0, 0};
  for (int round = 0; round < ROUNDS; ++round) {
    for (int i = 0; i < COUNT; ++i)
      input[i] = pick(i, low, high);
    compute(entry, items, 0);
    for (int i = 0; i < COUNT; ++i)
      note(&worst, i, reference(input[i]));
  }
  printf("%s: %.2f ulp at %a\n", name, worst.error, worst.argument);
  return !(worst.error <= 2);
}

/* Sets a base and an exponent: a base from 0.5 to 2 with an exponent up to
 * 1100; any positive base with an exponent for which the power lies between
 * underflow and overflow; a base of either sign with an integer exponent; or a
 * base very close to 1 with an exponent up to 1e9. */
static void pick_power(int i) {
  switch (i % 4) {
  case 0:
    input[i] = between(0.5, 2);
    exponent[i] = between(-1100, 1100);
    break;
  case 1:
    input[i] = fabs(any_number());
    exponent[i] = between(-746, 711) / log(input[i]);
    break;
  case 2:
    input[i] = between(-40, 40);
    exponent[i] = (double)((int64_t)(next_bits() % 400) - 200);
    break;
  default:
    input[i] = 1 + between(-1e-6, 1e-6);
    exponent[i] = between(-1e9, 1e9);
    break;
  }
}

/* Checks remainders. They are exact, so their bits must be those of C's fmod;
 * only NaNs may have other bits. Divisors are in `exponent`. */
static int check_remainder(int64_t items) {
  static const double special[] = {
      0.0,  -0.0,   INFINITY, -INFINITY, NAN,      1.0,
      -3.0, 5e-324, -0.5,     0x1p-1022, 0x1p1023, 0x1.fffffffffffffp1023};
  enum { VALUES = sizeof special / sizeof *special };
  int wrong = 0;
  for (int round = 0; round < ROUNDS; ++round) {
    for (int i = 0; i < COUNT; ++i) {
      int is_any = i % 2;
      input[i] = is_any ? any_number() : between(-100, 100);
      exponent[i] = is_any ? any_number() : between(-3, 3);
      if (i < VALUES * VALUES) {
        input[i] = special[i % VALUES];
        exponent[i] = special[i / VALUES];
      } else if (i % 8 == 2) {
        /* The quotient is an integer or very close to one. */
        input[i] = exponent[i] * (double)(next_bits() % 1000);
      }
    }
    compute(remainder_entry, items, 1);
    for (int i = 0; i < COUNT; ++i) {
      double wanted = fmod(input[i], exponent[i]);
      int is_right = isnan(wanted)
                         ? isnan(output[i])
                         : memcmp(&wanted, &output[i], sizeof wanted) == 0;
      if (!is_right && wrong++ < 10)
        printf("remainder(%a, %a): got %a, expected %a\n", input[i],
               exponent[i], output[i], wanted);
    }
  }
  return wrong > 0;
}

static int check_power(int64_t items) {
  worst_case worst = {0, 0, 0};
  for (int round = 0; round < ROUNDS; ++round) {
    for (int i = 0; i < COUNT; ++i)
      pick_power(i);
    compute(pow_entry, items, 1);
    for (int i = 0; i < COUNT; ++i)
      note(&worst, i, powl(input[i], exponent[i]));
  }
  printf("pow: %.2f ulp at %a, %a\n", worst.error, worst.argument,
         worst.exponent);
  return !(worst.error <= 2);
}

static int check_special_powers(int64_t items) {
  static const double values[] = {
      0.0,      -0.0,   1.0,    -1.0,       0.5,      -0.5,      2.0,
      -2.0,     3.0,    -3.0,   2.5,        INFINITY, -INFINITY, NAN,
      1e19,     -1e19,  5e-324, -5e-324,    1e30,     0.1,       1.5e300,
      -1.5e300, 1e-300, 0x1p53, 0x1p53 - 1, 0x1p-1074};
  enum { VALUES = sizeof values / sizeof *values };
  int wrong = 0;
  for (int i = 0; i < COUNT; ++i) {
    input[i] = values[i % VALUES];
    exponent[i] = values[i / VALUES % VALUES];
  }
  compute(pow_entry, items, 1);
  for (int i = 0; i < VALUES * VALUES; ++i) {
    double wanted = pow(input[i], exponent[i]);
    if (get_error(output[i], wanted) > 2) {
      printf("pow(%a, %a): got %a, expected %a\n", input[i], exponent[i],
             output[i], wanted);
      wrong = 1;
    }
  }
  return wrong;
}

int main(void) {
  int failed = 0;
#define CHECK(name, low, high)                                                 \
  failed |= check(#name, name##_entry, ITEMS_##name, name##l, low, high);
  FUNCTIONS(CHECK)
  failed |= check_remainder(ITEMS_remainder);
  failed |= check_power(ITEMS_pow);
  failed |= check_special_powers(ITEMS_pow);
  return failed;
}
