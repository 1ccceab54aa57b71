/* Compares the lowered functions of f64 with the C library's in long double:
 * where functions change most, and over all patterns of bits. Prints each
 * function's largest error in units in the last place and where it is, and the
 * special values for which C's double functions give something else; exits with
 * 1 if there is such a value, or an error is above 2. */

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

_Static_assert(sizeof(long double) > sizeof(double), "for a reference");

enum { COUNT = 65536, ROUNDS = 24 };

/* The range from which half of the arguments are drawn. */
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

static uint64_t next_bits(void) {
  static uint64_t state = 1;
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state * 0x2545f4914f6cdd1du;
}

static double any_number(void) {
  uint64_t bits = next_bits();
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static double between(double low, double high) {
  return low + (high - low) * ((double)(next_bits() >> 11) * 0x1p-53);
}

/* Returns the error in units of the spacing of doubles around `wanted`. */
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

static double pick(int i, double low, double high) {
  static const double special[] = {
      0.0,  -0.0,   INFINITY, -INFINITY, NAN,      1.0,
      -1.0, 5e-324, -0.5,     0x1p-1022, 0x1p1023, 0x1.fffffffffffffp1023};
  if (i < (int)(sizeof special / sizeof *special))
    return special[i];
  /* Sines and cosines are nearly 0 there. */
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

/* Bases of all sizes, with exponents that give all kinds of powers. */
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

/* Remainders are exact, so they must have C's bits, unless they are NaN. */
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
        /* Quotients that are integers, or next to one. */
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
