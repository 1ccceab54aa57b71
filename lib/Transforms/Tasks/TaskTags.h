//===- TaskTags.h - The tasks of undivided functions' ops -------*- C++ -*-===//
//
// hfta-differentiate builds a whole training step, and a whole evaluation, as
// one function each. Attributes `hfta.part` and `hfta.block` of its ops name
// the task to which each op goes. Passes before hfta-split-tasks may move ops
// to other blocks.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_TRANSFORMS_TASKS_TASKTAGS_H
#define HFTA_LIB_TRANSFORMS_TASKS_TASKTAGS_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::hfta {

/// On an op that adds to a gradient, this attribute is the gradient's number in
/// forward order. Norms are added up in this order, and updates follow it.
constexpr StringLiteral kGradientOrderAttrName = "hfta.gradient_order";

/// The task to which an op belongs.
struct TaskTag {
  TaskPart part = TaskPart::forward;
  int64_t block = 0;
  bool operator==(const TaskTag &other) const {
    return part == other.part && block == other.block;
  }
};

using TaskTags = DenseMap<Operation *, TaskTag>;

/// Notes the tags on all ops of an undivided function, except for its return.
void noteTags(Block &pass, const TaskTags &tags);

/// Reads the tags noted on the ops of an undivided function. Reports ops
/// without tags, parts that don't belong in the function, and values that go
/// against the order of blocks: from a later to an earlier block in the
/// forward, from an earlier to a later block in the backward.
FailureOr<TaskTags> readTags(func::FuncOp function);

/// Removes the attributes that are only for passes between hfta-differentiate
/// and hfta-split-tasks.
void removeTags(Operation *op);

/// Returns one more than the number of the last block of any op.
int64_t countBlocks(const TaskTags &tags);

/// Returns the module's function for a part that belongs to no block, or null
/// if there is none.
func::FuncOp findUndivided(ModuleOp module, StringRef part);

/// Merges adjacent blocks in all undivided functions. `mergedInto` has the new
/// number of each block. The numbers begin with 0 and rise by 0 or 1 from block
/// to block. Everything that was built for the blocks, such as gradients, is
/// renumbered, and the cuts inside merged blocks are removed from `hfta.cuts`.
void mergeBlocks(ModuleOp module, ArrayRef<int64_t> mergedInto);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_TASKS_TASKTAGS_H
