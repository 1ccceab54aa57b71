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

/// A run of layers.
struct PlannedPart {
  /// Its place among all parts of the model.
  int64_t number = 0;
  std::string first, last; ///< layers
  /// Values behind which the next part begins, where it isn't `last` alone.
  std::vector<std::string> cut;
  double forward = 0;  ///< seconds a micro-batch
  double backward = 0; ///< seconds a micro-batch
  /// Whether forwards are computed again, which the backward then contains.
  bool recomputes = false;
};

struct PlannedStage {
  /// Its chunks: mostly one, in the order of their numbers.
  std::vector<PlannedPart> parts;
  std::vector<int64_t> devices; ///< one a replica, by number
  /// Sums of gradients that the replicas form before these become one.
  int64_t groups = 1;
  /// Micro-batches that a replica has between forward and backward at most.
  int64_t inFlight = 1;
  double allReduce = 0;  ///< seconds a batch
  int64_t peakBytes = 0; ///< of a device

  /// Of all chunks, in seconds a micro-batch.
  double getForward() const;
  double getBackward() const;
  /// Whether any of its chunks does.
  bool recomputes() const;
};

struct PipelinePlan {
  std::string model; ///< digest of the model that it is for
  Cluster cluster;
  int64_t microBatches = 1;
  std::string order; ///< in which micro-batches go forward and backward
  /// What each stage does, "0F0,0F1,0B0,0B1", in places of a worker's own
  /// micro-batches; empty: what follows from the order's name.
  std::vector<std::string> actions;
  // Stages of several chunks have none of these three.
  double latency = 0;  ///< seconds a batch, by the recursion; 0: none
  double estimate = 0; ///< seconds a batch, by a formula; 0: none
  /// The stage or link, counted together, that decides the estimate; -1: none.
  int64_t pivot = -1;
  std::optional<double> simulated; ///< seconds a batch, if it was simulated
  /// Time of the batch on one device, without waiting, over the latency; where
  /// there is none, over the simulated time.
  double speedup = 0;
  std::vector<PlannedStage> stages;

  /// Parts of the model that each stage has.
  int64_t getChunks() const {
    return stages.empty() ? 1 : static_cast<int64_t>(stages[0].parts.size());
  }
  /// Of several chunks, whether the first stage has the last part, too.
  bool isVShaped() const;
  /// The parts of all stages in the order of the model.
  std::vector<const PlannedPart *> getParts() const;
  /// Seconds of a batch, simulated if it was.
  double getLength() const { return simulated.value_or(latency); }
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
