//===- JobCluster.h - The machines that a job names -------------*- C++ -*-===//

#ifndef HFTA_DIALECT_HFTA_IR_JOBCLUSTER_H
#define HFTA_DIALECT_HFTA_IR_JOBCLUSTER_H

#include "Hfta/Dialect/Hfta/IR/Job.h"
#include "Hfta/Planning/MeasuredCosts.h"

namespace mlir::hfta {

/// The cluster that a job describes; without devices if it has no `cluster`.
planning::Cluster makeCluster(const Job &job);

/// What the job doesn't say of links between the cluster's devices is what was
/// measured of them.
void measureCluster(const Job &job, const planning::MeasuredCosts &costs,
                    planning::Cluster &cluster);

} // namespace mlir::hfta

#endif // HFTA_DIALECT_HFTA_IR_JOBCLUSTER_H
