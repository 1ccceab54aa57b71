//===- JobCluster.h - The machines that a job names -------------*- C++ -*-===//

#ifndef HFTA_DIALECT_HFTA_JOB_JOBCLUSTER_H
#define HFTA_DIALECT_HFTA_JOB_JOBCLUSTER_H

#include "Hfta/Dialect/Hfta/Job/Job.h"
#include "Hfta/Planning/Common/MeasuredCosts.h"

namespace mlir::hfta {

/// Returns the cluster that a job describes, or a cluster without devices if
/// the job has no clause `cluster`.
planning::Cluster makeCluster(const Job &job);

/// Replaces those rates of links and that latency of the cluster which the job
/// leaves at their initial values by measured ones. Also sets the measured
/// slowdown.
void measureCluster(const Job &job, const planning::MeasuredCosts &costs,
                    planning::Cluster &cluster);

} // namespace mlir::hfta

#endif // HFTA_DIALECT_HFTA_JOB_JOBCLUSTER_H
