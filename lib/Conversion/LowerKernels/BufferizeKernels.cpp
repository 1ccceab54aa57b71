//===- BufferizeKernels.cpp - Tensors inside kernels to memory ------------===//

#include "Hfta/Conversion/LowerKernels.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/Transforms.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::hfta {
#define GEN_PASS_DEF_HFTABUFFERIZEKERNELS
#include "Hfta/Conversion/Passes.h.inc"
} // namespace mlir::hfta

using namespace mlir;
using namespace mlir::hfta;

/// Pads become a filled tensor with the source inserted.
static LogicalResult decomposePads(func::FuncOp kernel) {
  RewritePatternSet patterns(kernel.getContext());
  linalg::populateDecomposePadPatterns(patterns);
  return applyPatternsGreedily(kernel, std::move(patterns));
}

static LogicalResult bufferize(func::FuncOp kernel) {
  IRRewriter rewriter(kernel.getContext());
  if (failed(decomposePads(kernel)) ||
      failed(bufferization::eliminateEmptyTensors(rewriter, kernel)))
    return failure();
  // Equal slices of an argument that a result overwrites must be one value for
  // the analysis to find that elements are read and written in place.
  DominanceInfo dominance(kernel);
  eliminateCommonSubExpressions(rewriter, dominance, kernel);
  bufferization::OneShotBufferizationOptions options;
  options.bufferAlignment = 64;
  bufferization::BufferizationState state;
  return bufferization::runOneShotBufferize(kernel, options, state);
}

/// Copies become linalg ops; those of a buffer to itself go away.
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
    for (auto kernel : getOperation().getOps<func::FuncOp>()) {
      if (!kernel->hasAttr(kItemsAttrName) || kernel.isDeclaration())
        continue;
      if (failed(bufferize(kernel)))
        return signalPassFailure();
      IRRewriter rewriter(&getContext());
      DominanceInfo dominance(kernel);
      eliminateCommonSubExpressions(rewriter, dominance, kernel);
      replaceCopies(kernel);
    }
  }
};
} // namespace
