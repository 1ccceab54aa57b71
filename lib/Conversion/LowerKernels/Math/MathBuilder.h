//===- MathBuilder.h - Arithmetic of functions in kernels -------*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_LOWERKERNELS_MATH_MATHBUILDER_H
#define HFTA_LIB_CONVERSION_LOWERKERNELS_MATH_MATHBUILDER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"

namespace mlir::hfta {

/// Builds ops on scalars, or on vectors of one shape.
class MathBuilder {
public:
  MathBuilder(OpBuilder &builder, Location loc, Type shape)
      : builder(builder), loc(loc), shape(shape) {}

  Type getType(Type element) const {
    if (auto vector = dyn_cast<VectorType>(shape))
      return vector.clone(element);
    return element;
  }
  Value constant(Type element, TypedAttr value) {
    if (auto vector = dyn_cast<VectorType>(shape))
      value = DenseElementsAttr::get(vector.clone(element), Attribute(value));
    return arith::ConstantOp::create(builder, loc, value);
  }
  /// Creates a float constant of the same type as `like`.
  Value number(double value, Value like) {
    Type element = getElementTypeOrSelf(like.getType());
    return constant(element, builder.getFloatAttr(element, value));
  }
  Value integer(int64_t value, Value like) {
    Type element = getElementTypeOrSelf(like.getType());
    return constant(element, builder.getIntegerAttr(element, value));
  }

  template <typename OpTy, typename... Args>
  Value create(Args &&...args) {
    return OpTy::create(builder, loc, std::forward<Args>(args)...);
  }
  Value add(Value a, Value b) { return create<arith::AddFOp>(a, b); }
  Value subtract(Value a, Value b) { return create<arith::SubFOp>(a, b); }
  Value multiply(Value a, Value b) { return create<arith::MulFOp>(a, b); }
  Value multiply(Value a, double b) { return multiply(a, number(b, a)); }
  Value divide(Value a, Value b) { return create<arith::DivFOp>(a, b); }
  Value multiplyAdd(Value a, Value b, Value c) {
    return create<math::FmaOp>(a, b, c);
  }
  Value multiplyAdd(Value a, double b, Value c) {
    return multiplyAdd(a, number(b, a), c);
  }
  Value negate(Value a) { return create<arith::NegFOp>(a); }
  Value select(Value condition, Value a, Value b) {
    return create<arith::SelectOp>(condition, a, b);
  }
  Value compare(arith::CmpFPredicate predicate, Value a, Value b) {
    return create<arith::CmpFOp>(predicate, a, b);
  }
  Value compare(arith::CmpFPredicate predicate, Value a, double b) {
    return compare(predicate, a, number(b, a));
  }
  Value both(Value a, Value b) { return create<arith::AndIOp>(a, b); }
  Value either(Value a, Value b) { return create<arith::OrIOp>(a, b); }
  /// Returns whether the condition holds for any element, as a scalar.
  Value any(Value condition);
  Value magnitude(Value a) { return create<math::AbsFOp>(a); }
  Value copySign(Value a, Value sign) {
    return create<math::CopySignOp>(a, sign);
  }

  /// Clamps a value to the bounds; NaN stays NaN.
  Value clamp(Value x, double low, double high);
  /// Evaluates a polynomial at x by Horner's scheme. The coefficient of the
  /// highest power comes first.
  Value evaluate(Value x, ArrayRef<double> coefficients);
  /// Returns the integer nearest to x * factor in two forms: as a float, and in
  /// the low bits of an integer type as wide as x.
  std::pair<Value, Value> round(Value x, double factor);
  /// Splits a finite x above 0 into 2^n m, where m is between sqrt(1/2) and
  /// sqrt(2). Returns m and n, both as floats.
  std::pair<Value, Value> split(Value x);
  /// Returns x * 2^n, rounded once if x isn't far from 1. 2^n is split into two
  /// factors, so that the result may be denormal or overflow even if 2^n can't
  /// be represented.
  Value scale(Value x, Value n);
  /// Handles special values of a logarithm. `regular` is the logarithm if x is
  /// finite and above 0. Infinity and NaN stay, 0 gives minus infinity, and
  /// numbers below 0 give NaN.
  Value selectLogarithm(Value x, Value regular);
  /// Returns the sine of an angle plus a number of quarters of a turn, given
  /// the sine and cosine of the angle.
  Value selectQuarter(Value sine, Value cosine, Value quarters);

protected:
  /// Computes the hyperbolic tangent: x + x^3 P(x^2) where |x| is below 0.625,
  /// with the given coefficients of P; else (1 - t) / (1 + t) with the sign of
  /// x, where t = e^(-2 |x|).
  Value tangent(Value x, ArrayRef<double> coefficients,
                llvm::function_ref<Value(Value)> exponential);
  /// Computes the arc tangent: x + x^3 P(x^2) where |x| is at most 1, with the
  /// given coefficients of P; else pi / 2 minus the arc tangent of 1 / |x|,
  /// with the sign of x.
  Value arcTangent(Value x, ArrayRef<double> coefficients);
  /// Computes the arc sine: x + x^3 P(x^2) where |x| is below 1/2, with the
  /// given coefficients of P; else pi / 2 minus twice the arc sine of sqrt((1 -
  /// |x|) / 2), with the sign of x. NaN where |x| is above 1.
  Value arcSine(Value x, ArrayRef<double> coefficients);
  /// Computes the arc cosine, given the coefficients for the arc sine.
  Value arcCosine(Value x, ArrayRef<double> coefficients);

  OpBuilder &builder;
  Location loc;

private:
  /// The value begin + begin * growth of an odd function.
  struct Arc {
    Value begin, growth;
  };
  struct ShortArc {
    Value isFar; ///< whether the argument's absolute value is at least 1/2
    /// The arc sine of the argument's absolute value a, or of sqrt((1 - a) / 2)
    /// if `isFar`.
    Arc arc;
  };

  /// Returns 2^n as a float of type `type`.
  Value powerOfTwo(Value n, Type type);
  /// Returns x + x^3 P(square), where `square` is x^2.
  Arc grow(Value x, Value square, ArrayRef<double> coefficients);
  Value join(const Arc &arc);
  /// Returns pi / 2 minus the arc. Only the last difference is rounded to the
  /// precision of the result.
  Value complement(const Arc &arc);
  ShortArc shortArcSine(Value x, ArrayRef<double> coefficients);

  Type shape;
};

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERKERNELS_MATH_MATHBUILDER_H
