//===- TaskSplitter.h - Distributes the ops of a pass to tasks --*- C++ -*-===//

#ifndef HFTA_LIB_TRANSFORMS_TASKSPLITTER_H
#define HFTA_LIB_TRANSFORMS_TASKSPLITTER_H

#include "TaskBuilder.h"
#include "TaskTags.h"

namespace mlir::hfta {

/// Whether nothing is gained by keeping the op's result. A float rounded to a
/// narrower type is worth keeping: its operand is larger.
bool isMovement(Operation *op);

/// Whether the op has so few instructions per element that they are worth less
/// than keeping the result.
bool isCheap(Operation *op);

/// Distributes ops to tasks. Values that the backward needs of its block's
/// forward are available as the op's `hfta.keep` says. Saved or spilled, the
/// forward leaves them. Values to be recomputed are recomputed by recompute.b,
/// or by the backward itself where that is cheap; except for those that exist
/// anyway, because they cross a cut or statistics use them. Without
/// `hfta.keep`, the forward leaves all that isn't cheap.
class TaskSplitter {
public:
  TaskSplitter(TaskBuilder &tasks, const TaskTags &tags, int64_t blocks)
      : tasks(tasks), tags(tags), blocks(blocks), recomputed(blocks) {}

  /// Clones the ops of `block`, in order, into new functions, one for each of
  /// `parts` and each block: forward.b, backward.b and so on; statistics.b and
  /// recompute.b only for blocks that have some. `block` is left as it was.
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
  /// Whether the op is repeated wherever its result is used.
  bool isLeaf(Operation *op) const;
  /// Whether it can be repeated in that task.
  bool isLeafIn(Operation *op, TaskTag into) const;
  /// Returns the counterpart of `value` in task `into`. If there is none yet,
  /// recomputes the value there, or reads it from a variable.
  Value import(Value value, TaskTag into);
  void clone(Operation &op, IRMapping &mapping);
  bool shouldRecompute(Operation *op, TaskTag into) const;
  bool isComputedAgain(Value value, TaskTag into) const;
  TaskTag findGiver(Value value, TaskTag into) const;
  bool canMoveIn(Operation *op, TaskTag into) const;
  bool isAtHand(Value value, TaskTag into) const;
  bool isAvailable(Value value, TaskTag into) const;
  /// Returns the variable that carries a value from its task to others.
  VariableOp carry(Value value, TaskTag into);
  VariableOp findCarried(Value value, TaskTag into) const;
  VariableOp declareCarried(Value value, TaskTag from, Role role);
  VariableOp declareExchanged(Value value);
  void setInsertionPointToEnd(TaskTag tag);

  TaskBuilder &tasks;
  const TaskTags &tags;
  int64_t blocks;
  /// For each block, whether some op of its forward is to be recomputed.
  std::vector<bool> recomputed;
  std::vector<Task> all;       ///< by part, then block; some have no function
  DenseSet<StringRef> written; ///< variables that the step writes
  /// Variables and values that some task of a block reads.
  DenseSet<std::pair<StringRef, int64_t>> usedIn;
  DenseSet<std::pair<Value, int64_t>> present;
  DenseMap<Value, VariableOp> carried;
  DenseMap<Value, VariableOp> again;     ///< from recompute.b to the backward
  DenseMap<Value, VariableOp> exchanged; ///< for the statistics' tasks
};

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_TASKSPLITTER_H
