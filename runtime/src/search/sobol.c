//===- sobol.c - Sobol's sequence, scrambled ------------------------------===//

#include "search/sobol.h"

#include "search/draw.h"
#include "search/joe_kuo.h"

_Static_assert(HFTA_MOST_DIMENSIONS == HFTA_JOE_KUO_ROWS + 1,
               "direction numbers for each dimension but the first");

enum { BITS = 32 };

/// Computes the numbers m1, m2, ... of a dimension. Bit j of m(i) counts 2^(j -
/// i), from the i-th digit of a coordinate on.
static void find_numbers(int64_t dimension, uint32_t numbers[BITS]) {
  if (dimension == 0) {
    for (int i = 0; i < BITS; ++i)
      numbers[i] = 1;
    return;
  }
  const uint16_t *row = hfta_joe_kuo[dimension - 1];
  int degree = 0;
  while (row[0] >> (degree + 1))
    ++degree;
  for (int i = 0; i < BITS; ++i) {
    if (i < degree) {
      numbers[i] = row[i + 1];
      continue;
    }
    numbers[i] = numbers[i - degree];
    for (int j = 1; j <= degree; ++j)
      if (row[0] >> (degree - j) & 1)
        numbers[i] ^= numbers[i - j] << j;
  }
}

uint32_t hfta_sobol(uint32_t point, int64_t dimension) {
  uint32_t numbers[BITS], out = 0;
  find_numbers(dimension, numbers);
  uint32_t code = point ^ (point >> 1);
  for (int i = 0; i < BITS; ++i)
    if (code >> i & 1)
      out ^= numbers[i] << (BITS - 1 - i);
  return out;
}

static uint32_t reverse_bits(uint32_t x) {
  uint32_t out = 0;
  for (int i = 0; i < BITS; ++i)
    out |= (x >> i & 1) << (BITS - 1 - i);
  return out;
}

/// Permutes the numbers of 32 bits such that each bit of the result depends on
/// the same bit and lower ones only (the permutation of Laine and Karras, with
/// Burley's constants). On reversed bits, this is Owen's scrambling.
static uint32_t permute(uint32_t x, uint32_t seed) {
  x += seed;
  x ^= x * 0x6c50b47cu;
  x ^= x * 0xb82f1e52u;
  x ^= x * 0xc7afe638u;
  x ^= x * 0x8d22f6e6u;
  return x;
}

double hfta_sobol_scrambled(uint64_t seed, uint32_t point, int64_t dimension) {
  uint32_t hash =
      (uint32_t)hfta_draw_bits(seed, HFTA_DRAW_SOBOL, 0, dimension, 0);
  uint32_t x = reverse_bits(hfta_sobol(point, dimension));
  return (reverse_bits(permute(x, hash)) + 0.5) * 0x1p-32;
}
