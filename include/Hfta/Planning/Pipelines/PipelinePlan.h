//===- PipelinePlan.h - Stages, their devices and times ---------*- C++ -*-===//
//
// A pipeline plan, as the planner makes it, a file stores it and the compiler
// reads it.
//===----------------------------------------------------------------------===//

#ifndef HFTA_PLANNING_PIPELINES_PIPELINEPLAN_H
#define HFTA_PLANNING_PIPELINES_PIPELINEPLAN_H

#include "Hfta/Planning/Common/Cluster.h"
#include "llvm/ADT/StringRef.h"

#include <optional>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace mlir::hfta::planning {

/// A part of the model: a range of consecutive layers.
struct PlannedPart {
  /// Its index among all parts of the model.
  int64_t number = 0;
  std::string first, last; ///< names of layers
  /// The names of the values after which the next part begins; empty if that is
  /// only `last`.
  std::vector<std::string> cut;
  double forward = 0;  ///< seconds per micro-batch
  double backward = 0; ///< seconds per micro-batch
  /// Whether the forward is recomputed. `backward` then includes the time for
  /// that.
  bool recomputes = false;
};

/// A stage of the pipeline, with its devices.
struct PlannedStage {
  /// Its parts of the model (chunks) in ascending order, usually only one.
  std::vector<PlannedPart> parts;
  std::vector<int64_t> devices; ///< the device number of each replica
  /// The number of partial sums of gradients that the replicas form before
  /// these are added up.
  int64_t groups = 1;
  /// The largest number of micro-batches that a replica has in flight.
  int64_t inFlight = 1;
  double allReduce = 0;  ///< seconds per batch
  int64_t peakBytes = 0; ///< peak memory of a device, in bytes

  /// Return the seconds per micro-batch, summed over all parts.
  double getForward() const;
  double getBackward() const;
  /// Returns whether the forward of any of its parts is recomputed.
  bool recomputes() const;
};

struct PipelinePlan {
  std::string model; ///< digest of the model
  Cluster cluster;
  int64_t microBatches = 1;
  /// The name of the order of forwards and backwards.
  std::string order;
  /// The actions of each stage, such as "0F0,0F1,0B0,0B1", with micro-batches
  /// numbered by their places on a worker (Order.h). Empty if they follow from
  /// the order's name.
  std::vector<std::string> actions;
  // A plan for stages of several chunks has no `latency`, `estimate`, `pivot`.
  double latency = 0;  ///< seconds per batch, by getLatency; 0 if unknown
  double estimate = 0; ///< seconds per batch, by estimateLatency; 0 if unknown
  /// The station that determines the estimate, as an index into the alternating
  /// list of stages and links; -1 if unknown.
  int64_t pivot = -1;
  std::optional<double> simulated; ///< seconds per batch, if simulated
  /// The time of the batch on one device divided by `latency`, or by
  /// `simulated` if there is no latency.
  double speedup = 0;
  std::vector<PlannedStage> stages;

  /// Returns the number of parts of the model per stage.
  int64_t getChunks() const {
    return stages.empty() ? 1 : static_cast<int64_t>(stages[0].parts.size());
  }
  /// Returns whether stages have several parts and the first stage has the
  /// model's last part.
  bool isVShaped() const;
  /// Returns the parts of all stages, in the order of the model.
  std::vector<const PlannedPart *> getParts() const;
  /// Returns the seconds of a batch: simulated ones if there are any.
  double getLength() const { return simulated.value_or(latency); }
};

/// Writes a plan as JSON, with times in milliseconds.
void writePlan(const PipelinePlan &plan, llvm::raw_ostream &os);

/// Reads a plan that writePlan has written. On failure, returns nothing, and
/// `error` says what is wrong and where.
std::optional<PipelinePlan> readPlan(llvm::StringRef text, std::string &error);

/// Prints the plan as a table for people, with a row per stage.
void printPlan(const PipelinePlan &plan, llvm::raw_ostream &os);

} // namespace mlir::hfta::planning

#endif // HFTA_PLANNING_PIPELINES_PIPELINEPLAN_H
