//===- VerifyMessages.h - Checks messages for deadlocks ---------*- C++ -*-===//

#ifndef HFTA_LIB_TRANSFORMS_VERIFY_VERIFYMESSAGES_H
#define HFTA_LIB_TRANSFORMS_VERIFY_VERIFYMESSAGES_H

#include "Hfta/Dialect/Hfta/Job/Job.h"

namespace mlir::hfta {

/// Simulates the schedules of all stages' workers together. Messages begin only
/// when both sides are ready, one at a time per queue. Reports messages without
/// a counterpart or with a different one, and deadlocks. Does nothing for a job
/// with a single stage.
LogicalResult verifyMessages(ModuleOp module, const Job &job);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_VERIFY_VERIFYMESSAGES_H
