//===- AlikeSums.cpp - Reductions that read the same tensor ---------------===//

#include "Kernels/AlikeSums.h"
#include "Kernels/Kernels.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace mlir::hfta;

/// The number of following reductions with which each reduction is compared.
static constexpr size_t kNeighbours = 16;

static int64_t countElements(Value value) {
  return cast<RankedTensorType>(value.getType()).getNumElements();
}

Value hfta::getSummed(Operation *op) {
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return reduce.getInput();
  if (auto parts = dyn_cast<PartSumsOp>(op))
    return parts.getInput();
  return Value();
}

/// Finds the tensors, each as large as `summed`, from which a reduction's input
/// `summed` is computed element by element. Looks through ops that the
/// reduction's kernel would compute itself: elementwise ops with a single use,
/// and ops that every kernel recomputes.
static SmallPtrSet<const void *, 4> findTerms(Value summed) {
  SmallPtrSet<const void *, 4> terms, seen;
  SmallVector<Value> left = {summed};
  int64_t count = countElements(summed);
  while (!left.empty()) {
    Value value = left.pop_back_val();
    if (countElements(value) != count ||
        !seen.insert(value.getAsOpaquePointer()).second)
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

/// Whether two reductions, with inputs of equal shape, add up the same elements
/// to each sum: they have equal axes, or equal parts.
static bool areOfSameTerms(Operation *one, Operation *other) {
  if (auto reduce = dyn_cast<ReduceOp>(one)) {
    auto second = dyn_cast<ReduceOp>(other);
    return second && reduce.getAxes() == second.getAxes();
  }
  auto parts = cast<PartSumsOp>(one);
  auto second = dyn_cast<PartSumsOp>(other);
  return second && parts.getLength() == second.getLength() &&
         parts.getColumn() == second.getColumn();
}

static bool areAlike(Operation *one, Operation *other) {
  return areOfSameTerms(one, other) &&
         cast<RankedTensorType>(getSummed(one).getType()).getShape() ==
             cast<RankedTensorType>(getSummed(other).getType()).getShape() &&
         isArrayed(one->getResult(0)) == isArrayed(other->getResult(0));
}

bool hfta::readAlike(Operation *one, Operation *other) {
  if (!areAlike(one, other))
    return false;
  SmallPtrSet<const void *, 4> terms = findTerms(getSummed(one));
  return llvm::any_of(findTerms(getSummed(other)),
                      [&](const void *term) { return terms.contains(term); });
}

bool hfta::areSmallAndAlike(Operation *one, Operation *other) {
  constexpr int64_t kSmall = 1 << 16;
  return isa<ReduceOp>(one) && areAlike(one, other) &&
         countElements(getSummed(one)) <= kSmall;
}

namespace {
/// The order of a task's ops, updated as ops are moved. Replaces
/// Operation::isBeforeInBlock, which would renumber the whole block after each
/// move.
class MovedOrder {
public:
  explicit MovedOrder(Block &block) : block(block) { number(); }
  bool isBefore(Operation *a, Operation *b) const {
    return places.lookup(a) < places.lookup(b);
  }

  /// Moves ops, which are in program order, behind `other` and behind the ops
  /// that were moved there before, as far as none of these uses one of them.
  void moveBehind(ArrayRef<Operation *> ops, Operation *other) {
    Operation *place = other;
    while (Operation *next = place->getNextNode()) {
      if (!moved.contains(next) || usesAny(next, ops))
        break;
      place = next;
    }
    for (Operation *op : ops) {
      move(op, place);
      place = op;
    }
    moved.insert(ops.begin(), ops.end());
  }

private:
  static bool usesAny(Operation *op, ArrayRef<Operation *> ops) {
    return llvm::any_of(op->getOperands(), [&](Value operand) {
      return llvm::is_contained(ops, operand.getDefiningOp());
    });
  }

  void number() {
    for (auto [index, op] : llvm::enumerate(block))
      places[&op] = static_cast<double>(index);
  }

  /// Moves an op behind `place`, with a number between those of its neighbours.
  void move(Operation *op, Operation *place) {
    op->moveAfter(place);
    double before = places.lookup(place);
    Operation *after = op->getNextNode();
    double next = after ? places.lookup(after) : before + 2;
    double own = before + (next - before) / 2;
    places[op] = own;
    // After many moves to one place no number is left between two neighbours.
    if (own <= before || own >= next)
      number();
  }

  Block &block;
  DenseMap<Operation *, double> places;
  SmallPtrSet<Operation *, 8> moved;
};
} // namespace

/// Returns the direct and indirect users of `sum` that come before `other`, in
/// program order: the ops to be moved behind `other`. Fails if `other` depends
/// on `sum`, or if one of these ops can't be moved: it is neither elementwise
/// nor a reduction nor a write nor recomputed by kernels, or its result is
/// larger than the sum.
static FailureOr<SmallVector<Operation *>>
findWaiting(Operation *sum, Operation *other, const MovedOrder &order) {
  int64_t most = countElements(sum->getResult(0));
  llvm::SetVector<Operation *> found;
  SmallVector<Operation *> left(sum->getUsers());
  while (!left.empty()) {
    Operation *op = left.pop_back_val();
    if (op == other)
      return failure();
    if (!order.isBefore(op, other) || !found.insert(op))
      continue;
    bool isSmall = llvm::all_of(op->getResultTypes(), [&](Type type) {
      return isRepeated(op) ||
             cast<RankedTensorType>(type).getNumElements() <= most;
    });
    if (!isSmall || !(isa<ElementwiseOpInterface, WriteOp>(op) ||
                      getSummed(op) || isRepeated(op)))
      return failure();
    llvm::append_range(left, op->getUsers());
  }
  SmallVector<Operation *> waiting = found.takeVector();
  llvm::sort(waiting,
             [&](Operation *a, Operation *b) { return order.isBefore(a, b); });
  return waiting;
}

void hfta::gatherSums(func::FuncOp task, const WriteSet &fixedWrites) {
  SmallVector<Operation *> sums;
  DenseMap<Operation *, size_t> writesBefore;
  size_t writes = 0;
  for (Operation &op : task.getBody().front()) {
    writes += fixedWrites.contains(&op);
    if (!getSummed(&op))
      continue;
    sums.push_back(&op);
    writesBefore[&op] = writes;
  }
  MovedOrder order(task.getBody().front());
  for (auto [number, sum] : llvm::enumerate(sums))
    for (Operation *other :
         ArrayRef(sums).drop_front(number + 1).take_front(kNeighbours)) {
      if (writesBefore[sum] != writesBefore[other] ||
          !order.isBefore(sum, other) || !readAlike(sum, other))
        continue;
      FailureOr<SmallVector<Operation *>> waiting =
          findWaiting(sum, other, order);
      if (failed(waiting))
        continue;
      order.moveBehind(*waiting, other);
    }
}
