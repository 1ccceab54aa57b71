//===- PipelinePlan.h - Stages, their devices and times ---------*- C++ -*-===//
//
// A plan as the planner makes it, as a file stores it, and as the compiler
// reads it.
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

/// A run of consecutive layers.
struct PlannedPart {
  /// Its place among all parts of the model.
  int64_t number = 0;
  std::string first, last; ///< names of layers
  /// The values after which the next part begins, unless that is `last` alone.
  std::vector<std::string> cut;
  double forward = 0;  ///< seconds per micro-batch
  double backward = 0; ///< seconds per micro-batch
  /// Whether forwards are recomputed; `backward` then includes that time.
  bool recomputes = false;
};

struct PlannedStage {
  /// Its chunks in the order of their numbers, mostly just one.
  std::vector<PlannedPart> parts;
  std::vector<int64_t> devices; ///< one per replica, by number
  /// The sums of gradients that the replicas form before these become one.
  int64_t groups = 1;
  /// The most micro-batches that a replica has between forward and backward.
  int64_t inFlight = 1;
  double allReduce = 0;  ///< seconds per batch
  int64_t peakBytes = 0; ///< bytes that a device needs

  /// Return the seconds per micro-batch, over all chunks.
  double getForward() const;
  double getBackward() const;
  /// Returns whether any of its chunks recomputes forwards.
  bool recomputes() const;
};

struct PipelinePlan {
  std::string model; ///< digest of the model that it is for
  Cluster cluster;
  int64_t microBatches = 1;
  /// The name of the order in which micro-batches go forward and backward.
  std::string order;
  /// The actions of each stage, "0F0,0F1,0B0,0B1", with the places of a
  /// worker's own micro-batches; empty: those that follow from the order's
  /// name.
  std::vector<std::string> actions;
  // Stages of several chunks have none of these three.
  double latency = 0;  ///< seconds per batch, by the recursion; 0: none
  double estimate = 0; ///< seconds per batch, by a formula; 0: none
  /// The station that decides the estimate, counting stages and links
  /// alternately; -1: none.
  int64_t pivot = -1;
  std::optional<double> simulated; ///< seconds per batch, if simulated
  /// The time of the batch on one device, without waiting, divided by the
  /// latency, or by the simulated time where there is no latency.
  double speedup = 0;
  std::vector<PlannedStage> stages;

  /// Returns the number of parts of the model that each stage has.
  int64_t getChunks() const {
    return stages.empty() ? 1 : static_cast<int64_t>(stages[0].parts.size());
  }
  /// Returns whether the first stage has the last part too, given several
  /// chunks.
  bool isVShaped() const;
  /// Returns the parts of all stages in the order of the model.
  std::vector<const PlannedPart *> getParts() const;
  /// Returns the seconds of a batch: the simulated ones if it was simulated.
  double getLength() const { return simulated.value_or(latency); }
};

/// Writes a plan as JSON, with times in milliseconds.
void writePlan(const PipelinePlan &plan, llvm::raw_ostream &os);

/// Reads what writePlan writes, and nothing else. On failure it returns
/// nothing, and `error` says where and what is wrong.
std::optional<PipelinePlan> readPlan(llvm::StringRef text, std::string &error);

/// Prints a table for people, with a row per stage.
void printPlan(const PipelinePlan &plan, llvm::raw_ostream &os);

} // namespace mlir::hfta::planning

#endif // HFTA_PLANNING_PIPELINEPLAN_H
