//===- Remainder.cpp - Remainders of floats -------------------------------===//
//
// A quotient of floats is rounded, but what its integer part times the divisor
// leaves of the dividend has few enough digits for a fused multiply-add to
// compute it exactly, whatever was lost of the quotient.
//===----------------------------------------------------------------------===//

#include "Math/DoubleFunctions.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::hfta;

/// A quotient below 2^53 leaves less than the divisor, or, if it was rounded up
/// to an integer, a part of the divisor below zero. A larger one leaves at most
/// 2^-53 of what there was, of any sign.
Value DoubleFunctions::subtractMultiple(Value rest, Value divisor) {
  Value multiple = create<math::TruncOp>(divide(rest, divisor));
  return multiplyAdd(negate(multiple), divisor, rest);
}

/// Divides by the divisor times a power of two if the quotient might overflow.
Value DoubleFunctions::subtractLargeMultiple(Value rest, Value divisor) {
  constexpr double kScale = 0x1p700;
  // The largest quotient is below 2^2098.
  constexpr int kMostScales = 2;
  Value size = magnitude(rest);
  for (int scales = 0; scales < kMostScales; ++scales) {
    Value larger = multiply(divisor, kScale);
    Value isLarger = compare(arith::CmpFPredicate::OGE, size, larger);
    divisor = select(isLarger, larger, divisor);
  }
  return subtractMultiple(rest, divisor);
}

/// Quotients of more than 53 bits are rare, so the steps that they take are
/// behind a branch; those leave the other elements as they are.
Value DoubleFunctions::remainder(Value x, Value y, int64_t steps) {
  Value size = magnitude(x), divisor = magnitude(y);
  Value isLarge =
      compare(arith::CmpFPredicate::OGE, divide(size, divisor), 0x1p53);
  Value once = subtractMultiple(size, divisor);
  auto branch = scf::IfOp::create(
      builder, loc, any(isLarge),
      [&](OpBuilder &b, Location loc) {
        Value begin = arith::SelectOp::create(b, loc, isLarge, size, once);
        auto index = [&](int64_t value) -> Value {
          return arith::ConstantIndexOp::create(b, loc, value);
        };
        auto loop = scf::ForOp::create(
            b, loc, index(0), index(steps), index(1), begin,
            [&](OpBuilder &b, Location loc, Value, ValueRange rest) {
              DoubleFunctions inner(b, loc, x.getType());
              scf::YieldOp::create(
                  b, loc, inner.subtractLargeMultiple(rest.front(), divisor));
            });
        scf::YieldOp::create(b, loc, loop.getResults());
      },
      [&](OpBuilder &b, Location loc) { scf::YieldOp::create(b, loc, once); });
  Value rest = branch.getResult(0);
  Value isNegative = compare(arith::CmpFPredicate::OLT, rest, 0.0);
  rest = select(isNegative, add(rest, divisor), rest);
  // This holds for an infinite divisor, too.
  Value isLess = compare(arith::CmpFPredicate::OLT, size, divisor);
  return select(isLess, x, copySign(rest, x));
}
