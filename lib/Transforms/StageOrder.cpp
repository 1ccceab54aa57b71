//===- StageOrder.cpp - The order that a job's stages work in -------------===//

#include "StageOrder.h"

#include "Hfta/Planning/MakeOrder.h"

using namespace mlir;
using namespace mlir::hfta;

static planning::OrderKind getKind(PipelineOrder order) {
  switch (order) {
  case PipelineOrder::allForwardsFirst:
    return planning::OrderKind::allForwardsFirst;
  case PipelineOrder::oneForwardOneBackward:
    return planning::OrderKind::oneForwardOneBackward;
  case PipelineOrder::interleaved:
    return planning::OrderKind::interleaved;
  case PipelineOrder::zeroBubble:
    return planning::OrderKind::zeroBubble;
  case PipelineOrder::vShape:
    return planning::OrderKind::vShape;
  }
  llvm_unreachable("all orders are listed");
}

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
  planning::PipelineShape shape;
  shape.microBatches = job.microBatches;
  shape.replicas.clear();
  for (int64_t stage = 0; stage < job.getStageCount(); ++stage) {
    shape.replicas.push_back(job.getReplicas(stage));
    shape.groups.push_back(job.getGroups(stage));
  }
  shape.inFlight.assign(job.inFlight.begin(), job.inFlight.end());
  shape.chunks = job.chunks;
  if (job.getOrder() == PipelineOrder::vShape)
    shape.placement = planning::ChunkPlacement::v;
  llvm::Expected<planning::Order> order =
      planning::makeLimitedOrder(getKind(job.getOrder()), shape);
  if (!order)
    return module.emitError() << llvm::toString(order.takeError());
  recompute(*order, job);
  return *order;
}
