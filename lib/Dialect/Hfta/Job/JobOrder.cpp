//===- JobOrder.cpp - The order of work in a job's stages -----------------===//

#include "Hfta/Dialect/Hfta/Job/JobOrder.h"

#include "Hfta/Planning/Pipelines/MakeOrder.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::hfta;

/// Returns the planner's kind for an order.
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
  case PipelineOrder::listed:
    return planning::OrderKind::file;
  }
  llvm_unreachable("all orders are listed");
}

planning::PipelineShape hfta::getPipelineShape(const Job &job) {
  planning::PipelineShape shape;
  shape.microBatches = job.microBatches;
  shape.replicas.clear();
  for (int64_t stage = 0; stage < job.getStageCount(); ++stage) {
    shape.replicas.push_back(job.getReplicas(stage));
    shape.groups.push_back(job.getGroups(stage));
  }
  shape.inFlight.assign(job.inFlight.begin(), job.inFlight.end());
  shape.chunks = job.chunks;
  if (job.isVShaped())
    shape.placement = planning::ChunkPlacement::v;
  return shape;
}

void hfta::setOrder(Job &job, const planning::Order &order) {
  job.orderRows = planning::namePositionLists(order);
}

/// Splits all backwards into those of inputs and of weights. If an order splits
/// some of them, there are only tasks for the halves.
static void splitBackwards(planning::Order &order) {
  for (planning::ActionList &list : order.workers) {
    planning::ActionList split;
    for (planning::Action action : list) {
      bool isWhole = action.kind == planning::ActionKind::backward;
      if (isWhole)
        action.kind = planning::ActionKind::backwardInput;
      split.push_back(action);
      if (isWhole)
        action.kind = planning::ActionKind::backwardWeight,
        split.push_back(action);
    }
    list = std::move(split);
  }
}

llvm::Expected<planning::Order> hfta::makeOrder(const Job &job,
                                                llvm::StringRef rows) {
  planning::PipelineShape shape = getPipelineShape(job);
  if (job.getOrder() != PipelineOrder::listed)
    return planning::makeLimitedOrder(getKind(job.getOrder()), shape);
  llvm::Expected<planning::Order> order =
      planning::readOrder(llvm::join(job.orderRows, "\n"), rows, shape);
  if (order && job.splitsBackward())
    splitBackwards(*order);
  return order;
}
