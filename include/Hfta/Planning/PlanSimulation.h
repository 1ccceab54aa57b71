//===- PlanSimulation.h - A plan's order, chosen and simulated --*- C++ -*-===//

#ifndef HFTA_PLANNING_PLANSIMULATION_H
#define HFTA_PLANNING_PLANSIMULATION_H

#include "Hfta/Planning/MakeOrder.h"
#include "Hfta/Planning/PipelinePlan.h"
#include "Hfta/Planning/StageCosts.h"
#include "Hfta/Planning/Timeline.h"

namespace mlir::hfta::planning {

/// What is simulated soon: plans of at most so many devices and micro-batches.
inline constexpr int64_t kMostSimulatedDevices = 64;
inline constexpr int64_t kMostSimulatedMicroBatches = 512;

inline bool isSimulated(int64_t devices, int64_t microBatches) {
  return devices <= kMostSimulatedDevices &&
         microBatches <= kMostSimulatedMicroBatches;
}

struct PlanSimulationOptions {
  OrderKind order = OrderKind::oneForwardOneBackward;
  /// Gradients are summed in buckets of at least so many bytes, each as soon as
  /// it is complete if sums overlap with the backward, else at its end.
  double bucket = 4e6;
  bool overlaps = true;
  /// Of each stage, the most micro-batches in flight; empty: as many as there
  /// is memory for.
  std::vector<int64_t> inFlight;
  /// In place of any other.
  std::optional<Order> given;
};

/// A plan in the simulator's terms.
struct PlannedPipeline {
  PipelineShape shape; ///< with as many in flight as there is memory for
  PipelineWork work;
  WorkerPlaces places;
};

/// `costs` are what the plan was made with, and each of its stages fits into
/// memory. With divided micro-batches a stage's devices are one worker.
PlannedPipeline getPipeline(const PipelinePlan &plan, const StageCosts &costs,
                            const PlanSimulationOptions &options);

/// Chooses an order of the kind for the plan's stages, with what the plan has
/// in flight or with as much as there is memory for, and simulates it. The plan
/// then has this order, its numbers in flight and peaks, and how long it takes.
llvm::Expected<ChosenOrder>
simulatePlan(PipelinePlan &plan, const StageCosts &costs,
             const PlanSimulationOptions &options = {});

/// The simulated step of a plan, a row a device with its stage. With divided
/// micro-batches, a row a stage.
Timeline getTimeline(const PipelinePlan &plan, const ChosenOrder &chosen);

} // namespace mlir::hfta::planning

#endif // HFTA_PLANNING_PLANSIMULATION_H
