//===- JobUpdates.h - What changes updates of parameters --------*- C++ -*-===//

#ifndef HFTA_DIALECT_HFTA_JOB_JOBUPDATES_H
#define HFTA_DIALECT_HFTA_JOB_JOBUPDATES_H

#include "Hfta/Dialect/Hfta/Job/Job.h"

namespace mlir::hfta {

/// Checks the numbers of clipping and of the average of weights. Returns an
/// error message, or an empty string.
std::string checkUpdates(const Job &job);

} // namespace mlir::hfta

#endif // HFTA_DIALECT_HFTA_JOB_JOBUPDATES_H
