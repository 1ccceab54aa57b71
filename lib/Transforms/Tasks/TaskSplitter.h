//===- TaskSplitter.h - Distributes the ops of a step to tasks --*- C++ -*-===//

#ifndef HFTA_LIB_TRANSFORMS_TASKS_TASKSPLITTER_H
#define HFTA_LIB_TRANSFORMS_TASKS_TASKSPLITTER_H

#include "Tasks/TaskBuilder.h"
#include "Tasks/TaskTags.h"

namespace mlir::hfta {

/// Returns whether the op only moves or casts elements, so that saving its
/// result is no better than saving its operand. A float that is rounded to a
/// narrower type is worth saving, as its operand is larger.
bool isMovement(Operation *op);

/// Returns whether the op has so few instructions per element that recomputing
/// it costs less than saving its result.
bool isCheap(Operation *op);

/// Distributes ops to tasks. The attribute `hfta.keep` of a forward op says how
/// the backward of its block gets the result. If it is to be saved or spilled,
/// the forward saves it. If it is to be recomputed, `recompute.b` recomputes
/// it, or the backward itself if that is cheap, unless the value exists anyway
/// because it crosses a cut or statistics use it. Without `hfta.keep`, the
/// forward saves everything that isn't cheap.
class TaskSplitter {
public:
  TaskSplitter(TaskBuilder &tasks, const TaskTags &tags, int64_t blocks)
      : tasks(tasks), tags(tags), blocks(blocks), recomputed(blocks) {}

  /// Clones the ops of `block`, in order, into new functions, one for each of
  /// `parts` and each block: forward.b, backward.b and so on. Blocks without
  /// such ops get no statistics.b and recompute.b. `block` isn't changed.
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
  /// Returns whether the op is repeated in each task that uses its result.
  bool isLeaf(Operation *op) const;
  /// Returns whether the op can be repeated in the task.
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
  /// Returns the variable that carries a value from its task to others. If
  /// there is none yet, declares it and lets the value's task write it.
  VariableOp carry(Value value, TaskTag into);
  VariableOp findCarried(Value value, TaskTag into) const;
  VariableOp declareCarried(Value value, TaskTag from, Role role);
  VariableOp declareExchanged(Value value);
  void setInsertionPointToEnd(TaskTag tag);

  TaskBuilder &tasks;
  const TaskTags &tags;
  int64_t blocks;
  /// For each block, whether some op of its forward has to be recomputed.
  std::vector<bool> recomputed;
  std::vector<Task> all;       ///< by part, then block
  DenseSet<StringRef> written; ///< variables that the step writes
  /// Variables, and values, that some task of a block reads.
  DenseSet<std::pair<StringRef, int64_t>> usedIn;
  DenseSet<std::pair<Value, int64_t>> present;
  DenseMap<Value, VariableOp> carried;
  DenseMap<Value, VariableOp> again;     ///< from recompute.b to the backward
  DenseMap<Value, VariableOp> exchanged; ///< carry values to statistics tasks
};

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_TASKS_TASKSPLITTER_H
