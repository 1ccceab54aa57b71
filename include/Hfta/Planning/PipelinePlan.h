//===- PipelinePlan.h - Stages, where they run, how long they take *- C++
//-*-===//
//
// A plan as the planner makes it, as a file keeps it, and as the compiler takes
// it.
//===----------------------------------------------------------------------===//

#ifndef HFTA_PLANNING_PIPELINEPLAN_H
#define HFTA_PLANNING_PIPELINEPLAN_H

#include "Hfta/Planning/Cluster.h"
#include "llvm/ADT/StringRef.h"

#include <optional>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace mlir::hfta::planning {

struct PlannedStage {
  std::string first, last; ///< layers
  /// Values behind which the next stage begins, where it isn't `last` alone.
  std::vector<std::string> cut;
  std::vector<int64_t> devices; ///< one a replica, by number
  /// Sums of gradients that the replicas form before these become one.
  int64_t groups = 1;
  /// Micro-batches that a replica has between forward and backward at most.
  int64_t inFlight = 1;
  double forward = 0;    ///< seconds a micro-batch
  double backward = 0;   ///< seconds a micro-batch
  double allReduce = 0;  ///< seconds a batch
  int64_t peakBytes = 0; ///< of a device
  /// Whether forwards are computed again, which the backward then contains.
  bool recomputes = false;
};

struct PipelinePlan {
  std::string model; ///< digest of the model that it is for
  Cluster cluster;
  int64_t microBatches = 1;
  std::string order; ///< in which micro-batches go forward and backward
  /// What each stage does, "0F0,0F1,0B0,0B1", in places of a worker's own
  /// micro-batches; empty: what follows from the order's name.
  std::vector<std::string> actions;
  double latency = 0;  ///< seconds a batch, by the recursion
  double estimate = 0; ///< seconds a batch, by the planner's estimate
  /// The stage or link, counted together, that decides the estimate.
  int64_t pivot = 0;
  std::optional<double> simulated; ///< seconds a batch, if it was simulated
  /// Time of the batch on one device, without waiting, over the latency.
  double speedup = 0;
  std::vector<PlannedStage> stages;
};

/// Writes a plan as JSON, times in milliseconds.
void writePlan(const PipelinePlan &plan, llvm::raw_ostream &os);

/// Reads what writePlan writes, and nothing else. Nothing after an error, which
/// says where and what is wrong.
std::optional<PipelinePlan> readPlan(llvm::StringRef text, std::string &error);

/// A table with a row a stage, for people.
void printPlan(const PipelinePlan &plan, llvm::raw_ostream &os);

} // namespace mlir::hfta::planning

#endif // HFTA_PLANNING_PIPELINEPLAN_H
