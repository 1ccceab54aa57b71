//===- GradientsAtCuts.cpp - Gradients that pass back over cuts -----------===//

#include "GradientsAtCuts.h"

#include "TaskSplitter.h"

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

  /// Moves ops. A move may make it possible to move the next op, too.
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
  /// Whether an op is part of a block's backward; a constant is in no block.
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
  /// The op under consideration, and those that serve nothing else.
  SmallVector<Operation *> toMove;
};

} // namespace

/// Returns the later block that computes an op's gradient operands; nothing
/// where several blocks do, or the op's own.
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

/// Whether the block after the cut can compute the result of `op`, without
/// anything more in memory.
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

/// Moves an op to right after the gradients, whose memory can be freed then.
/// All its other operands come from the forward, or are moved, too.
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
    // Constants, and scalars that nothing changes, are equal everywhere.
    for (Value operand : moved->getOperands())
      if (Operation *leaf = operand.getDefiningOp();
          leaf->getNumOperands() == 0 && last->isBeforeInBlock(leaf))
        leaf->moveBefore(last);
    moved->moveAfter(last);
    last = moved;
    tags[moved].block = block;
  }
}

/// Whether the backward of a block has a value at hand, or computes it from
/// such values. Ops of the backward that `from` is in are moved with it if they
/// serve nothing else.
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

/// Whether a block's backward reads a value of the forward directly.
bool GradientMover::isRead(Value value, int64_t block) const {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    return isBackward(user) && tags.lookup(user).block == block;
  });
}

void hfta::moveGradientsBehindCuts(TaskBuilder &tasks, Block &step,
                                   TaskTags &tags) {
  GradientMover(tasks, step, tags).run(step);
}
