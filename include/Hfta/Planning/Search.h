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
  int64_t groups = 0;      ///< of Workload; at most the micro-batches
  bool recomputes = false; ///< of Workload
  double bucket = 4e6;     ///< of Workload

  Workload getWorkload(int64_t count) const {
    return {batch, count, costs, groups, recomputes, bucket};
  }
};

/// Why there is no plan.
struct PlanFailure {
  /// The least memory of a device with which there is a plan, in bytes, and the
  /// layers of the stage that needs it.
  int64_t leastMemory = 0;
  std::string first, last;

  /// Becomes the other one, if that needs less or this one is none yet.
  void takeLess(const PlanFailure &other) {
    if (leastMemory == 0 || other.leastMemory < leastMemory)
      *this = other;
  }
};

/// The fastest plan that is found, whose all devices' memory suffices;
/// `failure` if there is none. The model must have layers that take time.
std::optional<PipelinePlan> planPipeline(const LayerModel &model,
                                         const Cluster &cluster,
                                         const PlanRequest &request,
                                         PlanFailure &failure);

/// What a plan with these stages would be, with the best numbers in flight, or
/// where these are more than `mostInFlight` of each stage, with so many. Each
/// device must have memory for one micro-batch, and at least one of them.
PipelinePlan describePlan(const StageCosts &costs, llvm::ArrayRef<Stage> stages,
                          llvm::ArrayRef<int64_t> mostInFlight = {});

/// Stages of which each has several parts of the model.
struct ChunkedStages {
  /// All parts, in the order of the model.
  llvm::SmallVector<LayerRange, 16> parts;
  /// Of each stage; as many devices as it has replicas.
  llvm::SmallVector<DeviceSet, 8> devices;
  ChunkPlacement placement = ChunkPlacement::loop;

  /// Without limits of what is in flight.
  PipelineShape getShape(const Workload &workload) const;
  /// The parts of a stage.
  llvm::SmallVector<LayerRange, 4> getParts(const PipelineShape &shape,
                                            int64_t stage) const;
};

/// What a plan with these stages would be, with as much in flight as there is
/// memory for; simulatePlan tells how long it takes.
PipelinePlan describePlan(const StageCosts &costs, const ChunkedStages &stages);

/// The least bytes a device with which any plan fits, and its largest stage.
PlanFailure findLeastMemory(const StageCosts &costs);

} // namespace mlir::hfta::planning

#endif // HFTA_PLANNING_SEARCH_H
