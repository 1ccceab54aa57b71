//===- PipelineSimulation.h - An order with times ---------------*- C++ -*-===//
//
// Simulates one step of a pipeline with times. Each worker has a queue for its
// list of actions and another one for the sums that it adds up. Each value that
// goes from worker to worker is a message, and so are the parts of gradients
// that the workers of a position add up.
//===----------------------------------------------------------------------===//

#ifndef HFTA_PLANNING_PIPELINES_PIPELINESIMULATION_H
#define HFTA_PLANNING_PIPELINES_PIPELINESIMULATION_H

#include "Hfta/Planning/Common/Cluster.h"
#include "Hfta/Planning/Common/Simulator.h"
#include "Hfta/Planning/Common/Timeline.h"
#include "Hfta/Planning/Pipelines/Order.h"

namespace mlir::hfta::planning {

/// The gradients of one block of a stage, which are added up over workers. They
/// are complete when the fraction `share` of the last micro-batch's backward is
/// done, or of its weight gradients if these are computed separately.
struct BlockSum {
  double share = 1; ///< in (0, 1], ascending within a stage
  int64_t bytes = 0;
};

/// The costs of a stage on one worker, in seconds and bytes per micro-batch
/// unless stated otherwise.
struct StageWork {
  double forward = 1;
  double backwardInput = 1;
  double backwardWeight = 1; ///< a whole backward takes the sum of both
  double recompute = 0;
  double update = 0; ///< once per step, after all sums are complete
  /// Bytes that are saved from the begin of a forward to the end of its
  /// backward, or of its weight gradients if these are computed separately.
  int64_t savedBytes = 0;
  std::vector<BlockSum> sums; ///< sums over the workers of the position
};

/// The values that one stage computes and a later one reads. Their gradients
/// are sent in the opposite direction.
struct StageMessage {
  int64_t from = 0;
  int64_t to = 1;
  int64_t forwardBytes = 0;
  int64_t backwardBytes = 0;
};

/// The costs of all stages, and the messages between them.
struct PipelineWork {
  std::vector<StageWork> stages;
  std::vector<StageMessage> messages;
  /// The rate at which a worker adds received sums to its own, in bytes per
  /// second; 0 if this takes no time.
  double addedBytesPerSecond = 0;

  /// Returns the work of stages that are all equal, each of which sends to the
  /// next.
  static PipelineWork getEqual(int64_t stages, double forward,
                               double backwardInput, double backwardWeight,
                               int64_t bytes = 0);
};

/// The devices of the workers. Without a cluster, messages take no time.
struct WorkerPlaces {
  std::optional<Cluster> cluster;
  /// The device of each worker; if empty, worker w is on device w.
  std::vector<int64_t> devices;
  /// The number of processors that the workers of a machine share; 0 if each
  /// worker has its own.
  int64_t processors = 0;
};

/// The rules by which messages are transferred.
struct PipelineTransport {
  /// Whether a message is transferred only once its receive is posted
  /// (rendezvous), and all messages between two workers, in both directions,
  /// are transferred one after the other in the order in which they are sent.
  bool isStrict = false;
  /// For each stage, how many received messages of one kind a worker can have
  /// in use; unlimited if empty. The n-th micro-batch of a worker uses slot n
  /// mod slots.
  std::vector<int64_t> slots;
};

/// The meaning of an action of the simulation.
struct SimulatedStep {
  enum Kind : uint8_t { action, sum, update } kind = action;
  int64_t worker = 0;
  Action what; ///< for a sum or an update, only its stage is meaningful
};

/// The meaning of a message of the simulation.
struct SimulatedSend {
  enum Kind : uint8_t {
    value,    ///< values, to a later stage
    gradient, ///< their gradients, to an earlier stage
    part,     ///< a part of a worker's gradients, to the worker that adds it up
    result    ///< the sum, from the worker that has added it up
  } kind = value;
  int64_t from = 0, to = 0;           ///< sending and receiving worker
  int64_t fromStage = 0, toStage = 0; ///< equal for a part or result
  int64_t microBatch = -1;            ///< only for a value or gradient
};

/// A simulated step. `steps` and `sends` describe the actions and messages of
/// `simulation`.
struct PipelineRun {
  Order order;
  Simulation simulation;
  std::vector<SimulatedStep> steps;
  std::vector<SimulatedSend> sends;
  SimulationResult result;

  /// Returns the duration of the step, in seconds.
  double getLength() const { return toSeconds(result.makespan); }
  /// Return the seconds in which a worker runs none of its actions: until the
  /// end of the step, or only between its first and its last action.
  double getBubble(int64_t worker) const;
  double getIdle(int64_t worker) const;
  /// Returns the largest number of micro-batches in flight on a worker, where a
  /// micro-batch that is in flight in all stages of the worker counts as 1.
  double getInFlight(int64_t worker) const;
  /// Returns the largest number of bytes that a worker has saved for backwards
  /// at the same time.
  int64_t getPeakBytes(int64_t worker) const;
  /// Returns a description of the deadlock, "worker 0's 0F1 waits for …", or an
  /// empty text if the run ends.
  std::string getDeadlock() const;
};

/// Simulates one step. The order needn't be valid, but it must consist of
/// actions of its shape.
PipelineRun simulateOrder(const Order &order, const PipelineWork &work,
                          const WorkerPlaces &places = {},
                          const PipelineTransport &transport = {});

/// Returns for each stage the number of slots with which the order doesn't
/// deadlock under the strict transport: the number of instances that it needs,
/// or more if messages would block each other.
std::vector<int64_t> chooseSlots(const Order &order, const PipelineWork &work,
                                 const WorkerPlaces &places = {});

/// Returns the timeline of a simulated pipeline. The run must not have
/// deadlocked.
Timeline getTimeline(const PipelineRun &run, llvm::StringRef title);

} // namespace mlir::hfta::planning

#endif // HFTA_PLANNING_PIPELINES_PIPELINESIMULATION_H
