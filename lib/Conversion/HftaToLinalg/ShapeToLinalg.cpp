//===- ShapeToLinalg.cpp - Lowering of ops that move elements -------------===//

#include "Hfta/Conversion/HftaToLinalg.h"
#include "LoweringUtils.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;
using namespace mlir::hfta;

namespace {

struct ReshapeLowering : public OpConversionPattern<ReshapeOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(ReshapeOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, createReshape(rewriter, op.getLoc(),
                                         adaptor.getInput(), op.getShape()));
    return success();
  }
};

struct TransposeLowering : public OpConversionPattern<TransposeOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(TransposeOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, transpose(rewriter, op.getLoc(), adaptor.getInput(),
                                     op.getPermutation()));
    return success();
  }
};

struct BroadcastLowering : public OpConversionPattern<BroadcastOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(BroadcastOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Value input = adaptor.getInput();
    LoopNest nest(rewriter, op.getLoc());
    Axes axes = nest.addParallel(op.getShape());
    Axes position;
    for (auto [size, axis] : llvm::zip(getShape(input), op.getDimensions()))
      position.push_back(size == op.getShape()[axis]
                             ? axes[axis]
                             : rewriter.getAffineConstantExpr(0));
    nest.read(input, position);
    nest.write(getElementType(input), axes);
    rewriter.replaceOp(op, nest.build(copyFirst));
    return success();
  }
};

struct SliceLowering : public OpConversionPattern<SliceOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(SliceOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    // Creates no view, whose offset would have to be inside of the tensor even
    // if the view is empty.
    if (llvm::is_contained(op.getSizes(), 0)) {
      rewriter.replaceOpWithNewOp<tensor::EmptyOp>(
          op, op.getSizes(), getElementType(adaptor.getInput()));
      return success();
    }
    if (llvm::any_of(op.getStrides(), [](int64_t s) { return s < 0; })) {
      rewriter.replaceOp(op, pick(op, adaptor.getInput(), rewriter));
      return success();
    }
    auto attributes = [&](ArrayRef<int64_t> values) {
      return getAsIndexOpFoldResult(rewriter.getContext(), values);
    };
    rewriter.replaceOpWithNewOp<tensor::ExtractSliceOp>(
        op, adaptor.getInput(), attributes(op.getOffsets()),
        attributes(op.getSizes()), attributes(op.getStrides()));
    return success();
  }

private:
  /// Reads the slice element by element, as a view can't have negative strides.
  static SmallVector<Value> pick(SliceOp op, Value input, OpBuilder &builder) {
    LoopNest nest(builder, op.getLoc());
    Axes axes = nest.addParallel(op.getSizes());
    nest.write(getElementType(input), axes);
    return nest.build([&](OpBuilder &b, Location loc, ValueRange) {
      SmallVector<Value> indices;
      for (auto [axis, offset, stride] :
           llvm::zip(axes, op.getOffsets(), op.getStrides()))
        indices.push_back(createLinearIndex(b, loc, {{axis, stride}}, offset));
      return SmallVector<Value>{createExtract(b, loc, input, indices)};
    });
  }
};

struct PadLowering : public OpConversionPattern<PadOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(PadOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Value input = adaptor.getInput();
    Location loc = op.getLoc();
    Type elementType = getElementType(input);
    TypedAttr value = op.getValue();
    if (auto integer = dyn_cast<IntegerAttr>(value))
      value = rewriter.getIntegerAttr(elementType, integer.getValue());
    Value scalar = arith::ConstantOp::create(rewriter, loc, value);
    if (llvm::all_of(op.getInterior(), [](int64_t gap) { return gap == 0; })) {
      rewriter.replaceOp(op, createPad(rewriter, loc, input, op.getLow(),
                                       op.getHigh(), scalar));
      return success();
    }
    SmallVector<int64_t> strides = llvm::map_to_vector(
        op.getInterior(), [](int64_t gap) { return gap + 1; });
    Value surroundings = createFilled(
        rewriter, loc, op.getResult().getType().getShape(), scalar);
    rewriter.replaceOp(op, createInsert(rewriter, loc, input, surroundings,
                                        op.getLow(), strides));
    return success();
  }
};

struct ConcatLowering : public OpConversionPattern<ConcatOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(ConcatOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ArrayRef<int64_t> shape = op.getResult().getType().getShape();
    Type elementType = getElementType(adaptor.getInputs().front());
    Value result =
        tensor::EmptyOp::create(rewriter, op.getLoc(), shape, elementType);
    SmallVector<int64_t> offsets(shape.size(), 0), strides(shape.size(), 1);
    for (Value input : adaptor.getInputs()) {
      result =
          createInsert(rewriter, op.getLoc(), input, result, offsets, strides);
      offsets[op.getAxis()] += getShape(input)[op.getAxis()];
    }
    rewriter.replaceOp(op, result);
    return success();
  }
};

struct IotaLowering : public OpConversionPattern<IotaOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(IotaOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Type elementType = getSignlessType(op.getElementType());
    LoopNest nest(rewriter, op.getLoc());
    Axes axes = nest.addParallel(op.getShape());
    nest.write(elementType, axes);
    rewriter.replaceOp(
        op, nest.build([&](OpBuilder &b, Location loc, ValueRange) {
          Value index = getIterationIndex(b, loc, axes[op.getAxis()]);
          bool isFloat = isa<FloatType>(elementType);
          Value scalar = arith::IndexCastOp::create(
              b, loc, isFloat ? b.getI64Type() : elementType, index);
          if (isFloat)
            scalar = arith::SIToFPOp::create(b, loc, elementType, scalar);
          return SmallVector<Value>{scalar};
        }));
    return success();
  }
};

struct ConstantLowering : public OpConversionPattern<ConstantOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(ConstantOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ElementsAttr value = op.getValue();
    auto type = cast<RankedTensorType>(
        getTypeConverter()->convertType(op.getResult().getType()));
    if (type != value.getType()) {
      if (auto dense = dyn_cast<DenseElementsAttr>(value))
        value = dense.bitcast(type.getElementType());
      else if (auto resource = dyn_cast<DenseResourceElementsAttr>(value))
        value = DenseResourceElementsAttr::get(type, resource.getRawHandle());
      else
        return rewriter.notifyMatchFailure(op, "unknown form of elements");
    }
    // Computes a large constant of equal elements instead of storing it.
    constexpr int64_t kMostStored = 4096;
    auto dense = dyn_cast<DenseElementsAttr>(value);
    if (dense && dense.isSplat() && type.getNumElements() > kMostStored) {
      Value scalar = arith::ConstantOp::create(
          rewriter, op.getLoc(), dense.getSplatValue<TypedAttr>());
      rewriter.replaceOp(
          op, createFilled(rewriter, op.getLoc(), type.getShape(), scalar));
      return success();
    }
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(op, type,
                                                   cast<TypedAttr>(value));
    return success();
  }
};

} // namespace

void hfta::populateShapeToLinalgPatterns(const TypeConverter &converter,
                                         RewritePatternSet &patterns) {
  patterns
      .add<ReshapeLowering, TransposeLowering, BroadcastLowering, SliceLowering,
           PadLowering, ConcatLowering, IotaLowering, ConstantLowering>(
          converter, patterns.getContext());
}
