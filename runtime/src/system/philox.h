//===- philox.h - A counter-based random number generator -------*- C -*-===//
//
// Threads: the function is pure.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_SYSTEM_PHILOX_H
#define HFTA_SRC_SYSTEM_PHILOX_H

#include <stdint.h>

/// Computes Philox4x32-10, a counter-based random number generator (Salmon et
/// al., "Parallel random numbers: as easy as 1, 2, 3", 2011).
void hfta_philox4x32(const uint32_t counter[4], const uint32_t key[2],
                     uint32_t out[4]);

#endif // HFTA_SRC_SYSTEM_PHILOX_H
