//===- StageOrder.cpp - The order that a job's stages work in -------------===//

#include "StageOrder.h"

#include "Hfta/Dialect/Hfta/IR/HftaDialect.h"
#include "Hfta/Dialect/Hfta/IR/JobOrder.h"
#include "Hfta/Planning/MakeOrder.h"

using namespace mlir;
using namespace mlir::hfta;

/// Has parts of the model computed again where the job says so, or where the
/// order does so for some micro-batches.
static void recompute(planning::Order &order, const Job &job) {
  std::vector<bool> isRecomputed = planning::getRecomputed(order);
  SmallVector<bool> blocks;
  for (auto [block, inFlight] : llvm::enumerate(planning::getInstances(order)))
    blocks.push_back(isRecomputed[block] ||
                     (inFlight > 1 && job.recomputes(job.getStage(block))));
  planning::insertRecompute(order, blocks);
}

FailureOr<planning::Order> hfta::makeStageOrder(ModuleOp module,
                                                const Job &job) {
  llvm::Expected<planning::Order> order = makeOrder(job);
  if (!order)
    return module.emitError() << "in '" << HftaDialect::kJobAttrName
                              << "': " << llvm::toString(order.takeError());
  recompute(*order, job);
  return *order;
}
