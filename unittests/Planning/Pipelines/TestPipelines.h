//===- TestPipelines.h - Pipelines to test orders on ------------*- C++ -*-===//

#ifndef HFTA_UNITTESTS_PLANNING_PIPELINES_TESTPIPELINES_H
#define HFTA_UNITTESTS_PLANNING_PIPELINES_TESTPIPELINES_H

#include "Hfta/Planning/Pipelines/MakeOrder.h"

#include <gtest/gtest.h>

namespace mlir::hfta::planning {

/// Returns the shape of a pipeline with one worker per position.
inline PipelineShape getShape(int64_t positions, int64_t microBatches,
                              int64_t chunks = 1) {
  PipelineShape shape;
  shape.replicas.assign(positions, 1);
  shape.microBatches = microBatches;
  shape.chunks = chunks;
  return shape;
}

/// Makes an order, expects that it exists and is valid, and returns it.
inline Order getOrder(OrderKind kind, const PipelineShape &shape) {
  llvm::Expected<Order> order = makeOrder(kind, shape);
  if (!order) {
    ADD_FAILURE() << llvm::toString(order.takeError());
    return Order();
  }
  std::optional<OrderProblem> problem = verifyOrder(*order);
  EXPECT_FALSE(problem) << problem->message;
  return std::move(*order);
}

/// The seconds of a position's forward, of its gradients of inputs, and of its
/// gradients of weights. The position's chunks share them equally.
struct StageTimes {
  double forward = 1, input = 1, weight = 1;
};

inline PipelineWork getEqualWork(const PipelineShape &shape,
                                 const StageTimes &times) {
  auto chunks = static_cast<double>(shape.chunks);
  return PipelineWork::getEqual(shape.getStages(), times.forward / chunks,
                                times.input / chunks, times.weight / chunks);
}

} // namespace mlir::hfta::planning

#endif // HFTA_UNITTESTS_PLANNING_PIPELINES_TESTPIPELINES_H
