//===- ReduceToLinalg.cpp - Lowering of reductions ------------------------===//

#include "Hfta/Conversion/HftaToLinalg.h"
#include "LoweringUtils.h"

#include "Hfta/Dialect/Hfta/IR/Expression.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::hfta;

/// Creates the initial value of a reduction: the neutral element of its
/// operation.
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

namespace {
/// Lowers a reduction. The outermost loops run over the kept axes, except the
/// input's last axis, whose loop is the innermost if it is kept. Elements are
/// combined in row-major order of the reduced axes.
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

/// Lowers to sums over the rows of each part. The input is packed as [part, row
/// of the part, column]. The sums are marked (`kPartSumAttrName`), so that on a
/// GPU the kernel that computes the rows can add them up, too.
struct PartSumsLowering : public OpConversionPattern<PartSumsOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(PartSumsOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Value input = adaptor.getInput();
    Location loc = op.getLoc();
    auto column = static_cast<int64_t>(op.getColumn());
    auto length = static_cast<int64_t>(op.getLength());
    SmallVector<int64_t> order =
        getOtherAxes(getTensorType(input).getRank(), column);
    order.push_back(column);
    ArrayRef<int64_t> shape = op.getResult().getType().getShape();
    Value rows = createReshape(rewriter, loc, pack(rewriter, loc, input, order),
                               {shape[0], length, shape[1]});
    Value sums = addRows(rewriter, loc, rows, Value());
    if (op.getCentered()) {
      Value means = divide(rewriter, loc, sums, length);
      sums = addRows(rewriter, loc, rows, means);
    }
    rewriter.replaceOp(op, sums);
    return success();
  }

private:
  /// Sums the elements of each part's rows or, given `from`, the squares of
  /// their differences from it.
  static Value addRows(OpBuilder &builder, Location loc, Value rows,
                       Value from) {
    LoopNest nest(builder, loc);
    ArrayRef<int64_t> shape = getShape(rows);
    Axis part = nest.addParallel(shape[0]), row = nest.addReduction(shape[1]);
    Axis column = nest.addParallel(shape[2]);
    nest.read(rows, {part, row, column});
    if (from)
      nest.read(from, {part, column});
    nest.accumulate(createZero(builder, loc, getElementType(rows)),
                    {part, column});
    Value sums =
        nest.build([&](OpBuilder &b, Location loc, ValueRange arguments) {
              Value next = arguments.front();
              if (from) {
                next = arith::SubFOp::create(b, loc, next, arguments[1]);
                next = arith::MulFOp::create(b, loc, next, next);
              }
              Value sum = arith::AddFOp::create(b, loc, arguments.back(), next);
              return SmallVector<Value>{sum};
            })
            .front();
    sums.getDefiningOp()->setAttr(HftaDialect::kPartSumAttrName,
                                  builder.getUnitAttr());
    return sums;
  }

  static Value divide(OpBuilder &builder, Location loc, Value sums,
                      int64_t count) {
    LoopNest nest(builder, loc);
    Axes position = nest.addParallel(getShape(sums));
    Type type = getElementType(sums);
    nest.read(sums, position);
    nest.write(type, position);
    return nest
        .build([&](OpBuilder &b, Location loc, ValueRange arguments) {
          Value divisor =
              createNumber(b, loc, type, static_cast<double>(count));
          return SmallVector<Value>{
              arith::DivFOp::create(b, loc, arguments[0], divisor)};
        })
        .front();
  }
};
} // namespace

void hfta::populateReduceToLinalgPatterns(const TypeConverter &converter,
                                          RewritePatternSet &patterns) {
  patterns.add<ReduceLowering, PartSumsLowering>(converter,
                                                 patterns.getContext());
}
