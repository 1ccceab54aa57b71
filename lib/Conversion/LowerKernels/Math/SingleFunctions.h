//===- SingleFunctions.h - Functions of f32 as polynomials ------*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_LOWERKERNELS_MATH_SINGLEFUNCTIONS_H
#define HFTA_LIB_CONVERSION_LOWERKERNELS_MATH_SINGLEFUNCTIONS_H

#include "Math/DoubleFunctions.h"

namespace mlir::hfta {

/// Builds functions of f32, which are within 4 units in the last place
/// everywhere, denormal results included. All bits follow from the operations
/// here: scalars and vectors of any width, tails included, agree.
class SingleFunctions : public MathBuilder {
public:
  /// `canScale`: the target multiplies by a power of 2 in one instruction,
  /// which gives the same bits.
  SingleFunctions(OpBuilder &builder, Location loc, Type shape, bool canScale)
      : MathBuilder(builder, loc, shape), canScale(canScale) {}

  Value exponential(Value x);
  Value logarithm(Value x);
  Value tangent(Value x); ///< hyperbolic
  Value errorFunction(Value x);
  Value arcSine(Value x);
  Value arcCosine(Value x);
  Value arcTangent(Value x);

  /// The members of DoubleFunctions, in f64 and for arguments of f64; the
  /// angle's rest isn't used.
  static constexpr double kSineLimit = 0x1p48;
  DoubleFunctions::Angle reduce(Value x);
  Value sine(Value x, const DoubleFunctions::Angle &angle, int64_t quarters);

private:
  Value scaleAtOnce(Value x, Value n);

  bool canScale;
};

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERKERNELS_MATH_SINGLEFUNCTIONS_H
