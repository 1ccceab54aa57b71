//===- JobCluster.h - The machines that a job names -------------*- C++ -*-===//

#ifndef HFTA_DIALECT_HFTA_IR_JOBCLUSTER_H
#define HFTA_DIALECT_HFTA_IR_JOBCLUSTER_H

#include "Hfta/Dialect/Hfta/IR/Job.h"
#include "Hfta/Planning/MeasuredCosts.h"

namespace mlir::hfta {

/// Makes the cluster that a job describes; without devices if it has no
/// `cluster`.
planning::Cluster makeCluster(const Job &job);

/// Completes links between the cluster's devices that the job doesn't describe
/// by what was measured of them.
void measureCluster(const Job &job, const planning::MeasuredCosts &costs,
                    planning::Cluster &cluster);

} // namespace mlir::hfta

#endif // HFTA_DIALECT_HFTA_IR_JOBCLUSTER_H
