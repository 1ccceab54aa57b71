//===- halton.c - Halton's sequence, scrambled ----------------------------===//

#include "search/halton.h"

#include "search/draw.h"

#include <stdbool.h>

enum {
  LARGEST_BASE = 719, ///< the 128th prime
  MOST_DIGITS = 53    ///< all digits of a double, in base 2
};

/// Returns the prime of a dimension.
static int64_t base_of(int64_t dimension) {
  int64_t prime = 2;
  for (int64_t found = 0;; ++prime) {
    bool is_prime = true;
    for (int64_t i = 2; i * i <= prime && is_prime; ++i)
      is_prime = prime % i != 0;
    if (is_prime && found++ == dimension)
      return prime;
  }
}

/// Returns the coordinate with these digits behind the point, the first one
/// first.
static double value_of(int64_t base, const int64_t *digits, int count) {
  double value = 0.0;
  while (count > 0)
    value = (value + (double)digits[--count]) / (double)base;
  return value < 1.0 ? value : 1.0 - 0x1p-53;
}

/// Writes a point's digits, the last one of its number first, and then zeros:
/// as many that a double can't tell more apart. Returns how many.
static int find_digits(uint32_t point, int64_t base, int64_t *digits) {
  int count = 0;
  double fraction = 1.0;
  for (; fraction > 0x1p-53 && count < MOST_DIGITS; ++count) {
    digits[count] = point % base;
    point = (uint32_t)(point / base);
    fraction /= (double)base;
  }
  return count;
}

double hfta_halton(uint32_t point, int64_t dimension) {
  int64_t digits[MOST_DIGITS], base = base_of(dimension);
  int count = find_digits(point, base, digits);
  return value_of(base, digits, count);
}

/// Returns the image of a digit in the random permutation of a place, which is
/// made by Durstenfeld's shuffle.
static int64_t permute(uint64_t seed, int64_t dimension, int place,
                       int64_t base, int64_t digit) {
  int64_t images[LARGEST_BASE];
  for (int64_t i = 0; i < base; ++i) {
    double fraction = hfta_draw(seed, HFTA_DRAW_HALTON, place, dimension, i);
    int64_t other = hfta_part_of_fraction(fraction, i + 1);
    if (other != i)
      images[i] = images[other];
    images[other] = i;
  }
  return images[digit];
}

double hfta_halton_scrambled(uint64_t seed, uint32_t point, int64_t dimension) {
  int64_t digits[MOST_DIGITS], base = base_of(dimension);
  int count = find_digits(point, base, digits);
  for (int i = 0; i < count; ++i)
    digits[i] = permute(seed, dimension, i, base, digits[i]);
  return value_of(base, digits, count);
}
