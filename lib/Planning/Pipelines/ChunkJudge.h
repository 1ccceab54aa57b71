//===- ChunkJudge.h - Rates cuts for stages of several chunks ---*- C++ -*-===//

#ifndef HFTA_LIB_PLANNING_PIPELINES_CHUNKJUDGE_H
#define HFTA_LIB_PLANNING_PIPELINES_CHUNKJUDGE_H

#include "Hfta/Planning/Pipelines/ChunkSearch.h"

#include <limits>
#include <map>

namespace mlir::hfta::planning {

/// The last layer of each part of the model, except that of the last part.
using Cuts = llvm::SmallVector<int64_t, 16>;

/// Evaluates cuts for one number of stages and one number of micro-batches. It
/// counts the actions that it simulates: the search ends after a certain number
/// of them, not after a certain time, so that equal inputs have equal plans.
class ChunkJudge {
public:
  /// The value of cuts that don't fit into memory.
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  ChunkJudge(const StageCosts &costs, const ChunkRequest &request,
             const PlanSimulationOptions &options, int64_t stages);

  const StageCosts &getCosts() const { return costs; }
  int64_t getLayers() const { return layers; }
  /// Returns the number of parts of the model: chunks times stages.
  int64_t getCount() const { return count; }

  /// Returns an estimate of a step's seconds: the busiest worker's computing
  /// time, plus the time before the first micro-batch reaches it and after the
  /// last one has left it; or the busiest link's time if that is longer. kNever
  /// if a stage doesn't fit into memory.
  double estimate(const Cuts &cuts) const;
  /// Returns the bytes that the largest stage needs on its device, with one
  /// micro-batch in flight.
  double countBytes(const Cuts &cuts) const;
  /// Returns the seconds of a simulated step whose order doesn't depend on
  /// times; kNever if it doesn't fit into memory.
  double simulate(const Cuts &cuts);
  /// Returns the seconds of a step in the best order for its times, which is
  /// found by simulating several orders; kNever if none fits into memory.
  double chooseOrder(const Cuts &cuts);
  /// Returns the plan with its best order; nothing if no order fits into
  /// memory.
  std::optional<PipelinePlan> describe(const Cuts &cuts);
  /// Returns the memory that the largest stage needs if as few micro-batches as
  /// possible are in flight.
  PlanFailure measureShortage(const Cuts &cuts);

  /// Returns the number of actions simulated so far. The two functions below
  /// return the numbers for simulating a step and for choosing an order.
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
  llvm::SmallVector<DeviceSet, 8> devices; ///< one set for each stage
  PipelineShape shape;
  std::map<std::vector<int64_t>, std::optional<Order>> orders;
  std::map<Cuts, double> lengths; ///< seconds of a step in its best order
  /// The cuts and the plan with the shortest step of all for which an order was
  /// chosen.
  std::pair<Cuts, std::optional<PipelinePlan>> shortest;
  int64_t work = 0;
};

} // namespace mlir::hfta::planning

#endif // HFTA_LIB_PLANNING_PIPELINES_CHUNKJUDGE_H
