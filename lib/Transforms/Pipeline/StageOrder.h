//===- StageOrder.h - The order of work in a job's stages -------*- C++ -*-===//

#ifndef HFTA_LIB_TRANSFORMS_PIPELINE_STAGEORDER_H
#define HFTA_LIB_TRANSFORMS_PIPELINE_STAGEORDER_H

#include "Hfta/Dialect/Hfta/Job/Job.h"
#include "Hfta/Planning/Pipelines/Order.h"

namespace mlir::hfta {

/// Makes the order in which the workers of a job with several stages compute
/// their micro-batches. Reports errors at the module.
FailureOr<planning::Order> makeStageOrder(ModuleOp module, const Job &job);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_PIPELINE_STAGEORDER_H
