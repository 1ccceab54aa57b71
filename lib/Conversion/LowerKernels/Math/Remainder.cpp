//===- Remainder.cpp - Remainders of floats -------------------------------===//
//
// The quotient of floats is rounded. But the dividend minus the divisor times
// the quotient's integer part has so few digits that a fused multiply-add
// computes it exactly, whatever was lost of the quotient.
//===----------------------------------------------------------------------===//

#include "Math/DoubleFunctions.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::hfta;

/// If the quotient is below 2^53, the remainder is less than the divisor; if
/// the quotient was rounded up to an integer, the remainder is negative and
/// above -divisor. If the quotient is larger, at most 2^-53 of `rest` remains,
/// with either sign.
Value DoubleFunctions::subtractMultiple(Value rest, Value divisor) {
  Value multiple = create<math::TruncOp>(divide(rest, divisor));
  return multiplyAdd(negate(multiple), divisor, rest);
}

/// Subtracts a multiple of the divisor times a power of two if the quotient
/// might overflow otherwise.
Value DoubleFunctions::subtractLargeMultiple(Value rest, Value divisor) {
  constexpr double kScale = 0x1p700;
  // The largest quotient is less than 2^2098.
  constexpr int kMostScales = 2;
  Value size = magnitude(rest);
  for (int scales = 0; scales < kMostScales; ++scales) {
    Value larger = multiply(divisor, kScale);
    Value isLarger = compare(arith::CmpFPredicate::OGE, size, larger);
    divisor = select(isLarger, larger, divisor);
  }
  return subtractMultiple(rest, divisor);
}

/// Quotients of more than 53 bits are rare, so the loop that reduces them is
/// behind a branch. In a vector, the loop leaves elements with smaller
/// quotients unchanged.
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
  // Returns x if it is less than the divisor, also for an infinite divisor.
  Value isLess = compare(arith::CmpFPredicate::OLT, size, divisor);
  return select(isLess, x, copySign(rest, x));
}
