//===- DoubleFunctions.h - Functions of f64 as polynomials ------*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_LOWERKERNELS_MATH_DOUBLEFUNCTIONS_H
#define HFTA_LIB_CONVERSION_LOWERKERNELS_MATH_DOUBLEFUNCTIONS_H

#include "Math/MathBuilder.h"

namespace mlir::hfta {

/// Builds functions of f64, which are within 2 units in the last place
/// everywhere, denormal results included. Like those of f32 they have the same
/// bits in scalars and vectors.
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
  /// Computes C's pow, also for special values.
  Value power(Value base, Value exponent);
  /// Computes C's fmod, which is exact, also for special values. `steps` are as
  /// many as 53 bits of a quotient each that is too large for one of 53 bits.
  /// (Remainder.cpp)
  Value remainder(Value x, Value y, int64_t steps);

  /// An angle reduced by quarters of a turn, of whose number the lowest two
  /// bits count: `r` is at most an eighth of a turn, and `rest` is what is
  /// below r's last bit.
  struct Angle {
    Value r, rest, quarters;
  };
  /// The limit below which `reduce` takes arguments.
  static constexpr double kSineLimit = 0x1p30;
  Angle reduce(Value x);
  /// Reduces arguments from 1 up; infinite ones give NaN. (LargeAngles.cpp)
  Angle reduceLarge(Value x);
  /// Returns sin(x + quarters * pi / 2), for a reduced x.
  Value sine(Value x, const Angle &angle, int64_t quarters);

private:
  /// A number, and what is below its last bit.
  struct Pair {
    Value high, low;
  };

  Pair multiplyExactly(Value a, Value b);
  /// Adds two numbers exactly, if |a| >= |b| or a is 0.
  Pair addToLarger(Value a, Value b);
  Pair subtractExactly(Value a, Value b);
  Pair multiplyByHalfPi(Value high, Value low);

  /// Computes e^(x + low); low may be NULL.
  Value exponential(Value x, Value low);
  /// Computes n ln 2 + log(1 + f) + low, with 1 + f from sqrt(1/2) up to
  /// sqrt(2); low may be NULL.
  Value addLogarithm(Value n, Value f, Value low);
  /// Computes log x, for a finite x above 0, with about 65 bits.
  Pair logarithmWithRest(Value x);
  Value selectPower(Value base, Value exponent, Value regular);
  /// Returns what is left of `rest` after a multiple of `divisor`, which is
  /// above 0.
  Value subtractMultiple(Value rest, Value divisor);
  Value subtractLargeMultiple(Value rest, Value divisor);
};

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERKERNELS_MATH_DOUBLEFUNCTIONS_H
