//===- draw.h - Random numbers of a search ----------------------*- C -*-===//
//
// Each random number is a pure function of the search's seed and of what it is
// drawn for. So there is no generator whose state would have to be saved, and
// no number depends on how many have been drawn before it.
//
// Threads: all functions are pure.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_SEARCH_DRAW_H
#define HFTA_SRC_SEARCH_DRAW_H

#include <stdint.h>

/// The purpose that a number is drawn for. The values are part of the random
/// numbers' counters, and must stay as they are.
typedef enum hfta_draw_purpose {
  HFTA_DRAW_SETTING = 1,  ///< a setting of a random trial
  HFTA_DRAW_SOBOL = 2,    ///< a dimension's scrambling
  HFTA_DRAW_HALTON = 3,   ///< a dimension's permutations of digits
  HFTA_DRAW_KERNEL = 4,   ///< tpe: which kernel a candidate is drawn from
  HFTA_DRAW_QUANTILE = 5, ///< tpe: the candidate's place in the kernel
  HFTA_DRAW_DONOR = 6,    ///< population: which trial another one copies
  HFTA_DRAW_FACTOR = 7,   ///< population: how a setting is perturbed
  HFTA_DRAW_RESAMPLE = 8, ///< population: whether a setting is drawn anew
  HFTA_DRAW_ANEW = 9      ///< population: that setting's new value
} hfta_draw_purpose;

/// Draws 64 bits, by Philox4x32-10 with the seed as key.
uint64_t hfta_draw_bits(uint64_t seed, hfta_draw_purpose purpose, int64_t trial,
                        int64_t setting, int64_t index);

/// Draws a number from 0 (inclusive) to 1 (exclusive), a multiple of 2^-53.
double hfta_draw(uint64_t seed, hfta_draw_purpose purpose, int64_t trial,
                 int64_t setting, int64_t index);

/// Returns which of `count` equal parts of the range from 0 to 1 a number lies
/// in: 0 to count - 1.
int64_t hfta_part_of_fraction(double fraction, int64_t count);

#endif // HFTA_SRC_SEARCH_DRAW_H
