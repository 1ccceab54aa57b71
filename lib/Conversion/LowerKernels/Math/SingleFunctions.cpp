//===- SingleFunctions.cpp - Functions of f32 as polynomials --------------===//
//
// Arguments are reduced to a short interval. The polynomials have the least
// maximal relative error there (Remez exchange); the coefficients come from
// scripts/fit-polynomials.py.
//===----------------------------------------------------------------------===//

#include "Math/SingleFunctions.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mlir::hfta;

Value SingleFunctions::scaleAtOnce(Value x, Value n) {
  if (!canScale)
    return scale(x, n);
  return LLVM::CallIntrinsicOp::create(builder, loc, x.getType(),
                                       builder.getStringAttr("llvm.ldexp"),
                                       ValueRange{x, n})
      ->getResult(0);
}

/// Computes e^x = 2^n e^r with |r| <= ln 2 / 2, and e^r = 1 + r + r^2 P(r).
Value SingleFunctions::exponential(Value x) {
  Value bounded = clamp(x, -105.0, 89.0);
  auto [n, integer] = round(bounded, 1.4426950408889634);
  Value r = multiplyAdd(n, -0.693359375, bounded);
  r = multiplyAdd(n, 2.12194440054690583e-4, r);
  Value p = evaluate(
      r, {0.00139418803, 0.00836868398, 0.0416663885, 0.166665211, 0.5});
  Value square = multiply(r, r);
  Value power = add(multiplyAdd(p, square, r), number(1, x));
  return scaleAtOnce(power, integer);
}

/// Computes log x = n ln 2 + log(1 + f), with 1 + f between sqrt(1/2) and
/// sqrt(2), and log(1 + f) = f - f^2 / 2 + f^3 P(f).
Value SingleFunctions::logarithm(Value x) {
  auto [mantissa, n] = split(x);
  Value f = subtract(mantissa, number(1, x));
  Value p = evaluate(f, {0.0691563413, -0.1178938, 0.118726179, -0.123844013,
                         0.142187163, -0.166692495, 0.200022236, -0.249999866,
                         0.333333105});
  Value square = multiply(f, f);
  Value sum = multiply(multiply(p, f), square);
  sum = multiplyAdd(n, -2.12194440054690583e-4, sum);
  sum = add(multiplyAdd(square, -0.5, sum), f);
  sum = multiplyAdd(n, 0.693359375, sum);
  return selectLogarithm(x, sum);
}

Value SingleFunctions::tangent(Value x) {
  return MathBuilder::tangent(
      x,
      {-0.00565572875, 0.0205974001, -0.0537278056, 0.133313119, -0.333332777},
      [&](Value argument) { return exponential(argument); });
}

/// Computes x + x P(x^2) where |x| is below 1, else 1 - e^P(|x|) with the sign
/// of x.
Value SingleFunctions::errorFunction(Value x) {
  Value size = magnitude(x);
  Value p = evaluate(multiply(x, x),
                     {7.91918792e-05, -0.000803050934, 0.00519071659,
                      -0.0268551223, 0.112836182, -0.376126289, 0.128379166});
  Value near = multiplyAdd(p, x, x);
  // From 4 on, 1 - e^P(4) rounds to 1.
  Value four = number(4, x);
  Value bounded =
      select(compare(arith::CmpFPredicate::OGT, size, four), four, size);
  Value q = evaluate(bounded, {-2.16842836e-05, 0.000441308192, -0.00420443807,
                               0.025207974, -0.108418219, -0.633220136,
                               -1.12957835, 0.000188037069});
  Value far = subtract(number(1, x), exponential(q));
  Value isNear = compare(arith::CmpFPredicate::OLT, size, 1.0);
  return select(isNear, near, copySign(far, x));
}

static constexpr double kArcSine[] = {0.0422118045, 0.0241520908, 0.0454760417,
                                      0.0749525204, 0.166667536};

Value SingleFunctions::arcSine(Value x) {
  return MathBuilder::arcSine(x, kArcSine);
}

Value SingleFunctions::arcCosine(Value x) {
  return MathBuilder::arcCosine(x, kArcSine);
}

Value SingleFunctions::arcTangent(Value x) {
  return MathBuilder::arcTangent(x, {0.00297553698, -0.0165850837, 0.0435600914,
                                     -0.0758115426, 0.106792226, -0.142142847,
                                     0.199941471, -0.333331674});
}

/// Uses pi / 2 in two parts, which give all bits of an f32 result.
DoubleFunctions::Angle SingleFunctions::reduce(Value x) {
  auto [n, quadrant] = round(x, 0.63661977236758138);
  Value r = multiplyAdd(n, -1.5707963267948966, x);
  return {multiplyAdd(n, -6.123233995736766e-17, r), Value(), quadrant};
}

Value SingleFunctions::sine(Value, const DoubleFunctions::Angle &angle,
                            int64_t quarters) {
  Value r = angle.r, z = multiply(r, r);
  Value p = evaluate(z, {2.7183084403154817e-06, -0.00019839334520745328,
                         0.0083333293849283552, -0.16666666641618466});
  Value sine = multiplyAdd(multiply(p, z), r, r);
  Value cosine =
      evaluate(z, {-2.7210209891737103e-07, 2.4799519678628043e-05,
                   -0.0013888883752192418, 0.04166666662281443, -0.5, 1.0});
  Value turned =
      create<arith::AddIOp>(angle.quarters, integer(quarters, angle.quarters));
  return selectQuarter(sine, cosine, turned);
}
