//===- TaskTags.h - Where ops of undivided functions go ---------*- C++ -*-===//
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

/// On what adds to a gradient: its number among all, in forward order, in which
/// norms are added up and updates follow each other.
constexpr StringLiteral kGradientOrderAttrName = "hfta.gradient_order";

/// Which task an op belongs to.
struct TaskTag {
  TaskPart part = TaskPart::forward;
  int64_t block = 0;
  bool operator==(const TaskTag &other) const {
    return part == other.part && block == other.block;
  }
};

using TaskTags = DenseMap<Operation *, TaskTag>;

/// Notes the tags on all ops of an undivided function but its return.
void noteTags(Block &pass, const TaskTags &tags);

/// The tags that are noted on the ops of an undivided function. Diagnoses an op
/// without one, a part that the function has no ops of, and a value that goes
/// against the order of blocks: from a later block to an earlier one on the way
/// forward, from an earlier one to a later one on the way back.
FailureOr<TaskTags> readTags(func::FuncOp function);

/// Takes off what stands on ops for passes between hfta-differentiate and
/// hfta-split-tasks.
void removeTags(Operation *op);

/// One more than the last block of any op.
int64_t countBlocks(const TaskTags &tags);

/// The module's function of a part and of no block; null if there is none.
func::FuncOp findUndivided(ModuleOp module, StringRef part);

/// Makes one block of neighbouring ones, in all undivided functions:
/// `mergedInto` has for each block its new number. The numbers begin with 0 and
/// rise by 0 or 1 from block to block. What was built for the blocks, such as
/// gradients, goes with them, and the cuts between them are no longer told.
void mergeBlocks(ModuleOp module, ArrayRef<int64_t> mergedInto);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_TASKTAGS_H
