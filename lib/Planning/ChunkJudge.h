//===- ChunkJudge.h - How good cuts for several chunks are ------*- C++ -*-===//

#ifndef HFTA_LIB_PLANNING_CHUNKJUDGE_H
#define HFTA_LIB_PLANNING_CHUNKJUDGE_H

#include "Hfta/Planning/ChunkSearch.h"

#include <limits>
#include <map>

namespace mlir::hfta::planning {

/// The last layer of each part except the last part.
using Cuts = llvm::SmallVector<int64_t, 16>;

/// Evaluates cuts for one number of stages and one of micro-batches. It counts
/// the actions that it simulates: the search ends after a certain number of
/// them, not after a certain time.
class ChunkJudge {
public:
  /// The value of cuts that don't fit into memory.
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  ChunkJudge(const StageCosts &costs, const ChunkRequest &request,
             const PlanSimulationOptions &options, int64_t stages);

  const StageCosts &getCosts() const { return costs; }
  int64_t getLayers() const { return layers; }
  /// Returns the number of parts of the model.
  int64_t getCount() const { return count; }

  /// Returns the seconds in which the busiest worker has finished all of its
  /// work, counting from when the first micro-batch reaches it until the last
  /// one has gone back from it, or the seconds of the busiest link if these are
  /// more.
  double estimate(const Cuts &cuts) const;
  /// Returns the bytes of the device that needs the most, with one micro-batch
  /// in flight.
  double countBytes(const Cuts &cuts) const;
  /// Returns the seconds of a step in the order that doesn't depend on times.
  double simulate(const Cuts &cuts);
  /// Returns the seconds of a step in the order that is chosen for these times.
  double chooseOrder(const Cuts &cuts);
  /// Returns the plan with the chosen order; none if no order fits into memory.
  std::optional<PipelinePlan> describe(const Cuts &cuts);
  /// Returns what the stages need with the order that has the least in flight.
  PlanFailure measureShortage(const Cuts &cuts);

  /// Return work in actions: so far, of a simulated step, and of choosing an
  /// order.
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
  std::map<Cuts, double> lengths; ///< with the order that is chosen
  /// The shortest plan that an order was chosen for, and its cuts.
  std::pair<Cuts, std::optional<PipelinePlan>> shortest;
  int64_t work = 0;
};

} // namespace mlir::hfta::planning

#endif // HFTA_LIB_PLANNING_CHUNKJUDGE_H
