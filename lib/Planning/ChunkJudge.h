//===- ChunkJudge.h - How good cuts for several chunks are ------*- C++ -*-===//

#ifndef HFTA_LIB_PLANNING_CHUNKJUDGE_H
#define HFTA_LIB_PLANNING_CHUNKJUDGE_H

#include "Hfta/Planning/ChunkSearch.h"

#include <limits>
#include <map>

namespace mlir::hfta::planning {

/// The last layer of each part but the last one.
using Cuts = llvm::SmallVector<int64_t, 16>;

/// Judges cuts for one number of stages and of micro-batches. It counts the
/// actions that it simulates: the search ends after so many of them, not after
/// a time.
class ChunkJudge {
public:
  /// What doesn't fit into memory.
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  ChunkJudge(const StageCosts &costs, const ChunkRequest &request,
             const PlanSimulationOptions &options, int64_t stages);

  const StageCosts &getCosts() const { return costs; }
  int64_t getLayers() const { return layers; }
  /// Parts of the model.
  int64_t getCount() const { return count; }

  /// Seconds in which the busiest worker has done all of its own, after the
  /// first micro-batch has come to it and until the last one has gone back from
  /// it; or the busiest link.
  double estimate(const Cuts &cuts) const;
  /// Bytes of the device that needs most with one micro-batch in flight.
  double countBytes(const Cuts &cuts) const;
  /// Seconds of a step in the order that needs no times.
  double simulate(const Cuts &cuts);
  /// Seconds of a step in the order that is chosen for these times.
  double chooseOrder(const Cuts &cuts);
  /// The plan, with this order; none where none fits into memory.
  std::optional<PipelinePlan> describe(const Cuts &cuts);
  /// What the stages need with the order that has least in flight.
  PlanFailure measureShortage(const Cuts &cuts);

  /// In actions: all until now, of a simulated step, of an order's choice.
  int64_t getWork() const { return work; }
  int64_t getWorkOfStep() const { return 2 * count * shape.microBatches; }
  int64_t getWorkOfChoice() const;

private:
  std::optional<PipelinePlan> plan(const Cuts &cuts) const;
  ChunkedStages make(const Cuts &cuts) const;
  double estimateLinks(const ChunkedStages &made) const;
  bool fits(const ChunkedStages &made) const;
  const Order *getOrder(llvm::ArrayRef<int64_t> inFlight);
  llvm::SmallVector<bool> findTooLarge(const ChunkedStages &made,
                                       const Order &order) const;
  double getBytes(const ChunkedStages &made, int64_t stage,
                  llvm::ArrayRef<int64_t> instances) const;

  const StageCosts &costs;
  ChunkPlacement placement;
  const PlanSimulationOptions &options;
  int64_t stages, count, layers;
  llvm::SmallVector<DeviceSet, 8> devices; ///< of each stage, one
  PipelineShape shape;
  std::map<std::vector<int64_t>, std::optional<Order>> orders;
  std::map<Cuts, double> lengths; ///< with the order that is chosen
  /// The shortest plan that an order was chosen for, and its cuts.
  std::pair<Cuts, std::optional<PipelinePlan>> shortest;
  int64_t work = 0;
};

} // namespace mlir::hfta::planning

#endif // HFTA_LIB_PLANNING_CHUNKJUDGE_H
