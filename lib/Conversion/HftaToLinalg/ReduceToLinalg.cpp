//===- ReduceToLinalg.cpp - Lowering of reductions ------------------------===//

#include "Hfta/Conversion/HftaToLinalg.h"
#include "LoweringUtils.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::hfta;

/// What combining starts from.
static Value createNeutral(OpBuilder &builder, Location loc, ReduceKind kind,
                           Type type) {
  switch (kind) {
  case ReduceKind::sum:
    return createZero(builder, loc, type);
  case ReduceKind::product:
    return createNumber(builder, loc, type, 1);
  case ReduceKind::max:
    return createLowest(builder, loc, type);
  case ReduceKind::min:
    return createHighest(builder, loc, type);
  }
  llvm_unreachable("unknown reduction");
}

template <typename FloatOp, typename IntegerOp>
static Value createEither(OpBuilder &builder, Location loc, Value lhs,
                          Value rhs) {
  if (isa<FloatType>(lhs.getType()))
    return FloatOp::create(builder, loc, lhs, rhs);
  return IntegerOp::create(builder, loc, lhs, rhs);
}

/// Maximum and minimum are NaN if an operand is.
static Value combine(OpBuilder &builder, Location loc, ReduceKind kind,
                     Value running, Value next) {
  switch (kind) {
  case ReduceKind::sum:
    return createEither<arith::AddFOp, arith::AddIOp>(builder, loc, running,
                                                      next);
  case ReduceKind::product:
    return createEither<arith::MulFOp, arith::MulIOp>(builder, loc, running,
                                                      next);
  case ReduceKind::max:
    return createEither<arith::MaximumFOp, arith::MaxSIOp>(builder, loc,
                                                           running, next);
  case ReduceKind::min:
    return createEither<arith::MinimumFOp, arith::MinSIOp>(builder, loc,
                                                           running, next);
  }
  llvm_unreachable("unknown reduction");
}

namespace {
/// Kept axes are outermost but for the last one if it is contiguous: elements
/// are combined in row-major order of the reduced axes.
struct ReduceLowering : public OpConversionPattern<ReduceOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(ReduceOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Value input = adaptor.getInput();
    Location loc = op.getLoc();
    Type elementType = getElementType(input);
    Type accumulate = getSignlessType(op.getAccumulate().value_or(elementType));
    ReduceKind kind = op.getKind();

    LoopNest nest(rewriter, loc);
    Axes position(getShape(input).size()), kept;
    auto addAxes = [&](bool reduced, size_t begin, size_t end) {
      for (size_t axis = begin; axis < end; ++axis) {
        if (llvm::is_contained(op.getAxes(), axis) != reduced)
          continue;
        int64_t size = getShape(input)[axis];
        position[axis] =
            reduced ? nest.addReduction(size) : nest.addParallel(size);
        if (!reduced)
          kept.push_back(position[axis]);
      }
    };
    size_t rank = position.size(), last = rank == 0 ? 0 : rank - 1;
    addAxes(/*reduced=*/false, 0, last);
    addAxes(/*reduced=*/true, 0, rank);
    addAxes(/*reduced=*/false, last, rank);

    nest.read(input, position);
    nest.accumulate(createNeutral(rewriter, loc, kind, accumulate), kept);
    Value result =
        nest.build([&](OpBuilder &b, Location loc, ValueRange arguments) {
              Value next = resize(b, loc, arguments[0], accumulate);
              return SmallVector<Value>{
                  combine(b, loc, kind, arguments[1], next)};
            })
            .front();
    rewriter.replaceOp(op, resizeElements(rewriter, loc, result, elementType));
    return success();
  }
};
} // namespace

void hfta::populateReduceToLinalgPatterns(const TypeConverter &converter,
                                          RewritePatternSet &patterns) {
  patterns.add<ReduceLowering>(converter, patterns.getContext());
}
