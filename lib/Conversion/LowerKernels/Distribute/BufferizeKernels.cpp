//===- BufferizeKernels.cpp - Tensors inside kernels to memory ------------===//

#include "Hfta/Conversion/LowerKernels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/Transforms.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Threading.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::hfta {
#define GEN_PASS_DEF_HFTABUFFERIZEKERNELS
#include "Hfta/Conversion/Passes.h.inc"
} // namespace mlir::hfta

using namespace mlir;
using namespace mlir::hfta;

namespace {
/// Decomposes a pad that only structured ops and slices read: fills the borders
/// of a tensor and inserts the source. A pad that is a result of the kernel is
/// left to another pattern, as it wouldn't be computed in the result's memory
/// in this way.
struct DecomposePad : public OpRewritePattern<tensor::PadOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::PadOp op,
                                PatternRewriter &rewriter) const override {
    Value scalar = op.getConstantPaddingValue();
    if (!scalar || !op.getResultType().hasStaticShape() ||
        ShapedType::isDynamicShape(op.getStaticLow()) ||
        ShapedType::isDynamicShape(op.getStaticHigh()))
      return rewriter.notifyMatchFailure(op, "not a static pad of a scalar");
    if (!llvm::all_of(op->getUsers(), [](Operation *user) {
          return isa<linalg::LinalgOp, tensor::ExtractSliceOp>(user);
        }))
      return rewriter.notifyMatchFailure(op, "is a result");
    ArrayRef<int64_t> shape = op.getResultType().getShape();
    Value result = tensor::EmptyOp::create(rewriter, op.getLoc(), shape,
                                           op.getResultType().getElementType());
    // Along each axis, only that part of the borders is filled which earlier
    // axes' borders don't contain.
    SmallVector<int64_t> offsets(shape.size(), 0), sizes(shape);
    for (auto [axis, low, high] :
         llvm::enumerate(op.getStaticLow(), op.getStaticHigh())) {
      int64_t inside = shape[axis] - low - high;
      for (auto [offset, size] :
           {std::pair(int64_t(0), low), std::pair(low + inside, high)}) {
        if (size == 0)
          continue;
        offsets[axis] = offset;
        sizes[axis] = size;
        result = fill(rewriter, op.getLoc(), scalar, result, offsets, sizes);
      }
      offsets[axis] = low;
      sizes[axis] = inside;
    }
    rewriter.replaceOp(
        op, insert(rewriter, op.getLoc(), op.getSource(), result, offsets));
    return success();
  }

private:
  static SmallVector<OpFoldResult> get(OpBuilder &builder,
                                       ArrayRef<int64_t> values) {
    return getAsIndexOpFoldResult(builder.getContext(), values);
  }

  static Value insert(OpBuilder &builder, Location loc, Value part, Value whole,
                      ArrayRef<int64_t> offsets) {
    auto type = cast<RankedTensorType>(part.getType());
    SmallVector<int64_t> strides(offsets.size(), 1);
    return tensor::InsertSliceOp::create(
        builder, loc, part, whole, get(builder, offsets),
        get(builder, type.getShape()), get(builder, strides));
  }

  static Value fill(OpBuilder &builder, Location loc, Value scalar, Value whole,
                    ArrayRef<int64_t> offsets, ArrayRef<int64_t> sizes) {
    SmallVector<int64_t> strides(offsets.size(), 1);
    Value border = tensor::ExtractSliceOp::create(
        builder, loc, whole, get(builder, offsets), get(builder, sizes),
        get(builder, strides));
    Value filled =
        linalg::FillOp::create(builder, loc, scalar, border).getResult(0);
    return insert(builder, loc, filled, whole, offsets);
  }
};
} // namespace

/// Decomposes all pads: those that `DecomposePad` doesn't match become a filled
/// tensor into which the source is inserted.
static LogicalResult decomposePads(func::FuncOp kernel) {
  RewritePatternSet patterns(kernel.getContext());
  patterns.add<DecomposePad>(kernel.getContext(), /*benefit=*/2);
  linalg::populateDecomposePadPatterns(patterns);
  return applyPatternsGreedily(kernel, std::move(patterns),
                               getKernelRewriteConfig());
}

/// Gives each op that overwrites a filled tensor a fill of its own. Several ops
/// that share one would each start in a copy of it.
static void separateFills(func::FuncOp kernel) {
  IRRewriter rewriter(kernel.getContext());
  SmallVector<OpOperand *> overwrites;
  kernel.walk([&](linalg::FillOp fill) {
    auto empty = fill.getOutputs().front().getDefiningOp<tensor::EmptyOp>();
    if (!empty || fill->hasOneUse())
      return;
    for (OpOperand &use : fill->getUses())
      if (auto user = dyn_cast<DestinationStyleOpInterface>(use.getOwner());
          user && user.isDpsInit(&use))
        overwrites.push_back(&use);
  });
  for (OpOperand *use : overwrites) {
    auto fill = use->get().getDefiningOp<linalg::FillOp>();
    rewriter.setInsertionPoint(use->getOwner());
    Operation *empty =
        rewriter.clone(*fill.getOutputs().front().getDefiningOp());
    auto own = linalg::FillOp::create(rewriter, fill.getLoc(), fill.getInputs(),
                                      empty->getResults());
    rewriter.modifyOpInPlace(use->getOwner(),
                             [&] { use->set(own.getResult(0)); });
    if (fill->use_empty())
      rewriter.eraseOp(fill);
  }
}

static LogicalResult bufferize(func::FuncOp kernel) {
  IRRewriter rewriter(kernel.getContext());
  separateFills(kernel);
  if (failed(bufferization::eliminateEmptyTensors(rewriter, kernel)))
    return failure();
  // The analysis finds that elements are read and written in place only if
  // equal slices of an argument that a result overwrites are one value.
  DominanceInfo dominance(kernel);
  eliminateCommonSubExpressions(rewriter, dominance, kernel);
  // Fills of temporary tensors are equal, so they were merged again.
  separateFills(kernel);
  bufferization::OneShotBufferizationOptions options;
  options.bufferAlignment = 64;
  bufferization::BufferizationState state;
  return bufferization::runOneShotBufferize(kernel, options, state);
}

/// Turns copies into linalg ops, and erases copies of a buffer to itself.
static void replaceCopies(func::FuncOp kernel) {
  IRRewriter rewriter(kernel.getContext());
  kernel.walk([&](memref::CopyOp copy) {
    rewriter.setInsertionPoint(copy);
    if (copy.getSource() != copy.getTarget())
      linalg::CopyOp::create(rewriter, copy.getLoc(), copy.getSource(),
                             copy.getTarget());
    rewriter.eraseOp(copy);
  });
}

namespace {
struct BufferizeKernelsPass
    : hfta::impl::HftaBufferizeKernelsBase<BufferizeKernelsPass> {
  using HftaBufferizeKernelsBase::HftaBufferizeKernelsBase;

  void runOnOperation() override {
    SmallVector<func::FuncOp> kernels;
    for (auto kernel : getOperation().getOps<func::FuncOp>())
      if (kernel->hasAttr(kItemsAttrName) && !kernel.isDeclaration())
        kernels.push_back(kernel);
    if (failed(failableParallelForEach(&getContext(), kernels, decomposePads)))
      return signalPassFailure();
    // Kernels with constant tensors aren't lowered in parallel, as
    // bufferization adds globals for these to the module.
    SmallVector<func::FuncOp> separate, sharing;
    for (func::FuncOp kernel : kernels)
      (hasConstantTensors(kernel) ? sharing : separate).push_back(kernel);
    if (failed(failableParallelForEach(&getContext(), separate, lower)))
      return signalPassFailure();
    for (func::FuncOp kernel : sharing)
      if (failed(lower(kernel)))
        return signalPassFailure();
  }

private:
  static bool hasConstantTensors(func::FuncOp kernel) {
    return kernel
        .walk([](arith::ConstantOp constant) {
          return isa<TensorType>(constant.getType()) ? WalkResult::interrupt()
                                                     : WalkResult::advance();
        })
        .wasInterrupted();
  }

  static LogicalResult lower(func::FuncOp kernel) {
    if (failed(bufferize(kernel)))
      return failure();
    IRRewriter rewriter(kernel.getContext());
    DominanceInfo dominance(kernel);
    eliminateCommonSubExpressions(rewriter, dominance, kernel);
    replaceCopies(kernel);
    return success();
  }
};
} // namespace
