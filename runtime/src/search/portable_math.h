//===- portable_math.h - Functions with the same bits everywhere -*- C -*-===//
//
// Logarithm, exponential and error function of doubles. C libraries differ in
// the last bits of these, and a search's settings must be the same on every
// machine. They are computed with +, -, * and / only, each of which IEEE 754
// rounds in one way; the runtime is compiled without contraction to fused
// multiply-adds (-ffp-contract=off).
//
// Threads: all functions are pure.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_SEARCH_PORTABLE_MATH_H
#define HFTA_SRC_SEARCH_PORTABLE_MATH_H

/// Returns the natural logarithm, with an error below 1 unit in the last place:
/// -infinity for 0, NaN for less.
double hfta_portable_log(double x);

/// Returns e^x, with an error below 1 unit in the last place, or of 1 where the
/// result is subnormal.
double hfta_portable_exp(double x);

/// Returns the error function 2/sqrt(pi) * integral of exp(-t^2) from 0 to x,
/// with an error below 16 units in the last place.
double hfta_portable_erf(double x);

#endif // HFTA_SRC_SEARCH_PORTABLE_MATH_H
