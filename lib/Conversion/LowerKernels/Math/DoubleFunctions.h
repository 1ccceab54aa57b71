//===- DoubleFunctions.h - Functions of f64 as polynomials ------*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_LOWERKERNELS_MATH_DOUBLEFUNCTIONS_H
#define HFTA_LIB_CONVERSION_LOWERKERNELS_MATH_DOUBLEFUNCTIONS_H

#include "Math/MathBuilder.h"

namespace mlir::hfta {

/// Builds functions of f64. They are accurate to 2 units in the last place
/// everywhere, denormal results included. As for f32, scalars and vectors give
/// the same bits.
class DoubleFunctions : public MathBuilder {
public:
  using MathBuilder::MathBuilder;

  Value exponential(Value x) { return exponential(x, Value()); }
  Value logarithm(Value x);
  Value logarithmOfOnePlus(Value x);
  Value tangent(Value x); ///< hyperbolic
  Value errorFunction(Value x);
  Value arcSine(Value x);
  Value arcCosine(Value x);
  Value arcTangent(Value x);
  /// Computes C's pow, including its special values.
  Value power(Value base, Value exponent);
  /// Computes C's fmod, which is exact, including its special values. A
  /// quotient of more than 53 bits is reduced in `steps` steps of up to 53 bits
  /// each; there must be enough for the largest quotient. (Remainder.cpp)
  Value remainder(Value x, Value y, int64_t steps);

  /// An angle reduced by a number of quarters of a turn, of which only the two
  /// lowest bits count. `r` is at most an eighth of a turn; `rest` is the part
  /// of the angle below r's last bit.
  struct Angle {
    Value r, rest, quarters;
  };
  /// The limit of the absolute value of arguments of `reduce`.
  static constexpr double kSineLimit = 0x1p30;
  /// Reduces an angle whose absolute value is below kSineLimit.
  Angle reduce(Value x);
  /// Reduces an angle whose absolute value is at least 1. Infinity gives NaN.
  /// (LargeAngles.cpp)
  Angle reduceLarge(Value x);
  /// Returns sin(x + quarters * pi / 2) for an x that was reduced to `angle`.
  Value sine(Value x, const Angle &angle, int64_t quarters);

private:
  /// An unevaluated sum of two numbers: `low` is below the last bit of `high`.
  struct Pair {
    Value high, low;
  };

  Pair multiplyExactly(Value a, Value b);
  /// Adds two numbers exactly, provided that |a| >= |b| or a is 0 (Fast2Sum).
  Pair addToLarger(Value a, Value b);
  Pair subtractExactly(Value a, Value b);
  Pair multiplyByHalfPi(Value high, Value low);

  /// Computes e^(x + low), where `low` may be NULL.
  Value exponential(Value x, Value low);
  /// Computes n ln 2 + log(1 + f) + low, where 1 + f is between sqrt(1/2) and
  /// sqrt(2) and `low` may be NULL.
  Value addLogarithm(Value n, Value f, Value low);
  /// Computes log x for a finite x above 0, accurate to about 65 bits.
  Pair logarithmWithRest(Value x);
  Value selectPower(Value base, Value exponent, Value regular);
  /// Returns what remains of `rest` after a multiple of `divisor`, which must
  /// be above 0, is subtracted.
  Value subtractMultiple(Value rest, Value divisor);
  Value subtractLargeMultiple(Value rest, Value divisor);
};

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERKERNELS_MATH_DOUBLEFUNCTIONS_H
