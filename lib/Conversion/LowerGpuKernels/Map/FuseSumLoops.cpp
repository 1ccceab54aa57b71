//===- FuseSumLoops.cpp - One loop for sums of the same terms -------------===//

#include "Hfta/Conversion/LowerGpuKernels.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "llvm/ADT/SetVector.h"

namespace mlir::hfta {
#define GEN_PASS_DEF_HFTAFUSESUMLOOPS
#include "Hfta/Conversion/Passes.h.inc"
} // namespace mlir::hfta

using namespace mlir;
using namespace mlir::hfta;

/// Returns the memory that an op loads one or several elements from; null for
/// other ops.
static Value getRead(Operation *op) {
  if (auto load = dyn_cast<memref::LoadOp>(op))
    return load.getMemRef();
  auto load = dyn_cast<vector::LoadOp>(op);
  return load ? load.getBase() : Value();
}

/// Returns the memory that an op stores one or several elements to; null for
/// other ops.
static Value getStored(Operation *op) {
  if (auto store = dyn_cast<memref::StoreOp>(op))
    return store.getMemRef();
  auto store = dyn_cast<vector::StoreOp>(op);
  return store ? store.getBase() : Value();
}

/// Returns whether `memory` is an argument of a function.
static bool isArgument(Value memory) {
  auto argument = dyn_cast_or_null<BlockArgument>(memory);
  return argument && argument.getOwner()->isEntryBlock() &&
         isa<func::FuncOp>(argument.getOwner()->getParentOp());
}

/// Returns whether an op can be moved past other loops: it has no effects, and
/// reads nothing but the kernel's arguments.
static bool isMovable(Operation *op) {
  WalkResult result = op->walk([](Operation *inner) {
    bool isFree = isArgument(getRead(inner)) ||
                  inner->hasTrait<OpTrait::HasRecursiveMemoryEffects>() ||
                  isMemoryEffectFree(inner);
    return isFree ? WalkResult::advance() : WalkResult::interrupt();
  });
  return !result.wasInterrupted();
}

/// Returns whether an op between two ops of a block stores to an argument.
static bool storesBetween(Operation *first, Operation *last) {
  for (Operation *op = first->getNextNode(); op != last; op = op->getNextNode())
    if (op->walk([](Operation *inner) {
            return isArgument(getStored(inner)) ? WalkResult::interrupt()
                                                : WalkResult::advance();
          }).wasInterrupted())
      return true;
  return false;
}

/// Returns the ops of the block that have to move together with `loop` to the
/// place of `to`, in their order. Fails if one of them can't be moved.
static FailureOr<SmallVector<Operation *>> findMoved(scf::ForOp loop,
                                                     scf::ForOp to) {
  llvm::SetVector<Operation *> moved;
  SmallVector<Operation *> left = {loop};
  while (!left.empty()) {
    Operation *op = left.pop_back_val();
    if (op == to || !isMovable(op))
      return failure();
    if (!moved.insert(op))
      continue;
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands()) {
        Operation *made = operand.getDefiningOp();
        if (!made)
          continue;
        made = to->getBlock()->findAncestorOpInBlock(*made);
        if (made && made != op && !made->isBeforeInBlock(to))
          left.push_back(made);
      }
    });
  }
  SmallVector<Operation *> ordered = moved.takeVector();
  llvm::sort(ordered,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return ordered;
}

/// Returns whether two loops have equal bounds and steps.
static bool isAlike(scf::ForOp one, scf::ForOp other) {
  return one.getLowerBound() == other.getLowerBound() &&
         one.getUpperBound() == other.getUpperBound() &&
         one.getStep() == other.getStep() &&
         one.getUnsignedCmp() == other.getUnsignedCmp();
}

namespace {
struct FuseSumLoopsPass : hfta::impl::HftaFuseSumLoopsBase<FuseSumLoopsPass> {
  using HftaFuseSumLoopsBase::HftaFuseSumLoopsBase;

  void runOnOperation() override {
    for (Block &block : getOperation().getBody())
      fuse(block);
  }

private:
  /// Fuses loops of the block, then the loops nested in these.
  void fuse(Block &block) {
    SmallVector<scf::ForOp> loops(block.getOps<scf::ForOp>());
    for (auto [number, first] : llvm::enumerate(loops)) {
      if (!first || first.getNumResults() == 0)
        continue;
      for (scf::ForOp &second : MutableArrayRef(loops).drop_front(number + 1))
        if (second && second.getNumResults() > 0 && isAlike(first, second) &&
            succeeded(join(first, second)))
          second = nullptr;
    }
    for (Operation &op : block)
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          fuse(inner);
  }

  /// Fuses `second` into `first`, which becomes the fused loop. Fails if that
  /// would change what is read.
  LogicalResult join(scf::ForOp &first, scf::ForOp second) {
    FailureOr<SmallVector<Operation *>> moved = findMoved(second, first);
    if (failed(moved) || !isMovable(first) || storesBetween(first, second))
      return failure();
    for (Operation *op : *moved)
      op->moveBefore(first);
    IRRewriter rewriter(&getContext());
    first = fuseIndependentSiblingForLoops(second, first, rewriter);
    return success();
  }
};
} // namespace
