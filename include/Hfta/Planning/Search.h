//===- Search.h - The best pipeline for a model and a cluster ---*- C++ -*-===//

#ifndef HFTA_PLANNING_SEARCH_H
#define HFTA_PLANNING_SEARCH_H

#include "Hfta/Planning/Order.h"
#include "Hfta/Planning/PipelinePlan.h"
#include "Hfta/Planning/StageCosts.h"

namespace mlir::hfta::planning {

struct PlanRequest {
  int64_t batch = 1;        ///< samples
  int64_t microBatches = 0; ///< a divisor of the batch; 0: any of them
  CostRule costs = CostRule::units;
  int64_t groups = 0;      ///< as in Workload; at most the micro-batches
  bool recomputes = false; ///< as in Workload
  double bucket = 4e6;     ///< as in Workload

  Workload getWorkload(int64_t count) const {
    return {batch, count, costs, groups, recomputes, bucket};
  }
};

/// The reason why there is no plan.
struct PlanFailure {
  /// The least memory of a device with which there is a plan, in bytes, and the
  /// layers of the stage that needs it.
  int64_t leastMemory = 0;
  std::string first, last;

  /// Takes over the other failure if it needs less memory, or if this one is
  /// not set yet.
  void takeLess(const PlanFailure &other) {
    if (leastMemory == 0 || other.leastMemory < leastMemory)
      *this = other;
  }
};

/// Returns the fastest plan found in which each device's memory suffices; if
/// there is none, sets `failure`. The model must have layers that take time.
std::optional<PipelinePlan> planPipeline(const LayerModel &model,
                                         const Cluster &cluster,
                                         const PlanRequest &request,
                                         PlanFailure &failure);

/// Describes the plan with these stages and with the best numbers in flight,
/// limited to `mostInFlight` of each stage. Each device must have memory for at
/// least one micro-batch, and each limit must be at least one.
PipelinePlan describePlan(const StageCosts &costs, llvm::ArrayRef<Stage> stages,
                          llvm::ArrayRef<int64_t> mostInFlight = {});

/// Stages that each have several parts of the model.
struct ChunkedStages {
  /// All parts, in the order of the model.
  llvm::SmallVector<LayerRange, 16> parts;
  /// The devices of each stage, one per replica.
  llvm::SmallVector<DeviceSet, 8> devices;
  ChunkPlacement placement = ChunkPlacement::loop;

  /// Returns the shape, without limits of what is in flight.
  PipelineShape getShape(const Workload &workload) const;
  /// Returns the parts of a stage.
  llvm::SmallVector<LayerRange, 4> getParts(const PipelineShape &shape,
                                            int64_t stage) const;
};

/// Describes the plan with these stages and with as much in flight as memory
/// allows; simulatePlan reports how long it takes.
PipelinePlan describePlan(const StageCosts &costs, const ChunkedStages &stages);

/// Returns the least bytes per device with which any plan fits, and the largest
/// stage of that plan.
PlanFailure findLeastMemory(const StageCosts &costs);

} // namespace mlir::hfta::planning

#endif // HFTA_PLANNING_SEARCH_H
