//===- ChunkSearch.h - Stages of several chunks for a model -----*- C++ -*-===//

#ifndef HFTA_PLANNING_CHUNKSEARCH_H
#define HFTA_PLANNING_CHUNKSEARCH_H

#include "Hfta/Planning/PlanSimulation.h"
#include "Hfta/Planning/Search.h"

namespace mlir::hfta::planning {

/// The stages that are wanted.
struct ChunkRequest {
  int64_t chunks = 2;
  ChunkPlacement placement = ChunkPlacement::loop; ///< v: of two chunks
};

/// How many stages of several chunks a model and a cluster allow at most: each
/// part has a layer, each stage a device of its own. A pipeline has two.
int64_t countChunkedStages(const LayerModel &model, const Cluster &cluster,
                           int64_t chunks);

/// As many micro-batches as stages of several chunks may have: what is asked
/// for, or those that divide the batch, are enough for the groups and are
/// simulated.
std::vector<int64_t> listMicroBatches(const PlanRequest &request);

/// Cuts a model into parts for stages of several chunks, one worker each, on as
/// many devices as are worth it, so that a simulated step is short. `failure`
/// says what memory there would be a plan with, if there is none; the model and
/// the cluster must allow two stages, and the request numbers of micro-batches
/// that are simulated. simulatePlan, with the same options, tells the order and
/// how long the plan's step takes.
std::optional<PipelinePlan>
planChunks(const LayerModel &model, const Cluster &cluster,
           const PlanRequest &request, const ChunkRequest &chunks,
           const PlanSimulationOptions &options, PlanFailure &failure);

} // namespace mlir::hfta::planning

#endif // HFTA_PLANNING_CHUNKSEARCH_H
