//===- DoubleFunctions.h - Functions of f64 as polynomials ------*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_LOWERKERNELS_MATH_DOUBLEFUNCTIONS_H
#define HFTA_LIB_CONVERSION_LOWERKERNELS_MATH_DOUBLEFUNCTIONS_H

#include "Math/MathBuilder.h"

namespace mlir::hfta {

/// Of f64, within 2 units in the last place everywhere, denormal results
/// included. As those of f32 they have the same bits in scalars and vectors.
class DoubleFunctions : public MathBuilder {
public:
  using MathBuilder::MathBuilder;

  Value exponential(Value x) { return exponential(x, Value()); }
  Value logarithm(Value x);
  Value logarithmOfOnePlus(Value x);
  Value tangent(Value x); ///< hyperbolic
  Value errorFunction(Value x);
  /// As C's pow, of special values too.
  Value power(Value base, Value exponent);

  /// An angle less so many quarters of a turn (the lowest two bits count): at
  /// most an eighth of a turn, and what is left of it behind its last digit.
  struct Angle {
    Value r, rest, quarters;
  };
  /// Of arguments below this limit.
  static constexpr double kSineLimit = 0x1p30;
  Angle reduce(Value x);
  /// Of arguments from 1 up, NaN of infinite ones. (LargeAngles.cpp)
  Angle reduceLarge(Value x);
  /// sin(x + quarters * pi / 2), of x as it was reduced.
  Value sine(Value x, const Angle &angle, int64_t quarters);

private:
  /// A number, and what is left of it behind its last digit.
  struct Pair {
    Value high, low;
  };

  Pair multiplyExactly(Value a, Value b);
  /// Where |a| >= |b|, or a is 0.
  Pair addToLarger(Value a, Value b);
  Pair subtractExactly(Value a, Value b);
  Pair multiplyByHalfPi(Value high, Value low);

  /// e^(x + low); low may be NULL.
  Value exponential(Value x, Value low);
  /// n ln 2 + log(1 + f) + low, with 1 + f from sqrt(1/2) up to sqrt(2); low
  /// may be NULL.
  Value addLogarithm(Value n, Value f, Value low);
  /// log x for finite x above 0, with about 65 digits.
  Pair logarithmWithRest(Value x);
  Value selectPower(Value base, Value exponent, Value regular);
};

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERKERNELS_MATH_DOUBLEFUNCTIONS_H
