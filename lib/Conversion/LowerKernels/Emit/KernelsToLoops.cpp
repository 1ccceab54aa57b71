//===- KernelsToLoops.cpp - Linalg ops on memory to loops over vectors ----===//

#include "Emit/JoinAxes.h"
#include "Emit/LoopEmitter.h"
#include "Emit/RowReduction.h"
#include "Emit/SumMarks.h"
#include "Emit/TransposeEmitter.h"
#include "Hfta/Conversion/LowerKernels.h"
#include "Hfta/Conversion/SumOrder.h"
#include "Plan/TermBlocks.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace mlir::hfta {
#define GEN_PASS_DEF_HFTAKERNELSTOLOOPS
#include "Hfta/Conversion/Passes.h.inc"
} // namespace mlir::hfta

using namespace mlir;
using namespace mlir::hfta;

//===----------------------------------------------------------------------===//
// Initial values
//===----------------------------------------------------------------------===//

/// Returns the op that fills `memory` before `op` reads it, if no op between
/// them uses the same buffer; null if there is none.
static linalg::FillOp findFill(linalg::GenericOp op, Value memory) {
  Value root = getRootMemory(memory);
  for (Operation *before = op->getPrevNode(); before;
       before = before->getPrevNode()) {
    if (auto fill = dyn_cast<linalg::FillOp>(before))
      if (fill.getDpsInitOperand(0)->get() == memory)
        return fill;
    if (isa<ViewLikeOpInterface>(before))
      continue;
    auto touches = [&](Value operand) {
      return getRootMemory(operand) == root;
    };
    if (before->getNumRegions() > 0 && !isa<linalg::LinalgOp>(before))
      return nullptr;
    if (llvm::any_of(before->getOperands(), touches))
      return nullptr;
  }
  return nullptr;
}

/// Returns, for each result, the scalar that it is filled with, or null. Erases
/// the fills.
static SmallVector<Value> takeInitialValues(RewriterBase &rewriter,
                                            linalg::GenericOp op) {
  SmallVector<Value> initial;
  for (Value output : op.getDpsInits()) {
    initial.emplace_back();
    bool isAlsoRead = llvm::any_of(op.getDpsInputs(), [&](Value input) {
      return getRootMemory(input) == getRootMemory(output);
    });
    linalg::FillOp fill = isAlsoRead ? nullptr : findFill(op, output);
    if (!fill)
      continue;
    initial.back() = fill.getDpsInputOperand(0)->get();
    rewriter.eraseOp(fill);
  }
  return initial;
}

/// Recreates the fills of the results. If terms are added in blocks, sums are
/// kept in memory between blocks and have to start there.
static void returnInitialValues(RewriterBase &rewriter, linalg::GenericOp op,
                                MutableArrayRef<Value> initial) {
  for (auto [output, value] : llvm::zip(op.getDpsInits(), initial)) {
    if (value)
      linalg::FillOp::create(rewriter, op.getLoc(), value, output);
    value = Value();
  }
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

static LogicalResult lowerToLoops(RewriterBase &rewriter, linalg::LinalgOp op,
                                  const TargetModel &target) {
  rewriter.setInsertionPoint(op);
  auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
  if (!generic) {
    FailureOr<linalg::GenericOp> made = linalg::generalizeNamedOp(rewriter, op);
    if (failed(made))
      return failure();
    generic = *made;
  }
  SmallVector<Value> initial = takeInitialValues(rewriter, generic);
  generic = joinAxes(rewriter, generic);
  if (!emitTranspose(rewriter, generic, target) &&
      !emitRowReduction(rewriter, generic, initial, target)) {
    LoopPlan plan = planLoops(generic, initial, target);
    plan.blocks = chooseTermBlocks(generic, plan, target);
    if (!plan.blocks.empty() && llvm::any_of(initial, [](Value value) {
          return static_cast<bool>(value);
        })) {
      returnInitialValues(rewriter, generic, initial);
      plan = planLoops(generic, initial, target);
      plan.blocks = chooseTermBlocks(generic, plan, target);
    }
    if (plan.sharesWindows)
      generic->getParentOfType<func::FuncOp>()->setAttr(
          "passthrough", rewriter.getStrArrayAttr({kSharesWindowsAttrName}));
    numberSum(generic, getAddressOrder(generic, plan.reductions, /*lanes=*/1,
                                       /*vectors=*/1));
    LoopEmitter(rewriter, generic, plan, initial, target).emit();
  }
  rewriter.eraseOp(generic);
  return success();
}

namespace {
struct KernelsToLoopsPass
    : hfta::impl::HftaKernelsToLoopsBase<KernelsToLoopsPass> {
  using HftaKernelsToLoopsBase::HftaKernelsToLoopsBase;

  void runOnOperation() override {
    func::FuncOp kernel = getOperation();
    if (!kernel->hasAttr(kItemsAttrName) || kernel.isDeclaration())
      return;
    // Lowers ops from the last to the first, so that the op before is still
    // structured when its fill is taken, and all remaining fills at the end.
    IRRewriter rewriter(&getContext());
    TargetModel target = TargetModel::get(kernel);
    for (bool fills : {false, true}) {
      SmallVector<linalg::LinalgOp> ops;
      kernel.walk([&](linalg::LinalgOp op) {
        if (isa<linalg::FillOp>(op) == fills)
          ops.push_back(op);
      });
      for (linalg::LinalgOp op : llvm::reverse(ops)) {
        if (succeeded(lowerToLoops(rewriter, op, target)))
          continue;
        op.emitOpError("has no lowering to loops");
        return signalPassFailure();
      }
    }
  }
};
} // namespace
