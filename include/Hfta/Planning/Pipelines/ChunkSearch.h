//===- ChunkSearch.h - Stages of several chunks for a model -----*- C++ -*-===//

#ifndef HFTA_PLANNING_PIPELINES_CHUNKSEARCH_H
#define HFTA_PLANNING_PIPELINES_CHUNKSEARCH_H

#include "Hfta/Planning/Pipelines/PlanSimulation.h"
#include "Hfta/Planning/Pipelines/Search.h"

namespace mlir::hfta::planning {

/// The requested form of stages: how many chunks each has, and their placement.
struct ChunkRequest {
  int64_t chunks = 2;
  /// The placement of chunks. The placement `v` needs exactly two chunks.
  ChunkPlacement placement = ChunkPlacement::loop;
};

/// Returns the largest number of stages of several chunks that a model and a
/// cluster allow. Each chunk needs at least one layer, and each stage its own
/// device. A result below 2 means that no such pipeline exists.
int64_t countChunkedStages(const LayerModel &model, const Cluster &cluster,
                           int64_t chunks);

/// Returns the candidate numbers of micro-batches for stages of several chunks:
/// the requested number, or all divisors of the batch that are at least the
/// number of groups and small enough to simulate.
std::vector<int64_t> listMicroBatches(const PlanRequest &request);

/// Cuts a model into chunks for a pipeline with one worker per stage, so that a
/// simulated step is short. Uses only as many devices as make the step faster.
/// Returns nothing if no plan fits into memory; `failure` then says how much
/// memory one would need.
///
/// The model and the cluster must allow at least two stages, and the requested
/// numbers of micro-batches must be small enough to simulate. The plan has no
/// order and length yet: call simulatePlan with the same options.
std::optional<PipelinePlan>
planChunks(const LayerModel &model, const Cluster &cluster,
           const PlanRequest &request, const ChunkRequest &chunks,
           const PlanSimulationOptions &options, PlanFailure &failure);

} // namespace mlir::hfta::planning

#endif // HFTA_PLANNING_PIPELINES_CHUNKSEARCH_H
