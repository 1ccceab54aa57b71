//===- FuseElementwise.cpp - Fuse the elementwise ops of a kernel ---------===//

#include "Hfta/Conversion/LowerKernels.h"
#include "Hfta/Conversion/SumOrder.h"
#include "Hfta/Target/TargetModel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::hfta {
#define GEN_PASS_DEF_HFTAFUSEELEMENTWISE
#include "Hfta/Conversion/Passes.h.inc"
} // namespace mlir::hfta

using namespace mlir;
using namespace mlir::hfta;

static int64_t getIterations(linalg::LinalgOp op) {
  int64_t iterations = 1;
  for (int64_t size : op.getStaticLoopRanges())
    iterations *= size;
  return iterations;
}

/// Returns whether every element of the result is a copy of an operand's
/// element or a constant.
static bool isCopy(linalg::GenericOp op) {
  return llvm::all_of(op.getBody()->without_terminator(), [](Operation &inner) {
    return inner.hasTrait<OpTrait::ConstantLike>();
  });
}

/// Returns whether the op keeps the order of its operands' axes.
static bool keepsOrder(linalg::GenericOp op) {
  return llvm::all_of(op.getIndexingMapsArray(), [](AffineMap map) {
    SmallVector<unsigned> axes;
    for (AffineExpr expression : map.getResults())
      if (auto axis = dyn_cast<AffineDimExpr>(expression))
        axes.push_back(axis.getPosition());
    return llvm::is_sorted(axes);
  });
}

static bool isElementwiseOp(linalg::GenericOp op) {
  return op && op.getNumParallelLoops() == op.getNumLoops();
}

/// Returns whether computing an element takes no longer than reading it from
/// memory: it consists of a few sums and products of one element and of numbers
/// that whole rows share.
static bool isCheap(linalg::GenericOp op) {
  int64_t size = 0;
  for (Operation &inner : op.getBody()->without_terminator()) {
    if (!isa<arith::AddFOp, arith::SubFOp, arith::MulFOp>(inner))
      return false;
    ++size;
  }
  int64_t elements =
      llvm::count_if(op.getDpsInputOperands(), [&](OpOperand *input) {
        return op.getMatchingIndexingMap(input).getNumResults() ==
               op.getNumLoops();
      });
  return size <= TargetModel::Fusion::kCheapBody && elements <= 1 &&
         op.getNumResults() == 1;
}

/// Returns whether every user computes the op's elements itself, so that they
/// are never stored.
static bool isRepeated(linalg::GenericOp op) {
  return isCopy(op) ||
         (isCheap(op) && llvm::all_of(op->getUses(), [&](OpOperand &use) {
            auto user = dyn_cast<linalg::GenericOp>(use.getOwner());
            return user && user->getBlock() == op->getBlock() &&
                   getIterations(user) == getIterations(op) &&
                   linalg::areElementwiseOpsFusable(&use);
          }));
}

/// Returns whether fusing the producer of an operand into the operand's user
/// computes no element twice and makes no access slower.
static bool isProfitable(OpOperand &use) {
  auto producer = use.get().getDefiningOp<linalg::GenericOp>();
  auto consumer = dyn_cast<linalg::GenericOp>(use.getOwner());
  if (!isElementwiseOp(producer) || !consumer ||
      !linalg::areElementwiseOpsFusable(&use))
    return false;
  if (isCopy(producer))
    return keepsOrder(producer) || isElementwiseOp(consumer);
  return getIterations(producer) == getIterations(consumer);
}

static Operation *getFirstUser(Operation *op) {
  Operation *first = nullptr;
  for (Operation *user : op->getUsers()) {
    user = op->getBlock()->findAncestorOpInBlock(*user);
    if (!first || user->isBeforeInBlock(first))
      first = user;
  }
  return first;
}

/// Fuses the producer of an operand into the operand's user. Returns false if
/// that isn't possible.
static bool fuse(RewriterBase &rewriter, OpOperand &use) {
  Operation *producer = use.get().getDefiningOp();
  Operation *consumer = use.getOwner();
  bool keepsValue = !isRepeated(cast<linalg::GenericOp>(producer));
  auto order = consumer->getAttrOfType<SumOrderAttr>(SumOrderAttr::kAttrName);
  rewriter.setInsertionPoint(consumer);
  FailureOr<linalg::ElementwiseOpFusionResult> fused =
      linalg::fuseElementwiseOps(rewriter, &use);
  if (failed(fused))
    return false;
  for (auto [value, replacement] : fused->replacements) {
    bool isProduced = value.getDefiningOp() == producer;
    rewriter.replaceUsesWithIf(value, replacement, [&](OpOperand &other) {
      return other.getOwner() != fused->fusedOp &&
             (!isProduced || (keepsValue && other.getOwner() != consumer));
    });
  }
  keepSumOrder(cast<linalg::GenericOp>(fused->fusedOp), order);
  rewriter.eraseOp(consumer);
  if (producer->use_empty())
    rewriter.eraseOp(producer);
  // Removes duplicates: an operand that occurs twice would be computed twice,
  // and its own operands four times.
  FailureOr<linalg::GenericOp> unique =
      linalg::deduplicateOperandsAndRemoveDeadResults(
          rewriter, cast<linalg::GenericOp>(fused->fusedOp),
          /*removeOutputs=*/false);
  if (succeeded(unique)) {
    DominanceInfo dominance(*unique);
    eliminateCommonSubExpressions(rewriter, dominance, *unique);
  }
  return true;
}

/// Fuses `op` into one of its users if that pays. Returns whether it did.
static bool fuseIntoUser(RewriterBase &rewriter, linalg::GenericOp op) {
  Operation *first = getFirstUser(op);
  for (OpOperand &use : op->getUses()) {
    if (use.getOwner()->getBlock() != op->getBlock() || !isProfitable(use))
      continue;
    if (!isRepeated(op)) {
      // Later users take the value from the fused op, so it has to be the first
      // user.
      auto consumer = cast<linalg::GenericOp>(use.getOwner());
      bool hasOthers = llvm::any_of(
          op->getUsers(), [&](Operation *user) { return user != consumer; });
      if (consumer != first || (hasOthers && !isElementwiseOp(consumer)))
        continue;
    }
    if (fuse(rewriter, use))
      return true;
  }
  return false;
}

/// Returns the element of a tensor whose elements are all one constant; null
/// for other tensors.
static Attribute getSplatElement(Value tensor) {
  SplatElementsAttr splat;
  Attribute element;
  if (matchPattern(tensor, m_Constant(&splat)))
    element = splat.getSplatValue<Attribute>();
  else if (auto fill = tensor.getDefiningOp<linalg::FillOp>())
    matchPattern(fill.getInputs().front(), m_Constant(&element));
  return element;
}

namespace {
/// Replaces an operand of equal elements, which would be read from memory, by a
/// scalar in the body.
struct InlineSplats : public OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op,
                                PatternRewriter &rewriter) const override {
    bool changed = false;
    for (OpOperand *input : op.getDpsInputOperands()) {
      BlockArgument argument = op.getMatchingBlockArgument(input);
      if (argument.use_empty())
        continue;
      auto element =
          dyn_cast_if_present<TypedAttr>(getSplatElement(input->get()));
      if (!element)
        continue;
      rewriter.setInsertionPoint(op);
      Value scalar = arith::ConstantOp::create(rewriter, op.getLoc(), element);
      rewriter.replaceAllUsesWith(argument, scalar);
      changed = true;
    }
    return success(changed);
  }
};

/// Moves a pad behind the transposition of its result, so that elements are
/// moved only once, to their final place.
struct TransposeBeforePad : public OpRewritePattern<linalg::TransposeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::TransposeOp op,
                                PatternRewriter &rewriter) const override {
    auto pad = op.getInput().getDefiningOp<tensor::PadOp>();
    if (!pad || !pad->hasOneUse() || !pad.getConstantPaddingValue())
      return rewriter.notifyMatchFailure(op, "input isn't padded");
    ArrayRef<int64_t> permutation = op.getPermutation();
    Location loc = op.getLoc();
    SmallVector<int64_t> shape(pad.getSourceType().getShape());
    applyPermutationToVector(shape, permutation);
    SmallVector<OpFoldResult> low = pad.getMixedLowPad();
    SmallVector<OpFoldResult> high = pad.getMixedHighPad();
    applyPermutationToVector(low, permutation);
    applyPermutationToVector(high, permutation);
    Value empty = tensor::EmptyOp::create(rewriter, loc, shape,
                                          pad.getSourceType().getElementType());
    Value transposed = linalg::TransposeOp::create(
                           rewriter, loc, pad.getSource(), empty, permutation)
                           ->getResult(0);
    rewriter.replaceOpWithNewOp<tensor::PadOp>(op, op->getResult(0).getType(),
                                               transposed, low, high,
                                               pad.getConstantPaddingValue());
    return success();
  }
};
} // namespace

/// Applies patterns that make fusion possible or clean up after it.
static LogicalResult simplify(func::FuncOp kernel) {
  MLIRContext *context = kernel.getContext();
  RewritePatternSet patterns(context);
  linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
  linalg::populateInlineConstantOperandsPatterns(patterns);
  linalg::GenericOp::getCanonicalizationPatterns(patterns, context);
  linalg::FillOp::getCanonicalizationPatterns(patterns, context);
  patterns.add<InlineSplats, TransposeBeforePad>(context);
  return applyPatternsGreedily(kernel, std::move(patterns),
                               getKernelRewriteConfig());
}

namespace {
struct FuseElementwisePass
    : hfta::impl::HftaFuseElementwiseBase<FuseElementwisePass> {
  using HftaFuseElementwiseBase::HftaFuseElementwiseBase;

  void runOnOperation() override {
    func::FuncOp kernel = getOperation();
    if (!kernel->hasAttr(kKernelAttrName) || kernel.isDeclaration())
      return;
    if (failed(simplify(kernel)))
      return signalPassFailure();
    IRRewriter rewriter(&getContext());
    bool changed = true;
    while (changed) {
      changed = false;
      for (auto op : kernel.getBody().front().getOps<linalg::GenericOp>()) {
        if (!isElementwiseOp(op) || op->use_empty())
          continue;
        changed = fuseIntoUser(rewriter, op);
        if (changed)
          break;
      }
    }
    if (failed(simplify(kernel)))
      return signalPassFailure();
  }
};
} // namespace
