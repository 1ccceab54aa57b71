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

/// Computes Philox4x32-10, a counter-based random number generator (Salmon et
/// al., "Parallel random numbers: as easy as 1, 2, 3", 2011).
void hfta_philox4x32(const uint32_t counter[4], const uint32_t key[2],
                     uint32_t out[4]);

/// The order of one epoch: a permutation of [0, samples).
typedef struct hfta_order {
  uint64_t samples;
  uint64_t epoch;
  uint32_t key[2];
  uint32_t left_bits;  ///< the width of the Feistel network's left half
  uint32_t right_bits; ///< the width of its right half
  uint32_t shuffled;   ///< 0: the order of the file
} hfta_order;

/// Returns the order of an epoch, which is shuffled unless `shuffled` is 0.
hfta_order hfta_order_of_epoch(uint64_t samples, uint64_t epoch,
                               uint64_t order_seed, int shuffled);

/// Returns the sample at `position`, which is below `samples`.
uint64_t hfta_order_sample(const hfta_order *order, uint64_t position);

#endif // HFTA_SRC_DATA_SHUFFLE_H
