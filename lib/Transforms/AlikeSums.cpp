//===- AlikeSums.cpp - Reductions that read the same tensor ---------------===//

#include "AlikeSums.h"
#include "Kernels.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace mlir::hfta;

/// Reductions behind one among which those are that read what it reads.
static constexpr size_t kNeighbours = 16;

/// The large tensors that a reduction's terms are made of, as far as ops lead
/// to them that nothing else needs.
static SmallPtrSet<const void *, 4> findTerms(ReduceOp reduce) {
  SmallPtrSet<const void *, 4> terms;
  SmallVector<Value> left = {reduce.getInput()};
  int64_t count = reduce.getInput().getType().getNumElements();
  while (!left.empty()) {
    Value value = left.pop_back_val();
    if (cast<RankedTensorType>(value.getType()).getNumElements() != count)
      continue;
    Operation *op = value.getDefiningOp();
    bool isOwn = op && isa<ElementwiseOpInterface>(op) && op->hasOneUse();
    if (op && (isOwn || isRepeated(op)))
      llvm::append_range(left, op->getOperands());
    else
      terms.insert(value.getAsOpaquePointer());
  }
  return terms;
}

bool hfta::readAlike(ReduceOp one, ReduceOp other) {
  if (one.getAxes() != other.getAxes() ||
      one.getInput().getType().getShape() !=
          other.getInput().getType().getShape() ||
      isArrayed(one.getResult()) != isArrayed(other.getResult()))
    return false;
  SmallPtrSet<const void *, 4> terms = findTerms(one);
  return llvm::any_of(findTerms(other),
                      [&](const void *term) { return terms.contains(term); });
}

/// What uses a sum before another one is made, in the block's order; nothing
/// where that can't wait for the other one, or is large.
static FailureOr<SmallVector<Operation *>> findWaiting(ReduceOp sum,
                                                       ReduceOp other) {
  int64_t most = sum.getType().getNumElements();
  llvm::SetVector<Operation *> found;
  SmallVector<Operation *> left(sum->getUsers());
  while (!left.empty()) {
    Operation *op = left.pop_back_val();
    if (op == other)
      return failure();
    if (!op->isBeforeInBlock(other) || !found.insert(op))
      continue;
    bool isSmall = llvm::all_of(op->getResultTypes(), [&](Type type) {
      return isRepeated(op) ||
             cast<RankedTensorType>(type).getNumElements() <= most;
    });
    if (!isSmall || !(isa<ElementwiseOpInterface>(op) || isRepeated(op) ||
                      isa<ReduceOp, WriteOp>(op)))
      return failure();
    llvm::append_range(left, op->getUsers());
  }
  SmallVector<Operation *> waiting = found.takeVector();
  llvm::sort(waiting,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return waiting;
}

/// Whether a variable's write can go behind all ops up to another one.
static bool canMoveBehind(WriteOp write, Operation *last) {
  for (Operation *op = write->getNextNode(); op != last; op = op->getNextNode())
    if (auto read = dyn_cast<ReadOp>(op)) {
      if (read.getVariable() == write.getVariable())
        return false;
    } else if (auto other = dyn_cast<WriteOp>(op)) {
      if (other.getVariable() == write.getVariable())
        return false;
    }
  return true;
}

void hfta::gatherSums(func::FuncOp task) {
  SmallVector<ReduceOp> sums(task.getOps<ReduceOp>());
  for (auto [number, sum] : llvm::enumerate(sums))
    for (ReduceOp other :
         ArrayRef(sums).drop_front(number + 1).take_front(kNeighbours)) {
      if (!readAlike(sum, other))
        continue;
      FailureOr<SmallVector<Operation *>> waiting = findWaiting(sum, other);
      if (failed(waiting) ||
          llvm::any_of(*waiting, [other = other](Operation *op) {
            auto write = dyn_cast<WriteOp>(op);
            return write && !canMoveBehind(write, other);
          }))
        continue;
      Operation *last = other;
      for (Operation *op : *waiting) {
        op->moveAfter(last);
        last = op;
      }
    }
}
