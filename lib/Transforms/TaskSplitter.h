//===- TaskSplitter.h - Deals a training step out to tasks ------*- C++ -*-===//

#ifndef HFTA_LIB_TRANSFORMS_TASKSPLITTER_H
#define HFTA_LIB_TRANSFORMS_TASKSPLITTER_H

#include "TaskBuilder.h"

namespace mlir::hfta {

/// Which task an op of the training step belongs to.
struct TaskTag {
  bool backward = false;
  int64_t block = 0;
  bool operator==(const TaskTag &other) const {
    return backward == other.backward && block == other.block;
  }
};

class TaskSplitter {
public:
  TaskSplitter(TaskBuilder &tasks, const DenseMap<Operation *, TaskTag> &tags,
               int64_t blocks)
      : tasks(tasks), tags(tags), blocks(blocks) {}

  /// Clones the ops of `block`, in order, into new functions forward.b and
  /// backward.b. `block` is left as it was.
  void split(Block &block);

private:
  struct Task {
    func::FuncOp function;
    IRMapping mapping;
  };

  size_t indexOf(TaskTag tag) const {
    return tag.backward * blocks + tag.block;
  }
  /// Is the op made anew wherever its result is used?
  bool isLeaf(Operation *op) const;
  /// The value in the task: defined there, recomputed, or read from a variable.
  Value import(Value value, TaskTag into);
  bool shouldRecompute(Operation *op, TaskTag into) const;
  bool isAvailable(Value value, TaskTag into) const;
  /// The variable that carries a value from its task to others.
  VariableOp carry(Value value, TaskTag into);
  void setInsertionPointToEnd(TaskTag tag);

  TaskBuilder &tasks;
  const DenseMap<Operation *, TaskTag> &tags;
  int64_t blocks;
  std::vector<Task> all;
  DenseSet<StringRef> written; ///< variables that the step writes
  DenseMap<Value, VariableOp> carried;
};

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_TASKSPLITTER_H
