//===- SingleFunctions.h - Functions of f32 as polynomials ------*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_LOWERKERNELS_MATH_SINGLEFUNCTIONS_H
#define HFTA_LIB_CONVERSION_LOWERKERNELS_MATH_SINGLEFUNCTIONS_H

#include "Math/DoubleFunctions.h"

namespace mlir::hfta {

/// Builds functions of f32. They are accurate to 4 units in the last place
/// everywhere, denormal results included. All bits follow from the operations
/// built here, so scalars and vectors of any width, tails included, give the
/// same bits.
class SingleFunctions : public MathBuilder {
public:
  /// `canScale`: the target multiplies by a power of 2 in one instruction; this
  /// changes no bits.
  SingleFunctions(OpBuilder &builder, Location loc, Type shape, bool canScale)
      : MathBuilder(builder, loc, shape), canScale(canScale) {}

  Value exponential(Value x);
  Value logarithm(Value x);
  Value tangent(Value x); ///< hyperbolic
  Value errorFunction(Value x);
  Value arcSine(Value x);
  Value arcCosine(Value x);
  Value arcTangent(Value x);

  /// The functions below are those of DoubleFunctions, but accurate only to
  /// f32. Arguments and results are of f64, and an angle has no `rest`.
  static constexpr double kSineLimit = 0x1p48;
  DoubleFunctions::Angle reduce(Value x);
  Value sine(Value x, const DoubleFunctions::Angle &angle, int64_t quarters);

private:
  Value scaleAtOnce(Value x, Value n);

  bool canScale;
};

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERKERNELS_MATH_SINGLEFUNCTIONS_H
