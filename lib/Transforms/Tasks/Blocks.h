//===- Blocks.h - Cuts a forward pass into blocks ---------------*- C++ -*-===//

#ifndef HFTA_LIB_TRANSFORMS_TASKS_BLOCKS_H
#define HFTA_LIB_TRANSFORMS_TASKS_BLOCKS_H

#include "Tasks/TaskBuilder.h"
#include "Tasks/TaskTags.h"

namespace mlir::hfta {

/// Erases ops without uses, from the last to the first, so that chains of
/// unused ops disappear. Keeps writes, hfta.layer, the terminator and, if
/// `kept` is given, the op that computes it.
void eraseDeadOps(Block &block, Value kept = {});

/// Returns the number of blocks that the `hfta.block` attributes of a model's
/// ops name; 1 if there are none. Emits an error and fails if a block has no
/// op.
FailureOr<int64_t> countBlocks(ModelOp model);

/// Tags each op of `pass`, a forward pass that isn't divided into tasks yet,
/// with `part` and its block: that of its attribute `hfta.block`, which is
/// removed, or else the last block among its operands'. Ops that depend on no
/// data of the micro-batch get the first block that uses them.
void assignBlocks(TaskBuilder &tasks, Block &pass, TaskPart part,
                  TaskTags &tags);

/// Tags each op of `pass` with `part` and a block, and returns the number of
/// blocks, at most 8. Blocks follow from the trained variables that ops use: in
/// each block but the last, these have gradients of at least `bytes` bytes
/// together. Ops keep their order.
int64_t assignBlocksBySize(TaskBuilder &tasks, Block &pass, TaskPart part,
                           int64_t bytes, TaskTags &tags);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_TASKS_BLOCKS_H
