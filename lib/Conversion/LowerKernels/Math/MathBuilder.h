//===- MathBuilder.h - Arithmetic of functions in kernels -------*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_LOWERKERNELS_MATH_MATHBUILDER_H
#define HFTA_LIB_CONVERSION_LOWERKERNELS_MATH_MATHBUILDER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"

namespace mlir::hfta {

/// Builds ops on scalars or vectors of one shape.
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
  /// Creates a float constant of the type of `like`.
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
  /// Returns whether the condition holds for any element.
  Value any(Value condition);
  Value magnitude(Value a) { return create<math::AbsFOp>(a); }
  Value copySign(Value a, Value sign) {
    return create<math::CopySignOp>(a, sign);
  }

  /// Clamps a value to the bounds. NaNs stay.
  Value clamp(Value x, double low, double high);
  /// Evaluates the polynomial with these coefficients at x, the highest power
  /// first.
  Value evaluate(Value x, ArrayRef<double> coefficients);
  /// Returns the integer nearest to x * factor: as a float, and in the low bits
  /// of an integer as wide as x.
  std::pair<Value, Value> round(Value x, double factor);
  /// Splits a finite x above 0 into 2^n m, with m from sqrt(1/2) up to sqrt(2).
  /// Returns m and, as a float, n.
  std::pair<Value, Value> split(Value x);
  /// Returns x * 2^n, rounded once if x isn't far from 1. 2^n is split into two
  /// factors, so that the result may be denormal or overflow although 2^n can't
  /// be represented.
  Value scale(Value x, Value n);
  /// Handles special values of a logarithm; `regular` is the one of a finite x
  /// above 0. Infinity and NaN stay, 0 gives minus infinity, and numbers below
  /// 0 give NaN.
  Value selectLogarithm(Value x, Value regular);
  /// Returns the sine of an angle whose sine and cosine are given, plus a
  /// number of quarters of a turn.
  Value selectQuarter(Value sine, Value cosine, Value quarters);

protected:
  /// Computes the hyperbolic tangent: where |x| is below .625, x + x^3 P(x^2)
  /// with P of these coefficients; elsewhere (1 - t) / (1 + t) with the sign of
  /// x, where t = e^(-2 |x|).
  Value tangent(Value x, ArrayRef<double> coefficients,
                llvm::function_ref<Value(Value)> exponential);
  /// Computes the arc tangent: up to 1, x + x^3 P(x^2) with P of these
  /// coefficients; beyond, the rest of pi / 2 after that of 1 / x.
  Value arcTangent(Value x, ArrayRef<double> coefficients);
  /// Computes the arc sine: below 1/2, x + x^3 P(x^2) with P of these
  /// coefficients; from there on, by that of sqrt((1 - x) / 2), which is half
  /// of what is missing to pi / 2. NaN beyond 1.
  Value arcSine(Value x, ArrayRef<double> coefficients);
  /// Computes the arc cosine, with the coefficients of the arc sine.
  Value arcCosine(Value x, ArrayRef<double> coefficients);

  OpBuilder &builder;
  Location loc;

private:
  /// The value begin + begin * growth of an odd function.
  struct Arc {
    Value begin, growth;
  };
  struct ShortArc {
    Value isFar; ///< whether the argument is at least 1/2, without its sign
    /// The arc sine of the argument without its sign, or, if that is far, of
    /// sqrt((1 - argument) / 2).
    Arc arc;
  };

  /// Returns 2^n.
  Value powerOfTwo(Value n, Type type);
  /// Returns x + x^3 P(square), where `square` is x^2.
  Arc grow(Value x, Value square, ArrayRef<double> coefficients);
  Value join(const Arc &arc);
  /// Returns pi / 2 less the arc; only the last difference is rounded to the
  /// digits of the result.
  Value complement(const Arc &arc);
  ShortArc shortArcSine(Value x, ArrayRef<double> coefficients);

  Type shape;
};

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERKERNELS_MATH_MATHBUILDER_H
