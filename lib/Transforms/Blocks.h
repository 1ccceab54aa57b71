//===- Blocks.h - Cuts a forward pass into blocks ---------------*- C++ -*-===//

#ifndef HFTA_LIB_TRANSFORMS_BLOCKS_H
#define HFTA_LIB_TRANSFORMS_BLOCKS_H

#include "TaskBuilder.h"
#include "TaskTags.h"

namespace mlir::hfta {

/// Removes ops whose results nobody uses, but for what computes `kept`.
void eraseDeadOps(Block &block, Value kept = {});

/// How many blocks are noted on a model's ops; 1 where none are. Diagnoses
/// blocks that have no op.
FailureOr<int64_t> countBlocks(ModelOp model);

/// Gives each op of a forward pass, in a function of its own so far, its block:
/// what is noted on it, and is taken off; without a note, the last block of
/// what it depends on. Tags are of `part`.
void assignBlocks(TaskBuilder &tasks, Block &pass, TaskPart part,
                  TaskTags &tags);

/// Gives each op its block so that each but the last has trained variables with
/// gradients of at least so many bytes, and there are few blocks; returns how
/// many. Ops keep their order.
int64_t assignBlocksBySize(TaskBuilder &tasks, Block &pass, TaskPart part,
                           int64_t bytes, TaskTags &tags);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_BLOCKS_H
