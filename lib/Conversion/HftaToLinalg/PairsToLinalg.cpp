//===- PairsToLinalg.cpp - Lowering of pair_factors -----------------------===//

#include "Hfta/Conversion/HftaToLinalg.h"
#include "LoweringUtils.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::hfta;

/// Returns an f32, rounded to bf16, as the lower half of an i32 whose upper
/// half is zero.
static Value roundToHalf(OpBuilder &builder, Location loc, Value number) {
  Value narrow =
      arith::TruncFOp::create(builder, loc, builder.getBF16Type(), number);
  Value bits =
      arith::BitcastOp::create(builder, loc, builder.getI16Type(), narrow);
  return arith::ExtUIOp::create(builder, loc, builder.getI32Type(), bits);
}

/// A loop nest's body with arguments (low, high): returns the pair of both.
static SmallVector<Value> packPair(OpBuilder &builder, Location loc,
                                   ValueRange arguments) {
  Value low = roundToHalf(builder, loc, arguments[0]);
  Value high = roundToHalf(builder, loc, arguments[1]);
  Value bits = createNumber(builder, loc, builder.getI32Type(), 16);
  Value moved = arith::ShLIOp::create(builder, loc, high, bits);
  return {arith::OrIOp::create(builder, loc, moved, low)};
}

namespace {
/// Lowers to one generic op that reads the two halves of the axis.
struct PairFactorsLowering : public OpConversionPattern<PairFactorsOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(PairFactorsOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value input = adaptor.getInput();
    auto axis = static_cast<int64_t>(op.getAxis());
    ArrayRef<int64_t> shape = op.getResult().getType().getShape();
    SmallVector<int64_t> none(shape.size(), 0), offsets(none), missing(none);
    offsets[axis] = shape[axis];
    missing[axis] = 2 * shape[axis] - getShape(input)[axis];
    Value zero = createZero(rewriter, loc, rewriter.getF32Type());
    Value padded = createPad(rewriter, loc, input, none, missing, zero);
    LoopNest nest(rewriter, loc);
    Axes axes = nest.addParallel(shape);
    nest.read(createSlice(rewriter, loc, padded, none, shape), axes);
    nest.read(createSlice(rewriter, loc, padded, offsets, shape), axes);
    nest.write(rewriter.getI32Type(), axes);
    rewriter.replaceOp(op, nest.build(packPair));
    return success();
  }
};
} // namespace

void hfta::populatePairsToLinalgPatterns(const TypeConverter &converter,
                                         RewritePatternSet &patterns) {
  patterns.add<PairFactorsLowering>(converter, patterns.getContext());
}
