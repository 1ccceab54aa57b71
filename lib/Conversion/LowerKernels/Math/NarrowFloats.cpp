//===- NarrowFloats.cpp - Rounding to bf16 and f16 ------------------------===//
//
// Rounds to the nearest number, ties to even, with the same bits on every
// processor: not all processors have instructions for it, those for bf16 flush
// denormals, and C libraries lack some of the functions that would be called
// instead.
//===----------------------------------------------------------------------===//

#include "Math/NarrowFloats.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::hfta;

namespace {

/// Builds ops on scalars, or on vectors of one shape.
class BitBuilder {
public:
  BitBuilder(OpBuilder &builder, Location loc, Type shape)
      : builder(builder), loc(loc), shape(shape) {}

  Type getType(Type element) const {
    if (auto vector = dyn_cast<VectorType>(shape))
      return vector.clone(element);
    return element;
  }
  Value integer(int64_t value) {
    Type element = builder.getI32Type();
    TypedAttr number = builder.getIntegerAttr(element, value);
    if (auto vector = dyn_cast<VectorType>(shape))
      number = DenseElementsAttr::get(vector.clone(element), Attribute(number));
    return arith::ConstantOp::create(builder, loc, number);
  }
  template <typename OpTy, typename... Args>
  Value create(Args &&...args) {
    return OpTy::create(builder, loc, std::forward<Args>(args)...);
  }
  /// Returns the bits of an f32 as an i32.
  Value getBits(Value value) {
    return create<arith::BitcastOp>(getType(builder.getI32Type()), value);
  }
  Value isNan(Value value) {
    return create<arith::CmpFOp>(arith::CmpFPredicate::UNO, value, value);
  }

  OpBuilder &builder;
  Location loc;

private:
  Type shape;
};

/// Rounds an f32 to bf16, its upper half. Adding 0x7fff to the bits, or 0x8000
/// if the upper half is odd, carries into the upper half exactly if the number
/// has to be rounded up.
struct RoundToBfloat16 : public OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::TruncFOp op,
                                PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isBF16() ||
        !getElementTypeOrSelf(op.getIn().getType()).isF32())
      return failure();
    BitBuilder b(rewriter, op.getLoc(), op.getType());
    Value bits = b.getBits(op.getIn());
    Value half = b.integer(16), one = b.integer(1);
    Value odd =
        b.create<arith::AndIOp>(b.create<arith::ShRUIOp>(bits, half), one);
    Value carry = b.create<arith::AddIOp>(odd, b.integer(0x7fff));
    Value rounded = b.create<arith::AddIOp>(bits, carry);
    // A NaN stays NaN: it becomes quiet and keeps the bits of its upper half.
    Value quiet = b.create<arith::OrIOp>(bits, b.integer(0x400000));
    Value kept = b.create<arith::SelectOp>(b.isNan(op.getIn()), quiet, rounded);
    Value upper = b.create<arith::TruncIOp>(
        b.getType(rewriter.getI16Type()), b.create<arith::ShRUIOp>(kept, half));
    rewriter.replaceOpWithNewOp<arith::BitcastOp>(op, op.getType(), upper);
    return success();
  }
};

/// Rounds an f64 by way of an f32 that is rounded to odd: towards zero, with
/// the last bit set if anything was lost, so that the second rounding takes the
/// loss into account (Boldo and Melquiond, "Emulation of FMA and correctly
/// rounded sums: proved algorithms using rounding to odd", 2008).
struct RoundFromF64 : public OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::TruncFOp op,
                                PatternRewriter &rewriter) const override {
    Type to = getElementTypeOrSelf(op.getType());
    if (!(to.isBF16() || to.isF16()) ||
        !getElementTypeOrSelf(op.getIn().getType()).isF64())
      return failure();
    BitBuilder b(rewriter, op.getLoc(), op.getType());
    Type single = b.getType(rewriter.getF32Type());
    Value exact = op.getIn();
    Value nearest = b.create<arith::TruncFOp>(single, exact);
    Value back = b.create<arith::ExtFOp>(exact.getType(), nearest);
    Value isInexact =
        b.create<arith::CmpFOp>(arith::CmpFPredicate::ONE, back, exact);
    Value isAway = b.create<arith::CmpFOp>(arith::CmpFPredicate::OGT,
                                           b.create<math::AbsFOp>(back),
                                           b.create<math::AbsFOp>(exact));
    Value bits = b.getBits(nearest);
    Value one = b.integer(1);
    Value towardsZero = b.create<arith::SelectOp>(
        isAway, b.create<arith::SubIOp>(bits, one), bits);
    Value odd = b.create<arith::SelectOp>(
        isInexact, b.create<arith::OrIOp>(towardsZero, one), bits);
    Value rounded = b.create<arith::BitcastOp>(single, odd);
    rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, op.getType(), rounded);
    return success();
  }
};

} // namespace

void hfta::populateNarrowFloatPatterns(RewritePatternSet &patterns) {
  patterns.add<RoundToBfloat16, RoundFromF64>(patterns.getContext());
}
