//===- sobol.h - Sobol's sequence, scrambled --------------------*- C -*-===//
//
// Points that fill a space more evenly than random ones. The first 2^m points
// are balanced: in each dimension, each of 2^m equal parts of the range has one
// of them. Owen's scrambling keeps this and makes the points random.
//
// Threads: all functions are pure.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_SEARCH_SOBOL_H
#define HFTA_SRC_SEARCH_SOBOL_H

#include <stdint.h>

/// The number of dimensions that there are direction numbers for. Halton's
/// sequence has this limit too: its points are far from even long before.
enum { HFTA_MOST_DIMENSIONS = 128 };

/// Returns a coordinate of a point, in units of 2^-32. Points are counted from
/// 0, in the order of Gray's code, as by SciPy, and dimensions from 0.
uint32_t hfta_sobol(uint32_t point, int64_t dimension);

/// Returns a coordinate of a point between 0 and 1, both exclusive, scrambled
/// for a seed. The scrambling is by hash: Burley, "Practical hash-based Owen
/// scrambling", JCGT 9(4), 2020.
double hfta_sobol_scrambled(uint64_t seed, uint32_t point, int64_t dimension);

#endif // HFTA_SRC_SEARCH_SOBOL_H
