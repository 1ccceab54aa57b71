//===- shuffle.c - Counter-based order of samples -------------------------===//
//
// The permutation is a Feistel network over the smallest power of two, at least
// 4, that holds all samples, with Philox as round function. A result outside
// [0, samples) is permuted again until it is in the range ("cycle walking";
// fewer than two passes on average).
//===----------------------------------------------------------------------===//

#include "data/shuffle.h"

#include "system/philox.h"

/// The number of rounds of the Feistel network.
enum { ROUNDS = 8 };

hfta_order hfta_order_of_epoch(uint64_t samples, uint64_t epoch,
                               uint64_t order_seed, int shuffled) {
  uint32_t bits = 2;
  while (bits < 63 && ((uint64_t)1 << bits) < samples)
    ++bits;
  hfta_order order = {
      .samples = samples,
      .epoch = epoch,
      .key = {(uint32_t)order_seed, (uint32_t)(order_seed >> 32)},
      .left_bits = bits / 2,
      .right_bits = bits - bits / 2,
      .shuffled = shuffled != 0};
  return order;
}

hfta_order hfta_order_of_division(uint64_t samples, uint64_t seed) {
  hfta_order order = hfta_order_of_epoch(samples, 0, seed, 1);
  order.first_round = ROUNDS;
  return order;
}

/// Applies the Feistel network: a permutation of [0, 2^(left_bits +
/// right_bits)).
static uint64_t permute(const hfta_order *order, uint64_t value) {
  uint32_t left_bits = order->left_bits, right_bits = order->right_bits;
  uint64_t left = value >> right_bits;
  uint64_t right = value & (((uint64_t)1 << right_bits) - 1);
  for (uint32_t i = 0; i < ROUNDS; ++i) {
    // The halves swap roles in each round. If their widths differ, these are
    // swapped too.
    uint32_t round = order->first_round + i;
    uint32_t counter[4] = {(uint32_t)right, round, (uint32_t)order->epoch,
                           (uint32_t)(order->epoch >> 32)};
    uint32_t random[4];
    hfta_philox4x32(counter, order->key, random);
    uint64_t mixed = (left ^ random[0]) & (((uint64_t)1 << left_bits) - 1);
    left = right;
    right = mixed;
    uint32_t bits = left_bits;
    left_bits = right_bits;
    right_bits = bits;
  }
  return left << right_bits | right;
}

uint64_t hfta_order_sample(const hfta_order *order, uint64_t position) {
  if (!order->shuffled || order->samples < 2)
    return position;
  uint64_t value = position;
  do
    value = permute(order, value);
  while (value >= order->samples);
  return value;
}
