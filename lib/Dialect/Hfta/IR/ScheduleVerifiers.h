//===- ScheduleVerifiers.h - Helpers of verifiers of commands ---*- C++ -*-===//

#ifndef HFTA_LIB_DIALECT_HFTA_IR_SCHEDULEVERIFIERS_H
#define HFTA_LIB_DIALECT_HFTA_IR_SCHEDULEVERIFIERS_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"

namespace mlir::hfta {

/// Returns the outermost `hfta.repeat` over turns around a command, or null if
/// there is none.
Operation *getTurns(Operation *command);

/// Returns whether a command runs for one micro-batch at a time: it is in an
/// `hfta.repeat` over micro-batches or in an `hfta.case`.
bool isInMicroBatches(Operation *command);

/// Checks that `bytes` bytes at `place` lie within their segment, and that the
/// segment is resident unless `mayBeInArena`. Emits an error on `op` otherwise.
/// Does nothing for places outside of segments.
LogicalResult verifyPlace(Operation *op, PlaceAttr place, int64_t bytes,
                          bool mayBeInArena = false);

} // namespace mlir::hfta

#endif // HFTA_LIB_DIALECT_HFTA_IR_SCHEDULEVERIFIERS_H
