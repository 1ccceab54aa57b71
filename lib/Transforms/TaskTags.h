//===- TaskTags.h - The tasks of undivided functions' ops -------*- C++ -*-===//
//
// hfta-differentiate builds a whole training step, and a whole evaluation, as
// one function each. Attributes of its ops, `hfta.part` and `hfta.block`, say
// which task each goes to; passes in between may move ops to other blocks.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_TRANSFORMS_TASKTAGS_H
#define HFTA_LIB_TRANSFORMS_TASKTAGS_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::hfta {

/// On an op that adds to a gradient: the gradient's number among all, in
/// forward order. Norms are added up in this order, and updates follow it.
constexpr StringLiteral kGradientOrderAttrName = "hfta.gradient_order";

/// The task that an op belongs to.
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

/// Reads the tags noted on the ops of an undivided function. Diagnoses an op
/// without one, a part that doesn't belong in the function, and a value that
/// goes against the order of blocks: from a later block to an earlier one in
/// the forward, from an earlier one to a later one in the backward.
FailureOr<TaskTags> readTags(func::FuncOp function);

/// Removes the attributes of ops that are for passes between hfta-differentiate
/// and hfta-split-tasks.
void removeTags(Operation *op);

/// Returns one more than the last block of any op.
int64_t countBlocks(const TaskTags &tags);

/// Returns the module's function of a part and of no block; null if there is
/// none.
func::FuncOp findUndivided(ModuleOp module, StringRef part);

/// Merges neighbouring blocks, in all undivided functions: `mergedInto` has
/// each block's new number. The numbers begin with 0 and rise by 0 or 1 from
/// block to block. Everything that was built for the blocks, such as gradients,
/// is renumbered, and the cuts inside merged blocks are removed from
/// `hfta.cuts`.
void mergeBlocks(ModuleOp module, ArrayRef<int64_t> mergedInto);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_TASKTAGS_H
