//===- StageOrder.cpp - The order that a job's stages work in -------------===//

#include "StageOrder.h"

#include "Hfta/Planning/MakeOrder.h"

using namespace mlir;
using namespace mlir::hfta;

FailureOr<planning::Order> hfta::makeStageOrder(ModuleOp module,
                                                const Job &job) {
  planning::PipelineShape shape;
  shape.microBatches = job.microBatches;
  shape.replicas.clear();
  for (int64_t stage = 0; stage < job.getStageCount(); ++stage) {
    shape.replicas.push_back(job.getReplicas(stage));
    shape.groups.push_back(job.getGroups(stage));
  }
  auto kind = job.allForwardsFirst ? planning::OrderKind::allForwardsFirst
                                   : planning::OrderKind::oneForwardOneBackward;
  llvm::Expected<planning::Order> order = planning::makeOrder(kind, shape);
  if (!order)
    return module.emitError() << llvm::toString(order.takeError());
  return *order;
}
