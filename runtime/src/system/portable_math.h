//===- portable_math.h - Functions with the same bits everywhere -*- C -*-===//
//
// Functions of doubles, in whose last bits C libraries differ. A search's
// settings, and the numbers of schedules, must be the same on every machine.
// They are computed with +, -, * and / only, each of which IEEE 754 rounds in
// one way; the runtime is compiled without contraction to fused multiply-adds
// (-ffp-contract=off).
//
// Threads: all functions are pure.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_SYSTEM_PORTABLE_MATH_H
#define HFTA_SRC_SYSTEM_PORTABLE_MATH_H

/// Returns the natural logarithm, with an error below 1 unit in the last place:
/// -infinity for 0, NaN for less.
double hfta_portable_log(double x);

/// Returns e^x, with an error below 1 unit in the last place, or of 1 where the
/// result is subnormal.
double hfta_portable_exp(double x);

/// Returns the error function 2/sqrt(pi) * integral of exp(-t^2) from 0 to x,
/// with an error below 16 units in the last place.
double hfta_portable_erf(double x);

/// Returns x^n for x >= 0: by multiplications if n is a whole number of at most
/// 64, else as e^(n log x). x^0 is 1 for all x.
double hfta_portable_power(double x, double n);

/// Returns the cosine of pi x for x from 0 to 1, with an error below 2^-52. It
/// is exact for 0, 1/2 and 1.
double hfta_portable_cos_pi(double x);

#endif // HFTA_SRC_SYSTEM_PORTABLE_MATH_H
