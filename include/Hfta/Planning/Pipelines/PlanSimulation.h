//===- PlanSimulation.h - A plan's order, chosen and simulated --*- C++ -*-===//

#ifndef HFTA_PLANNING_PIPELINES_PLANSIMULATION_H
#define HFTA_PLANNING_PIPELINES_PLANSIMULATION_H

#include "Hfta/Planning/Common/Timeline.h"
#include "Hfta/Planning/Pipelines/MakeOrder.h"
#include "Hfta/Planning/Pipelines/PipelinePlan.h"
#include "Hfta/Planning/Pipelines/StageCosts.h"

namespace mlir::hfta::planning {

/// The largest plans that can be simulated quickly, in devices and in
/// micro-batches.
inline constexpr int64_t kMostSimulatedDevices = 64;
inline constexpr int64_t kMostSimulatedMicroBatches = 512;

/// Returns whether a plan of this size is simulated.
inline bool isSimulated(int64_t devices, int64_t microBatches) {
  return devices <= kMostSimulatedDevices &&
         microBatches <= kMostSimulatedMicroBatches;
}

struct PlanSimulationOptions {
  OrderKind order = OrderKind::oneForwardOneBackward;
  /// The least size, in bytes, of a bucket of gradients. If all-reduces overlap
  /// with the backward, a bucket is sent as soon as it is complete, otherwise
  /// at the end of the backward.
  double bucket = 4e6;
  bool overlaps = true;
  /// The largest number of micro-batches in flight of each stage; if empty, as
  /// many as memory allows.
  std::vector<int64_t> inFlight;
  /// An order to simulate, instead of choosing one.
  std::optional<Order> given;
};

/// A plan in the terms of the pipeline simulation.
struct PlannedPipeline {
  PipelineShape shape; ///< with the most micro-batches in flight that fit
  PipelineWork work;
  WorkerPlaces places;
};

/// Converts a plan. `costs` must be those with which the plan was made, and
/// each stage must fit into memory. If micro-batches are divided among replicas
/// (CostRule::published), the devices of a stage are one worker.
PlannedPipeline getPipeline(const PipelinePlan &plan, const StageCosts &costs,
                            const PlanSimulationOptions &options);

/// Chooses an order of the requested kind for the plan's stages and simulates
/// it. Stages have the plan's numbers of micro-batches in flight, or as many as
/// memory allows. Stores the order, its numbers in flight, its peak memory and
/// its duration in the plan.
llvm::Expected<ChosenOrder>
simulatePlan(PipelinePlan &plan, const StageCosts &costs,
             const PlanSimulationOptions &options = {});

/// Draws the simulated step of a plan, with a row per device, or a row per
/// stage if micro-batches are divided among replicas. Rows are labelled with
/// their stages.
Timeline getTimeline(const PipelinePlan &plan, const ChosenOrder &chosen);

} // namespace mlir::hfta::planning

#endif // HFTA_PLANNING_PIPELINES_PLANSIMULATION_H
