//===- TaskSplitter.h - Deals the ops of a pass out to tasks ----*- C++ -*-===//

#ifndef HFTA_LIB_TRANSFORMS_TASKSPLITTER_H
#define HFTA_LIB_TRANSFORMS_TASKSPLITTER_H

#include "TaskBuilder.h"
#include "TaskTags.h"

namespace mlir::hfta {

/// Nothing is gained by keeping the op's result; of a float that was rounded to
/// a narrower type there is: its operand is larger.
bool isMovement(Operation *op);

/// A few instructions an element, worth less than keeping the result.
bool isCheap(Operation *op);

/// What the backward needs of an op of its block's forward it finds as the op's
/// `hfta.keep` says. Saved or spilled, the forward leaves it. What is to be
/// computed again is computed by recompute.b, or by the backward itself where
/// that is cheap; but for what is there anyway, because it crosses a cut or
/// statistics take it. Where an op says nothing, the forward leaves what isn't
/// cheap.
class TaskSplitter {
public:
  TaskSplitter(TaskBuilder &tasks, const TaskTags &tags, int64_t blocks)
      : tasks(tasks), tags(tags), blocks(blocks), recomputed(blocks) {}

  /// Clones the ops of `block`, in order, into new functions, one of each of
  /// `parts` a block: forward.b, backward.b and so on; statistics.b and
  /// recompute.b of blocks that have some alone. `block` is left as it was.
  void split(Block &block, ArrayRef<TaskPart> parts);

private:
  struct Task {
    func::FuncOp function;
    IRMapping mapping;
  };

  size_t indexOf(TaskTag tag) const {
    return static_cast<size_t>(tag.part) * blocks + tag.block;
  }
  void startTasks(Block &block, ArrayRef<TaskPart> parts);
  bool needsTask(Block &block, TaskTag tag) const;
  std::optional<Keep> getKeep(Operation *op) const;
  bool isKept(Operation *op, TaskTag into) const;
  void orderRecomputed(Block &block, Task &task);
  void eraseUnused();
  /// Is the op made anew wherever its result is used?
  bool isLeaf(Operation *op) const;
  /// Can it be made anew there?
  bool isLeafIn(Operation *op, TaskTag into) const;
  /// The value in the task: defined there, recomputed, or read from a variable.
  Value import(Value value, TaskTag into);
  void clone(Operation &op, IRMapping &mapping);
  bool shouldRecompute(Operation *op, TaskTag into) const;
  bool isComputedAgain(Value value, TaskTag into) const;
  TaskTag findGiver(Value value, TaskTag into) const;
  bool canMoveIn(Operation *op, TaskTag into) const;
  bool isAtHand(Value value, TaskTag into) const;
  bool isAvailable(Value value, TaskTag into) const;
  /// The variable that carries a value from its task to others.
  VariableOp carry(Value value, TaskTag into);
  VariableOp findCarried(Value value, TaskTag into) const;
  VariableOp declareCarried(Value value, TaskTag from, Role role);
  VariableOp declareExchanged(Value value);
  void setInsertionPointToEnd(TaskTag tag);

  TaskBuilder &tasks;
  const TaskTags &tags;
  int64_t blocks;
  /// Of each block, whether some op of its forward is to be computed again.
  std::vector<bool> recomputed;
  std::vector<Task> all; ///< by part, then block; of some there is no function
  DenseSet<StringRef> written; ///< variables that the step writes
  /// Variables and values that some task of a block reads.
  DenseSet<std::pair<StringRef, int64_t>> usedIn;
  DenseSet<std::pair<Value, int64_t>> present;
  DenseMap<Value, VariableOp> carried;
  DenseMap<Value, VariableOp> again; ///< what recompute.b has for the backward
  DenseMap<Value, VariableOp> exchanged; ///< for the statistics' tasks
};

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_TASKSPLITTER_H
