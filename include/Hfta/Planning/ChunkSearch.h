//===- ChunkSearch.h - Stages of several chunks for a model -----*- C++ -*-===//

#ifndef HFTA_PLANNING_CHUNKSEARCH_H
#define HFTA_PLANNING_CHUNKSEARCH_H

#include "Hfta/Planning/PlanSimulation.h"
#include "Hfta/Planning/Search.h"

namespace mlir::hfta::planning {

/// The stages that are requested: how many chunks each has, and how these are
/// placed.
struct ChunkRequest {
  int64_t chunks = 2;
  /// The placement `v` needs two chunks.
  ChunkPlacement placement = ChunkPlacement::loop;
};

/// Returns the most stages of several chunks that a model and a cluster allow:
/// each part needs a layer, and each stage a device of its own. A pipeline has
/// at least two stages.
int64_t countChunkedStages(const LayerModel &model, const Cluster &cluster,
                           int64_t chunks);

/// Returns the numbers of micro-batches that stages of several chunks may have:
/// the requested one, or all divisors of the batch that are enough for the
/// groups and small enough to simulate.
std::vector<int64_t> listMicroBatches(const PlanRequest &request);

/// Cuts a model into parts for stages of several chunks, with one worker per
/// stage and on as many devices as are worth it, so that a simulated step is
/// short. If no plan fits, `failure` says how much memory one would need. The
/// model and the cluster must allow two stages, and the request must ask for
/// numbers of micro-batches that are simulated. Call simulatePlan with the same
/// options for the order of the plan and the length of its step.
std::optional<PipelinePlan>
planChunks(const LayerModel &model, const Cluster &cluster,
           const PlanRequest &request, const ChunkRequest &chunks,
           const PlanSimulationOptions &options, PlanFailure &failure);

} // namespace mlir::hfta::planning

#endif // HFTA_PLANNING_CHUNKSEARCH_H
