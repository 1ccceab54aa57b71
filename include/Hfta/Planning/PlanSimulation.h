//===- PlanSimulation.h - A plan's order, chosen and simulated --*- C++ -*-===//

#ifndef HFTA_PLANNING_PLANSIMULATION_H
#define HFTA_PLANNING_PLANSIMULATION_H

#include "Hfta/Planning/MakeOrder.h"
#include "Hfta/Planning/PipelinePlan.h"
#include "Hfta/Planning/StageCosts.h"
#include "Hfta/Planning/Timeline.h"

namespace mlir::hfta::planning {

/// The largest plans that are quick to simulate, in devices and in
/// micro-batches.
inline constexpr int64_t kMostSimulatedDevices = 64;
inline constexpr int64_t kMostSimulatedMicroBatches = 512;

inline bool isSimulated(int64_t devices, int64_t microBatches) {
  return devices <= kMostSimulatedDevices &&
         microBatches <= kMostSimulatedMicroBatches;
}

struct PlanSimulationOptions {
  OrderKind order = OrderKind::oneForwardOneBackward;
  /// The least bytes of a bucket in which gradients are summed. If sums overlap
  /// with the backward, a bucket is summed as soon as it is complete, otherwise
  /// at the end of the backward.
  double bucket = 4e6;
  bool overlaps = true;
  /// The most micro-batches in flight of each stage; empty: as many as memory
  /// allows.
  std::vector<int64_t> inFlight;
  /// The order to use instead of choosing one.
  std::optional<Order> given;
};

/// A plan in terms of the simulator.
struct PlannedPipeline {
  PipelineShape shape; ///< with as many in flight as memory allows
  PipelineWork work;
  WorkerPlaces places;
};

/// Converts a plan. `costs` must be those that the plan was made with, and each
/// of its stages must fit into memory. If micro-batches are divided, a stage's
/// devices are one worker.
PlannedPipeline getPipeline(const PipelinePlan &plan, const StageCosts &costs,
                            const PlanSimulationOptions &options);

/// Chooses an order of the given kind for the plan's stages, with the plan's
/// numbers in flight or with as many as memory allows, and simulates it. Stores
/// the order, its numbers in flight, its peaks and its length in the plan.
llvm::Expected<ChosenOrder>
simulatePlan(PipelinePlan &plan, const StageCosts &costs,
             const PlanSimulationOptions &options = {});

/// Draws the simulated step of a plan, with a row per device that names its
/// stage. If micro-batches are divided, there is a row per stage.
Timeline getTimeline(const PipelinePlan &plan, const ChosenOrder &chosen);

} // namespace mlir::hfta::planning

#endif // HFTA_PLANNING_PLANSIMULATION_H
