//===- shuffle.h - Counter-based order of samples ---------------*- C -*-===//
//
// The order of an epoch's samples is a pure function of seed, epoch and number
// of samples. Nothing is stored: any position can be computed at any time, and
// a resumed training gets the batches of an uninterrupted one.
//
// Threads: all functions are pure.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_DATA_SHUFFLE_H
#define HFTA_SRC_DATA_SHUFFLE_H

#include <stdint.h>

/// An order of samples: a permutation of [0, samples).
typedef struct hfta_order {
  uint64_t samples;
  uint64_t epoch;
  uint32_t key[2];
  uint32_t left_bits;   ///< the width of the Feistel network's left half
  uint32_t right_bits;  ///< the width of its right half
  uint32_t first_round; ///< the number of its first round, which separates
                        ///< orders of different purposes
  uint32_t shuffled;    ///< 0: the order of the file
} hfta_order;

/// Returns the order of an epoch, which is shuffled unless `shuffled` is 0.
hfta_order hfta_order_of_epoch(uint64_t samples, uint64_t epoch,
                               uint64_t order_seed, int shuffled);

/// Returns the order by which samples are chosen for validation. It draws other
/// random numbers than every epoch's order, whatever the seeds: epochs have
/// Feistel rounds 0 to 7, and this order has the rounds from 8 on, while the
/// numbers of a round depend on its own.
hfta_order hfta_order_of_division(uint64_t samples, uint64_t seed);

/// Returns the sample at `position`, which is below `samples`.
uint64_t hfta_order_sample(const hfta_order *order, uint64_t position);

#endif // HFTA_SRC_DATA_SHUFFLE_H
