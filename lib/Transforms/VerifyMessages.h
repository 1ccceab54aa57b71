//===- VerifyMessages.h - Workers' messages pair, and end -------*- C++ -*-===//

#ifndef HFTA_LIB_TRANSFORMS_VERIFYMESSAGES_H
#define HFTA_LIB_TRANSFORMS_VERIFYMESSAGES_H

#include "Hfta/Dialect/Hfta/IR/Job.h"

namespace mlir::hfta {

/// Runs the schedules of all stages' workers side by side, with messages that
/// begin only when both sides are there, one at a time a queue. Diagnoses a
/// message that has no counterpart, or another one than it, and workers that
/// wait for each other for ever. Nothing of a job of one stage.
LogicalResult verifyMessages(ModuleOp module, const Job &job);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_VERIFYMESSAGES_H
