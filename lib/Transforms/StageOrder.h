//===- StageOrder.h - The order that a job's stages work in -----*- C++ -*-===//

#ifndef HFTA_LIB_TRANSFORMS_STAGEORDER_H
#define HFTA_LIB_TRANSFORMS_STAGEORDER_H

#include "Hfta/Dialect/Hfta/IR/Job.h"
#include "Hfta/Planning/Order.h"

namespace mlir::hfta {

/// Makes the order of all workers of a job of several stages. Problems are
/// diagnosed at the module.
FailureOr<planning::Order> makeStageOrder(ModuleOp module, const Job &job);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_STAGEORDER_H
