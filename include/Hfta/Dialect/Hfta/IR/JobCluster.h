//===- JobCluster.h - The machines that a job names -------------*- C++ -*-===//

#ifndef HFTA_DIALECT_HFTA_IR_JOBCLUSTER_H
#define HFTA_DIALECT_HFTA_IR_JOBCLUSTER_H

#include "Hfta/Dialect/Hfta/IR/Job.h"
#include "Hfta/Planning/Cluster.h"

namespace mlir::hfta {

/// The cluster that a job describes; without devices if it has no `cluster`.
planning::Cluster makeCluster(const Job &job);

} // namespace mlir::hfta

#endif // HFTA_DIALECT_HFTA_IR_JOBCLUSTER_H
