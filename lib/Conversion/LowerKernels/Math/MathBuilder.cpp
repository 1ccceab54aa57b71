//===- MathBuilder.cpp - Arithmetic of functions in kernels ---------------===//

#include "Math/MathBuilder.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::hfta;

static FloatType getElement(Value x) {
  return cast<FloatType>(getElementTypeOrSelf(x.getType()));
}

/// Returns the number of stored bits of a mantissa.
static int64_t getFractionBits(FloatType type) {
  return type.getFPMantissaWidth() - 1;
}

/// Returns the number 1.5 * 2^f, where f is the number of stored bits of a
/// mantissa. Its sum with another number has that number's integer part in the
/// lowest bits.
static double getMover(Value x) {
  return std::ldexp(1.5, getFractionBits(getElement(x)));
}

Value MathBuilder::any(Value condition) {
  if (!isa<VectorType>(condition.getType()))
    return condition;
  return create<vector::ReductionOp>(vector::CombiningKind::OR, condition);
}

Value MathBuilder::clamp(Value x, double low, double high) {
  // Comparisons with NaN are false, so NaN is kept.
  Value highest = number(high, x), lowest = number(low, x);
  x = select(compare(arith::CmpFPredicate::OLT, highest, x), highest, x);
  return select(compare(arith::CmpFPredicate::OGT, lowest, x), lowest, x);
}

Value MathBuilder::evaluate(Value x, ArrayRef<double> coefficients) {
  Value sum = number(coefficients.front(), x);
  for (double coefficient : coefficients.drop_front())
    sum = multiplyAdd(sum, x, number(coefficient, x));
  return sum;
}

std::pair<Value, Value> MathBuilder::round(Value x, double factor) {
  Value mover = number(getMover(x), x);
  Value moved = multiplyAdd(x, number(factor, x), mover);
  Type bits = getType(builder.getIntegerType(getElement(x).getWidth()));
  Value low = create<arith::BitcastOp>(bits, moved);
  Value base = create<arith::BitcastOp>(bits, mover);
  return {subtract(moved, mover), create<arith::SubIOp>(low, base)};
}

std::pair<Value, Value> MathBuilder::split(Value x) {
  FloatType type = getElement(x);
  const llvm::fltSemantics &semantics = type.getFloatSemantics();
  int64_t fraction = getFractionBits(type);
  // Makes denormals normal.
  int64_t shift = fraction + 1;
  double least = std::ldexp(1.0, APFloat::semanticsMinExponent(semantics));
  Value isTiny = compare(arith::CmpFPredicate::OLT, x, least);
  Value larger = multiply(x, std::ldexp(1.0, shift));
  Value normal = select(isTiny, larger, x);
  Type bits = getType(builder.getIntegerType(type.getWidth()));
  Value whole = create<arith::BitcastOp>(bits, normal);
  APFloat root(std::sqrt(0.5));
  bool losesInfo;
  root.convert(semantics, APFloat::rmNearestTiesToEven, &losesInfo);
  Value above = create<arith::SubIOp>(
      whole, integer(root.bitcastToAPInt().getSExtValue(), whole));
  Value exponent = create<arith::ShRSIOp>(above, integer(fraction, whole));
  Value moved = create<arith::ShLIOp>(exponent, integer(fraction, whole));
  Value mantissa = create<arith::BitcastOp>(
      x.getType(), create<arith::SubIOp>(whole, moved));
  // Converts by the mover, as few processors have an instruction that converts
  // integers of 64 bits.
  Value mover = number(getMover(x), x);
  Value base = create<arith::BitcastOp>(bits, mover);
  Value low = create<arith::AddIOp>(base, exponent);
  Value n = subtract(create<arith::BitcastOp>(x.getType(), low), mover);
  n = subtract(n, select(isTiny, number(shift, x), number(0, x)));
  return {mantissa, n};
}

Value MathBuilder::powerOfTwo(Value n, Type type) {
  auto element = cast<FloatType>(getElementTypeOrSelf(type));
  int64_t bias = APFloat::semanticsMaxExponent(element.getFloatSemantics());
  Value biased = create<arith::AddIOp>(n, integer(bias, n));
  Value bits =
      create<arith::ShLIOp>(biased, integer(getFractionBits(element), n));
  return create<arith::BitcastOp>(type, bits);
}

Value MathBuilder::scale(Value x, Value n) {
  Value half = create<arith::ShRSIOp>(n, integer(1, n));
  Value rest = create<arith::SubIOp>(n, half);
  return multiply(multiply(x, powerOfTwo(half, x.getType())),
                  powerOfTwo(rest, x.getType()));
}

Value MathBuilder::selectLogarithm(Value x, Value regular) {
  double infinity = std::numeric_limits<double>::infinity();
  double nan = std::numeric_limits<double>::quiet_NaN();
  Value isFinite = compare(arith::CmpFPredicate::OLT, x, infinity);
  Value isPositive = compare(arith::CmpFPredicate::UGT, x, 0.0);
  Value isZero = compare(arith::CmpFPredicate::OEQ, x, 0.0);
  Value special = select(isPositive, x, number(nan, x));
  special = select(isZero, number(-infinity, x), special);
  return select(both(isFinite, isPositive), regular, special);
}

Value MathBuilder::selectQuarter(Value sine, Value cosine, Value quarters) {
  auto hasBit = [&](int64_t bit) {
    Value masked = create<arith::AndIOp>(quarters, integer(bit, quarters));
    return create<arith::CmpIOp>(arith::CmpIPredicate::ne, masked,
                                 integer(0, quarters));
  };
  Value result = select(hasBit(1), cosine, sine);
  return select(hasBit(2), negate(result), result);
}

MathBuilder::Arc MathBuilder::grow(Value x, Value square,
                                   ArrayRef<double> coefficients) {
  return {x, multiply(evaluate(square, coefficients), square)};
}

Value MathBuilder::tangent(Value x, ArrayRef<double> coefficients,
                           llvm::function_ref<Value(Value)> exponential) {
  Value size = magnitude(x);
  Value near = join(grow(x, multiply(x, x), coefficients));
  Value t = exponential(multiply(size, -2.0));
  Value one = number(1, x);
  Value far = divide(subtract(one, t), add(one, t));
  Value isNear = compare(arith::CmpFPredicate::OLT, size, 0.625);
  // Keeps the sign of a zero as well.
  return copySign(select(isNear, near, far), x);
}

Value MathBuilder::join(const Arc &arc) {
  return multiplyAdd(arc.growth, arc.begin, arc.begin);
}

Value MathBuilder::complement(const Arc &arc) {
  // `low` is the difference between pi / 2 and `high`.
  bool isSingle = getElement(arc.begin).isF32();
  double high = isSingle ? 0x1.921fb6p+0 : 0x1.921fb54442d18p+0;
  double low = isSingle ? -0x1.777a5cp-25 : 0x1.1a62633145c07p-54;
  Value whole = number(high, arc.begin);
  Value most = subtract(whole, arc.begin);
  Value lost = subtract(subtract(whole, most), arc.begin);
  Value small = multiplyAdd(arc.growth, arc.begin, number(-low, arc.begin));
  return subtract(most, subtract(small, lost));
}

Value MathBuilder::arcTangent(Value x, ArrayRef<double> coefficients) {
  Value size = magnitude(x);
  Value isFar = compare(arith::CmpFPredicate::OGT, size, 1.0);
  Value bounded = select(isFar, divide(number(1, x), size), size);
  Arc arc = grow(bounded, multiply(bounded, bounded), coefficients);
  return copySign(select(isFar, complement(arc), join(arc)), x);
}

MathBuilder::ShortArc MathBuilder::shortArcSine(Value x,
                                                ArrayRef<double> coefficients) {
  Value size = magnitude(x);
  Value isFar = compare(arith::CmpFPredicate::OGE, size, 0.5);
  // The difference is exact; if it is negative, the square root is NaN.
  Value half = multiply(subtract(number(1, x), size), 0.5);
  Value square = select(isFar, half, multiply(size, size));
  Value bounded = select(isFar, create<math::SqrtOp>(half), size);
  return {isFar, grow(bounded, square, coefficients)};
}

Value MathBuilder::arcSine(Value x, ArrayRef<double> coefficients) {
  auto [isFar, arc] = shortArcSine(x, coefficients);
  Value far = complement({multiply(arc.begin, 2.0), arc.growth});
  return copySign(select(isFar, far, join(arc)), x);
}

Value MathBuilder::arcCosine(Value x, ArrayRef<double> coefficients) {
  auto [isFar, arc] = shortArcSine(x, coefficients);
  Value begin = select(isFar, arc.begin, copySign(arc.begin, x));
  Value rest = complement({begin, arc.growth});
  Value isPositive = compare(arith::CmpFPredicate::OGT, x, 0.0);
  Value far = multiply(select(isPositive, join(arc), rest), 2.0);
  return select(isFar, far, rest);
}
