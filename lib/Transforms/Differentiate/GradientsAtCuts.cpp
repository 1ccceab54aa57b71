//===- GradientsAtCuts.cpp - Gradients that pass back over cuts -----------===//

#include "Differentiate/GradientsAtCuts.h"

#include "Tasks/TaskSplitter.h"

using namespace mlir;
using namespace mlir::hfta;

namespace {

class GradientMover {
public:
  GradientMover(TaskBuilder &tasks, Block &step, TaskTags &tags)
      : tasks(tasks), tags(tags) {
    for (auto write : step.getOps<WriteOp>())
      written.insert(write.getVariable());
  }

  /// Moves all ops that can be moved, in program order, as a move may make it
  /// possible to move the next op, too.
  void run(Block &step) {
    for (Operation &op : llvm::make_early_inc_range(step.without_terminator()))
      if (std::optional<int64_t> block = findGiver(op);
          block && canMove(op, *block))
        move(op, *block);
  }

private:
  bool isBackward(Operation *op) const {
    return tags.lookup(op).part == TaskPart::backward;
  }
  /// Whether an op is part of a block's backward. Ops without operands, such as
  /// constants, count as part of none.
  bool isGradientOf(Operation *op, int64_t block) const {
    return isBackward(op) && op->getNumOperands() > 0 &&
           tags.lookup(op).block == block;
  }
  std::optional<int64_t> findGiver(Operation &op) const;
  bool canMove(Operation &op, int64_t block);
  void move(Operation &op, int64_t block);
  bool isAtHand(Value value, int64_t block, Operation &from);
  bool isRead(Value value, int64_t block) const;

  TaskBuilder &tasks;
  TaskTags &tags;
  DenseSet<StringRef> written; ///< variables that the step writes
  /// The op that canMove examines, and the ops to be moved with it because
  /// nothing else uses them.
  SmallVector<Operation *> toMove;
};

} // namespace

/// Returns the other block whose backward computes gradient operands of `op`.
/// Returns nothing if there is none or more than one, or if `op` isn't a cheap
/// or moving op of a backward.
std::optional<int64_t> GradientMover::findGiver(Operation &op) const {
  if (!isBackward(&op) || op.getNumResults() != 1 ||
      !(isMovement(&op) || isCheap(&op)))
    return std::nullopt;
  std::optional<int64_t> giver;
  for (Value operand : op.getOperands()) {
    Operation *from = operand.getDefiningOp();
    if (!isBackward(from) || from->getNumOperands() == 0)
      continue;
    int64_t block = tags.lookup(from).block;
    if (block == tags.lookup(&op).block)
      continue;
    if (giver && *giver != block)
      return std::nullopt;
    giver = block;
  }
  return giver;
}

/// Whether the backward of `block`, the one after the cut, can compute `op`
/// without more memory: it has all operands at hand, no other block uses the
/// gradients among these, and the result is no larger than they are. Sets
/// `toMove`.
bool GradientMover::canMove(Operation &op, int64_t block) {
  toMove = {&op};
  int64_t taken = 0;
  for (Value operand : op.getOperands()) {
    Operation *from = operand.getDefiningOp();
    if (isGradientOf(from, block)) {
      bool isForIt = llvm::all_of(operand.getUsers(), [&](Operation *user) {
        return user == &op || tags.lookup(user).block == block;
      });
      if (!isForIt)
        return false;
      taken += getLogicalBytes(operand.getType());
    } else if (!isAtHand(operand, block, op)) {
      return false;
    }
  }
  return getLogicalBytes(op.getResult(0).getType()) <= taken;
}

/// Moves `op`, with all of `toMove`, to directly after the gradients that it
/// uses, so that their memory can be freed. All other operands come from the
/// forward, or are moved, too.
void GradientMover::move(Operation &op, int64_t block) {
  llvm::sort(toMove,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  Operation *last = nullptr;
  for (Value operand : op.getOperands()) {
    Operation *from = operand.getDefiningOp();
    if (isGradientOf(from, block) && (!last || last->isBeforeInBlock(from)))
      last = from;
  }
  for (Operation *moved : toMove) {
    // Constants and reads of scalars that don't change can be moved anywhere.
    for (Value operand : moved->getOperands())
      if (Operation *leaf = operand.getDefiningOp();
          leaf->getNumOperands() == 0 && last->isBeforeInBlock(leaf))
        leaf->moveBefore(last);
    moved->moveAfter(last);
    last = moved;
    tags[moved].block = block;
  }
}

/// Whether the backward of `block` has a value at hand, or can compute it
/// cheaply from such values. Adds to `toMove` the ops that have to be moved for
/// that: ops of the same backward as `from` that nothing else uses.
bool GradientMover::isAtHand(Value value, int64_t block, Operation &from) {
  Operation *op = value.getDefiningOp();
  if (auto read = dyn_cast<ReadOp>(op)) {
    Role role = tasks.lookup(read.getVariable()).getRole();
    return (role == Role::scalar || role == Role::constant) &&
           !written.contains(read.getVariable());
  }
  if (!isBackward(op) && isRead(value, block))
    return true;
  if (isBackward(op) && op->getNumOperands() > 0) {
    bool servesIt = llvm::all_of(op->getUsers(), [&](Operation *user) {
      return llvm::is_contained(toMove, user);
    });
    if (!servesIt || tags.lookup(op).block != tags.lookup(&from).block)
      return false;
    toMove.push_back(op);
  }
  return (isMovement(op) || isCheap(op) || op->getNumOperands() == 0) &&
         llvm::all_of(op->getOperands(), [&](Value operand) {
           return isAtHand(operand, block, from);
         });
}

/// Whether an op of the block's backward uses `value`, a value of the forward.
bool GradientMover::isRead(Value value, int64_t block) const {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    return isBackward(user) && tags.lookup(user).block == block;
  });
}

void hfta::moveGradientsBehindCuts(TaskBuilder &tasks, Block &step,
                                   TaskTags &tags) {
  GradientMover(tasks, step, tags).run(step);
}
