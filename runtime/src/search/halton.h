//===- halton.h - Halton's sequence, scrambled ------------------*- C -*-===//
//
// In dimension d, a point's number is written in the d-th prime base, and its
// digits behind the point in reverse. Scrambling permutes the digits at random,
// each place by a permutation of its own (Owen, "A randomized Halton algorithm
// in R", 2017). Any number of points is about as even as any other.
//
// Threads: all functions are pure.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_SEARCH_HALTON_H
#define HFTA_SRC_SEARCH_HALTON_H

#include <stdint.h>

/// Returns a coordinate of a point, from 0 (inclusive) to 1 (exclusive). Points
/// and dimensions are counted from 0; there are HFTA_MOST_DIMENSIONS.
double hfta_halton(uint32_t point, int64_t dimension);

/// Returns a coordinate of a point, scrambled for a seed.
double hfta_halton_scrambled(uint64_t seed, uint32_t point, int64_t dimension);

#endif // HFTA_SRC_SEARCH_HALTON_H
