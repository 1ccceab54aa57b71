//===- IndexingToLinalg.cpp - Lowering of gathers and scattered sums ------===//

#include "Hfta/Conversion/HftaToLinalg.h"
#include "LoweringUtils.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::hfta;

namespace {
/// A checked index into an axis.
struct AxisIndex {
  Value
      position; ///< a position within the axis; 0 if the index is out of bounds
  Value isInside; ///< whether the index is within bounds
};
} // namespace

/// Checks an index. A negative index counts from the end of the axis. An index
/// out of bounds is replaced by 0 before it is cast to `index`, which may have
/// fewer bits.
static AxisIndex createAxisIndex(OpBuilder &builder, Location loc, Value index,
                                 int64_t size) {
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(
        builder, loc, builder.getIntegerAttr(index.getType(), value));
  };
  Value zero = constant(0), end = constant(size);
  Value fromEnd = arith::AddIOp::create(builder, loc, index, end);
  Value isNegative = arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::slt, index, zero);
  index = arith::SelectOp::create(builder, loc, isNegative, fromEnd, index);
  Value isInside = arith::CmpIOp::create(builder, loc,
                                         arith::CmpIPredicate::ult, index, end);
  index = arith::SelectOp::create(builder, loc, isInside, index, zero);
  return {
      arith::IndexCastOp::create(builder, loc, builder.getIndexType(), index),
      isInside};
}

namespace {

struct GatherLowering : public OpConversionPattern<GatherOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(GatherOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Value input = adaptor.getInput(), indices = adaptor.getIndices();
    ArrayRef<int64_t> inputShape = getShape(input);
    size_t axis = op.getAxis();
    LoopNest nest(rewriter, op.getLoc());
    Axes before = nest.addParallel(inputShape.take_front(axis));
    Axes chosen = nest.addParallel(getShape(indices));
    Axes after = nest.addParallel(inputShape.drop_front(axis + 1));
    Axes result(before);
    result.append(chosen);
    result.append(after);
    nest.read(indices, chosen);
    nest.write(getElementType(input), result);
    rewriter.replaceOp(
        op, nest.build([&](OpBuilder &b, Location loc, ValueRange arguments) {
          AxisIndex index =
              createAxisIndex(b, loc, arguments.front(), inputShape[axis]);
          SmallVector<Value> position;
          for (Axis a : before)
            position.push_back(getIterationIndex(b, loc, a));
          position.push_back(index.position);
          for (Axis a : after)
            position.push_back(getIterationIndex(b, loc, a));
          Value element = createExtract(b, loc, input, position);
          Value none = createZero(b, loc, element.getType());
          return SmallVector<Value>{
              arith::SelectOp::create(b, loc, index.isInside, element, none)};
        }));
    return success();
  }
};

/// Builds a nest of loops that runs each index from 0 to its size in `sizes`
/// and carries a tensor. Returns the last tensor.
static Value
buildLoops(OpBuilder &builder, Location loc, ArrayRef<int64_t> sizes,
           Value initial,
           llvm::function_ref<Value(OpBuilder &, Location, ValueRange iteration,
                                    Value running)>
               body) {
  SmallVector<Value> begins(sizes.size(), createIndex(builder, loc, 0));
  SmallVector<Value> steps(sizes.size(), createIndex(builder, loc, 1));
  SmallVector<Value> ends = llvm::map_to_vector(
      sizes, [&](int64_t size) { return createIndex(builder, loc, size); });
  return scf::buildLoopNest(builder, loc, begins, ends, steps, initial,
                            [&](OpBuilder &b, Location loc,
                                ValueRange iteration,
                                ValueRange running) -> scf::ValueVector {
                              return {body(b, loc, iteration, running.front())};
                            })
      .results.front();
}

/// Updates of a scatter, and the indices along `axis` at which they are
/// combined with the target's elements.
struct Scattered {
  Value updates, indices;
  size_t axis;
};

/// Builds loops that combine updates with elements of `initial`, one update
/// after the other. An update whose index is out of bounds is skipped.
static Value scatter(OpBuilder &builder, Location loc, ReduceKind kind,
                     const Scattered &scattered, Value initial) {
  Value updates = scattered.updates, indices = scattered.indices;
  size_t axis = scattered.axis;
  SmallVector<int64_t> shape(getShape(initial));
  size_t chosen = getShape(indices).size();
  // The loops over the indices are the outermost. Inside of them are the loops
  // over the slice that an index selects.
  SmallVector<int64_t> sizes(getShape(indices));
  llvm::append_range(sizes, ArrayRef<int64_t>(shape).take_front(axis));
  llvm::append_range(sizes, ArrayRef<int64_t>(shape).drop_front(axis + 1));
  auto body = [&](OpBuilder &b, Location loc, ValueRange iteration,
                  Value running) -> Value {
    ValueRange chosenAt = iteration.take_front(chosen);
    ValueRange before = iteration.slice(chosen, axis);
    ValueRange after = iteration.drop_front(chosen + axis);
    Value index = createExtract(b, loc, indices, chosenAt);
    AxisIndex place = createAxisIndex(b, loc, index, shape[axis]);
    SmallVector<Value> source(before), target(before);
    llvm::append_range(source, chosenAt);
    target.push_back(place.position);
    llvm::append_range(source, after);
    llvm::append_range(target, after);
    Value update = createExtract(b, loc, updates, source);
    Value old = createExtract(b, loc, running, target);
    Value combined = combine(b, loc, kind, old, update);
    Value next = arith::SelectOp::create(b, loc, place.isInside, combined, old);
    return tensor::InsertOp::create(b, loc, next, running, target);
  };
  return buildLoops(builder, loc, sizes, initial, body);
}

struct ScatterAddLowering : public OpConversionPattern<ScatterAddOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(ScatterAddOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value updates = adaptor.getUpdates();
    Value zero = createZero(rewriter, loc, getElementType(updates));
    Value zeros =
        createFilled(rewriter, loc, op.getResult().getType().getShape(), zero);
    rewriter.replaceOp(
        op, scatter(rewriter, loc, ReduceKind::sum,
                    {updates, adaptor.getIndices(), op.getAxis()}, zeros));
    return success();
  }
};

struct ScatterReduceLowering : public OpConversionPattern<ScatterReduceOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(ScatterReduceOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(
        op, scatter(rewriter, op.getLoc(), op.getKind(),
                    {adaptor.getUpdates(), adaptor.getIndices(), op.getAxis()},
                    adaptor.getInput()));
    return success();
  }
};

/// Lowers to loops over the result's elements, with an inner loop that sums the
/// updates of the element's segment in their sorted order.
struct SegmentSumLowering : public OpConversionPattern<SegmentSumOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(SegmentSumOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value updates = adaptor.getUpdates(), offsets = adaptor.getOffsets();
    ArrayRef<int64_t> shape = op.getResult().getType().getShape();
    Type type = getElementType(updates);
    Value result = tensor::EmptyOp::create(rewriter, loc, shape, type);
    Value zero = createZero(rewriter, loc, type);
    Value one = createIndex(rewriter, loc, 1);
    auto body = [&](OpBuilder &b, Location loc, ValueRange iteration,
                    Value running) -> Value {
      Value segment = iteration[op.getAxis()];
      Value next = arith::AddIOp::create(b, loc, segment, one);
      auto loop = scf::ForOp::create(
          b, loc, createNumberAt(b, loc, offsets, segment),
          createNumberAt(b, loc, offsets, next), one, zero,
          [&](OpBuilder &b, Location loc, Value number, ValueRange sum) {
            SmallVector<Value> source(iteration);
            source[op.getAxis()] =
                createNumberAt(b, loc, adaptor.getOrder(), number);
            Value update = createExtract(b, loc, updates, source);
            scf::YieldOp::create(
                b, loc, combine(b, loc, ReduceKind::sum, sum.front(), update));
          });
      return tensor::InsertOp::create(b, loc, loop.getResult(0), running,
                                      iteration);
    };
    rewriter.replaceOp(op, buildLoops(rewriter, loc, shape, result, body));
    return success();
  }

private:
  /// Reads the element at `place` of a table of indices, as an `index`.
  static Value createNumberAt(OpBuilder &builder, Location loc, Value table,
                              Value place) {
    return arith::IndexCastOp::create(
        builder, loc, builder.getIndexType(),
        createExtract(builder, loc, table, place));
  }
};

} // namespace

void hfta::populateIndexingToLinalgPatterns(const TypeConverter &converter,
                                            RewritePatternSet &patterns) {
  patterns.add<GatherLowering, ScatterAddLowering, ScatterReduceLowering,
               SegmentSumLowering>(converter, patterns.getContext());
}
