//===- shuffle.c - Counter-based order of samples -------------------------===//
//
// The permutation is a Feistel network over the smallest power of two, at least
// 4, that holds all samples, with Philox as round function. A result outside
// [0, samples) is permuted again until it is in the range ("cycle walking";
// fewer than two passes on average).
//===----------------------------------------------------------------------===//

#include "data/shuffle.h"

static void philox_round(uint32_t counter[4], const uint32_t key[2]) {
  uint64_t product0 = (uint64_t)0xD2511F53u * counter[0];
  uint64_t product1 = (uint64_t)0xCD9E8D57u * counter[2];
  uint32_t next0 = (uint32_t)(product1 >> 32) ^ counter[1] ^ key[0];
  uint32_t next2 = (uint32_t)(product0 >> 32) ^ counter[3] ^ key[1];
  counter[0] = next0;
  counter[1] = (uint32_t)product1;
  counter[2] = next2;
  counter[3] = (uint32_t)product0;
}

void hfta_philox4x32(const uint32_t counter[4], const uint32_t key[2],
                     uint32_t out[4]) {
  uint32_t round_key[2] = {key[0], key[1]};
  for (int i = 0; i < 4; ++i)
    out[i] = counter[i];
  for (int round = 0; round < 10; ++round) {
    philox_round(out, round_key);
    round_key[0] += 0x9E3779B9u;
    round_key[1] += 0xBB67AE85u;
  }
}

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

/// Applies the Feistel network: a permutation of [0, 2^(left_bits +
/// right_bits)).
static uint64_t permute(const hfta_order *order, uint64_t value) {
  enum { ROUNDS = 8 };
  uint32_t left_bits = order->left_bits, right_bits = order->right_bits;
  uint64_t left = value >> right_bits;
  uint64_t right = value & (((uint64_t)1 << right_bits) - 1);
  for (uint32_t round = 0; round < ROUNDS; ++round) {
    // The halves swap roles in each round. If their widths differ, these are
    // swapped too.
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
