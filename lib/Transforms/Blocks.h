//===- Blocks.h - Cuts a forward pass into blocks ---------------*- C++ -*-===//

#ifndef HFTA_LIB_TRANSFORMS_BLOCKS_H
#define HFTA_LIB_TRANSFORMS_BLOCKS_H

#include "TaskBuilder.h"
#include "TaskTags.h"

namespace mlir::hfta {

/// Removes ops whose results are unused, except for those that compute `kept`.
void eraseDeadOps(Block &block, Value kept = {});

/// Returns how many blocks are noted on a model's ops; 1 where none are.
/// Diagnoses blocks that have no op.
FailureOr<int64_t> countBlocks(ModelOp model);

/// Tags each op of a forward pass, in a function of its own so far, with its
/// block: the one noted on it, which note is removed; without a note, the last
/// block among its operands'. Tags have the part `part`.
void assignBlocks(TaskBuilder &tasks, Block &pass, TaskPart part,
                  TaskTags &tags);

/// Tags each op with its block so that each but the last has trained variables
/// with gradients of at least `bytes` bytes, and there are few blocks; returns
/// how many. Ops keep their order.
int64_t assignBlocksBySize(TaskBuilder &tasks, Block &pass, TaskPart part,
                           int64_t bytes, TaskTags &tags);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_BLOCKS_H
