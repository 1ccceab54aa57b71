//===- JobDraw.h - How a job draws samples ----------------------*- C++ -*-===//

#ifndef HFTA_DIALECT_HFTA_JOB_JOBDRAW_H
#define HFTA_DIALECT_HFTA_JOB_JOBDRAW_H

#include "Hfta/Dialect/Hfta/Job/Job.h"

namespace mlir::hfta {

/// Returns whether the samples of an epoch are drawn by their classes, by the
/// only field that has one class number a sample.
inline bool drawsByClasses(const Job &job) { return job.draw == "balanced"; }

} // namespace mlir::hfta

#endif // HFTA_DIALECT_HFTA_JOB_JOBDRAW_H
