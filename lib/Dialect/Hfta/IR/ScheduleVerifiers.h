//===- ScheduleVerifiers.h - Helpers of verifiers of commands ---*- C++ -*-===//

#ifndef HFTA_LIB_DIALECT_HFTA_IR_SCHEDULEVERIFIERS_H
#define HFTA_LIB_DIALECT_HFTA_IR_SCHEDULEVERIFIERS_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"

namespace mlir::hfta {

/// Returns the outermost turns that a command stands in; null outside of turns.
Operation *getTurns(Operation *command);

/// Whether a command is given for a certain micro-batch.
bool isInMicroBatches(Operation *command);

/// Checks that a range of a segment lies in it, and that the segment has memory
/// of its own unless the command finds it in the arena.
LogicalResult verifyPlace(Operation *op, PlaceAttr place, int64_t bytes,
                          bool mayBeInArena = false);

template <typename OpTy>
LogicalResult verifyQueue(OpTy op) {
  auto device = static_cast<int64_t>(op.getDevice());
  auto queue = static_cast<int64_t>(op.getQueue());
  if (device < 0 || queue < 0)
    return op.emitOpError("needs a device and a queue, got ")
           << device << " and " << queue;
  return success();
}

} // namespace mlir::hfta

#endif // HFTA_LIB_DIALECT_HFTA_IR_SCHEDULEVERIFIERS_H
