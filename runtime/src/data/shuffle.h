//===- shuffle.h - Counter-based order of samples ---------------*- C -*-===//
//
// The order of an epoch is a pure function of (key, epoch, samples): nothing is
// stored, so that any position can be computed at any time, and a resumed
// training sees the same batches as an uninterrupted one.
//
// Threads: all functions are pure.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_DATA_SHUFFLE_H
#define HFTA_SRC_DATA_SHUFFLE_H

#include <stdint.h>

/// Computes Philox4x32 with 10 rounds (Salmon et al., 2011).
void hfta_philox4x32(const uint32_t counter[4], const uint32_t key[2],
                     uint32_t out[4]);

/// A permutation of [0, samples).
typedef struct hfta_order {
  uint64_t samples;
  uint64_t epoch;
  uint32_t key[2];
  uint32_t left_bits;
  uint32_t right_bits;
  uint32_t shuffled; ///< 0: the identity
} hfta_order;

hfta_order hfta_order_of_epoch(uint64_t samples, uint64_t epoch,
                               uint64_t order_seed, int shuffled);

/// Returns the sample at `position` < samples.
uint64_t hfta_order_sample(const hfta_order *order, uint64_t position);

#endif // HFTA_SRC_DATA_SHUFFLE_H
