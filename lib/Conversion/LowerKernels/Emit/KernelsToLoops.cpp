//===- KernelsToLoops.cpp - Linalg ops on memory to loops over vectors ----===//

#include "Emit/AddedZero.h"
#include "Emit/Epilogue.h"
#include "Emit/JoinAxes.h"
#include "Emit/LoopEmitter.h"
#include "Emit/RowReduction.h"
#include "Emit/SumMarks.h"
#include "Emit/TransposeEmitter.h"
#include "Emit/TransposedCopies.h"
#include "Hfta/Conversion/LowerKernels.h"
#include "Hfta/Conversion/SumOrder.h"
#include "Plan/PackingPlan.h"
#include "Plan/TermBlocks.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
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
/// the fills, unless the op has no iterations that would store the scalars.
static SmallVector<Value> takeInitialValues(RewriterBase &rewriter,
                                            linalg::GenericOp op) {
  SmallVector<Value> initial;
  for (Value output : op.getDpsInits()) {
    initial.emplace_back();
    if (llvm::is_contained(op.getStaticLoopRanges(), 0))
      continue;
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

/// Recreates the fills of the results, before the op. If terms are added in
/// blocks, sums are kept in memory between blocks and have to start there.
static void returnInitialValues(RewriterBase &rewriter, linalg::GenericOp op,
                                MutableArrayRef<Value> initial) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  for (auto [output, value] : llvm::zip(op.getDpsInits(), initial)) {
    if (value)
      linalg::FillOp::create(rewriter, op.getLoc(), value, output);
    value = Value();
  }
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Plans the loops of an op that isn't lowered in another way. If terms are
/// added in blocks, `initial` is cleared.
static LoopPlan planBlocks(RewriterBase &rewriter, linalg::GenericOp op,
                           MutableArrayRef<Value> initial,
                           const TargetModel &target,
                           std::optional<unsigned> packed) {
  LoopPlan plan = planLoops(op, initial, target, packed);
  chooseTermBlocks(op, plan, target);
  if (!plan.blocks.empty() && llvm::any_of(initial, [](Value value) {
        return static_cast<bool>(value);
      })) {
    returnInitialValues(rewriter, op, initial);
    plan = planLoops(op, initial, target, packed);
    chooseTermBlocks(op, plan, target);
  }
  return plan;
}

/// If a product reads a transposed copy of which panels would be packed, lets
/// it read past the copy, so that elements are moved once.
/// Returns the number of the input that has to be packed then.
static std::optional<unsigned> packDirectly(RewriterBase &rewriter,
                                            linalg::GenericOp &op,
                                            ArrayRef<Value> initial,
                                            const TargetModel &target) {
  if (!multiplies(op))
    return std::nullopt;
  for (OpOperand *input : op.getDpsInputOperands()) {
    linalg::TransposeOp copy = findTransposedCopy(*input);
    if (!copy)
      continue;
    unsigned number = input->getOperandNumber();
    linalg::GenericOp direct =
        joinAxes(rewriter, readPastCopy(rewriter, *input, copy));
    // Panels of windows would each transpose the same elements again.
    bool packs = !readsWindows(direct, direct->getOpOperand(number)) &&
                 planLoops(direct, initial, target, number).packed == number;
    rewriter.eraseOp(packs ? op : direct);
    if (!packs)
      continue;
    op = direct;
    return number;
  }
  return std::nullopt;
}

/// Erases a transposed copy that products read past. Returns whether `op` was
/// one.
static bool eraseUnread(RewriterBase &rewriter, linalg::LinalgOp op) {
  auto copy = dyn_cast<linalg::TransposeOp>(op.getOperation());
  auto alloc = copy ? copy.getInit().getDefiningOp<memref::AllocOp>()
                    : memref::AllocOp();
  if (!alloc || !alloc->hasOneUse())
    return false;
  rewriter.eraseOp(copy);
  rewriter.eraseOp(alloc);
  return true;
}

namespace {
/// Lowers the structured ops of a kernel to loops, from the last to the first.
class LoopLowering {
public:
  LoopLowering(RewriterBase &rewriter, const TargetModel &target)
      : rewriter(rewriter), target(target) {}

  LogicalResult lower(linalg::LinalgOp op);

private:
  LogicalResult lowerGeneric(linalg::GenericOp op);
  bool emitLoops(linalg::GenericOp &op, MutableArrayRef<Value> initial,
                 std::optional<unsigned> packed, bool addsZero,
                 linalg::GenericOp epilogue);
  void eraseSums(Value memory);

  RewriterBase &rewriter;
  const TargetModel &target;
  /// Elementwise ops that aren't lowered yet, by the product before each of
  /// them, which may compute them from its registers.
  llvm::SmallDenseMap<Operation *, linalg::GenericOp> epilogues;
};
} // namespace

/// Plans and emits the loops of an op. Returns whether they compute the
/// epilogue, too: they do if each sum is stored only once, and begins with a
/// number. If they don't, the product is planned without the epilogue's inputs,
/// and replaced by `op`.
bool LoopLowering::emitLoops(linalg::GenericOp &op,
                             MutableArrayRef<Value> initial,
                             std::optional<unsigned> packed, bool addsZero,
                             linalg::GenericOp epilogue) {
  LoopPlan plan = planBlocks(rewriter, op, initial, target, packed);
  std::optional<Epilogue> computed;
  if (countEpilogueInputs(op) > 0) {
    if (plan.blocks.empty() && initial.front())
      computed = getEpilogue(op, epilogue, plan.vectorAxis);
    if (!computed) {
      op = dropEpilogueInputs(rewriter, op);
      plan = planBlocks(rewriter, op, initial, target, packed);
    }
  }
  plan.addsZero = addsZero;
  if (plan.sharesWindows)
    op->getParentOfType<func::FuncOp>()->setAttr(
        "passthrough", rewriter.getStrArrayAttr({kSharesWindowsAttrName}));
  numberSum(op, getAddressOrder(op, plan.reductions, /*lanes=*/1,
                                /*vectors=*/1));
  LoopEmitter emitter(rewriter, op, plan, initial, target);
  if (computed)
    emitter.takeEpilogue(std::move(*computed));
  emitter.emit();
  return computed.has_value();
}

/// Erases the memory of sums that are no longer stored, and views of it.
void LoopLowering::eraseSums(Value memory) {
  while (Operation *op = memory.getDefiningOp()) {
    auto view = dyn_cast<ViewLikeOpInterface>(op);
    if (!op->use_empty() || !(view || isa<memref::AllocOp>(op)))
      return;
    memory = view ? view.getViewSource() : Value();
    rewriter.eraseOp(op);
    if (!view)
      return;
  }
}

LogicalResult LoopLowering::lowerGeneric(linalg::GenericOp op) {
  linalg::GenericOp epilogue;
  if (auto found = epilogues.find(op); found != epilogues.end()) {
    epilogue = found->second;
    // Another op may get the address of one that is erased.
    epilogues.erase(found);
    op = addEpilogueInputs(rewriter, op, epilogue);
  }
  bool addsZero = op->hasAttr(kAddsZeroAttrName);
  SmallVector<Value> initial = takeInitialValues(rewriter, op);
  std::optional<unsigned> packed = packDirectly(rewriter, op, initial, target);
  if (!packed) {
    if (epilogueHindersJoins(op))
      op = dropEpilogueInputs(rewriter, op);
    op = joinAxes(rewriter, op);
  }
  bool computes = false;
  if (packed || (!emitTranspose(rewriter, op, target) &&
                 !emitRowReduction(rewriter, op, initial, target)))
    computes = emitLoops(op, initial, packed, addsZero, epilogue);
  Value sums = op.getDpsInits().front();
  rewriter.eraseOp(op);
  if (!epilogue)
    return success();
  if (!computes)
    return lower(cast<linalg::LinalgOp>(epilogue.getOperation()));
  rewriter.eraseOp(epilogue);
  eraseSums(sums);
  return success();
}

LogicalResult LoopLowering::lower(linalg::LinalgOp op) {
  if (eraseUnread(rewriter, op))
    return success();
  rewriter.setInsertionPoint(op);
  auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
  if (!generic) {
    FailureOr<linalg::GenericOp> made = linalg::generalizeNamedOp(rewriter, op);
    if (failed(made))
      return failure();
    generic = *made;
  }
  if (moveAddedZero(rewriter, generic))
    return success();
  if (linalg::GenericOp product = findProductOfEpilogue(generic)) {
    epilogues[product] = generic;
    return success();
  }
  return lowerGeneric(generic);
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
      LoopLowering lowering(rewriter, target);
      for (linalg::LinalgOp op : llvm::reverse(ops)) {
        if (succeeded(lowering.lower(op)))
          continue;
        op.emitOpError("has no lowering to loops");
        return signalPassFailure();
      }
    }
  }
};
} // namespace
