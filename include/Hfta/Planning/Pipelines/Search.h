//===- Search.h - The best pipeline for a model and a cluster ---*- C++ -*-===//

#ifndef HFTA_PLANNING_PIPELINES_SEARCH_H
#define HFTA_PLANNING_PIPELINES_SEARCH_H

#include "Hfta/Planning/Pipelines/Order.h"
#include "Hfta/Planning/Pipelines/PipelinePlan.h"
#include "Hfta/Planning/Pipelines/StageCosts.h"

namespace mlir::hfta::planning {

/// The requested properties of a plan.
struct PlanRequest {
  int64_t batch = 1;        ///< samples
  int64_t microBatches = 0; ///< a divisor of the batch; 0 for any divisor
  CostRule costs = CostRule::units;
  int64_t groups = 0;      ///< as in Workload; at most `microBatches`
  bool recomputes = false; ///< as in Workload
  double bucket = 4e6;     ///< as in Workload

  Workload getWorkload(int64_t count) const {
    return {batch, count, costs, groups, recomputes, bucket};
  }
};

/// The reason why there is no plan.
struct PlanFailure {
  /// The least memory per device, in bytes, with which a plan exists, and the
  /// first and last layer of the stage that needs it.
  int64_t leastMemory = 0;
  std::string first, last;

  /// Takes over the other failure if it needs less memory than this one, or if
  /// this one isn't set.
  void takeLess(const PlanFailure &other) {
    if (leastMemory == 0 || other.leastMemory < leastMemory)
      *this = other;
  }
};

/// Returns the fastest plan that was found in which the memory of each device
/// suffices. If there is none, returns nothing and sets `failure`. The model
/// must have layers that take time.
std::optional<PipelinePlan> planPipeline(const LayerModel &model,
                                         const Cluster &cluster,
                                         const PlanRequest &request,
                                         PlanFailure &failure);

/// Returns the plan with these stages and the best numbers of micro-batches in
/// flight, which are at most `mostInFlight` of the stage. Each device must have
/// memory for at least one micro-batch, and each limit must be at least one.
PipelinePlan describePlan(const StageCosts &costs, llvm::ArrayRef<Stage> stages,
                          llvm::ArrayRef<int64_t> mostInFlight = {});

/// Stages that each have several parts (chunks) of the model.
struct ChunkedStages {
  /// All parts, in the order of the model.
  llvm::SmallVector<LayerRange, 16> parts;
  /// The devices of each stage, one per replica.
  llvm::SmallVector<DeviceSet, 8> devices;
  ChunkPlacement placement = ChunkPlacement::loop;

  /// Returns the shape of the pipeline, without limits of micro-batches in
  /// flight.
  PipelineShape getShape(const Workload &workload) const;
  /// Returns the parts of a stage.
  llvm::SmallVector<LayerRange, 4> getParts(const PipelineShape &shape,
                                            int64_t stage) const;
};

/// Returns the plan with these stages and with as many micro-batches in flight
/// as memory allows. Its duration is only known after simulatePlan.
PipelinePlan describePlan(const StageCosts &costs, const ChunkedStages &stages);

/// Returns the least memory per device with which any plan exists, and the
/// stage of that plan that needs most.
PlanFailure findLeastMemory(const StageCosts &costs);

} // namespace mlir::hfta::planning

#endif // HFTA_PLANNING_PIPELINES_SEARCH_H
