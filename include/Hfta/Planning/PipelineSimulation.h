//===- PipelineSimulation.h - An order with times ---------------*- C++ -*-===//
//
// One step of a pipeline in terms of the simulator: a queue per worker for its
// list, another one for the sums that it adds up, a message for each value that
// goes from worker to worker, and the sums of gradients over a position's
// workers.
//===----------------------------------------------------------------------===//

#ifndef HFTA_PLANNING_PIPELINESIMULATION_H
#define HFTA_PLANNING_PIPELINESIMULATION_H

#include "Hfta/Planning/Cluster.h"
#include "Hfta/Planning/Order.h"
#include "Hfta/Planning/Simulator.h"

namespace mlir::hfta::planning {

/// The gradients of a block of a stage. They are final when this share of the
/// last micro-batch's backward is done, or of its gradients of weights where
/// these are computed separately.
struct BlockSum {
  double share = 1; ///< in (0, 1]; ascending within a stage
  int64_t bytes = 0;
};

/// The costs of a stage on one worker: seconds and bytes per micro-batch.
struct StageWork {
  double forward = 1;
  double backwardInput = 1;
  double backwardWeight = 1; ///< a whole backward takes both
  double recompute = 0;
  double update = 0; ///< once per step, when all sums are complete
  /// Bytes that are saved from the beginning of a forward to the end of the
  /// last backward.
  int64_t savedBytes = 0;
  std::vector<BlockSum> sums; ///< over the workers of the position
};

/// Values that one stage makes and a later one takes. Their gradients go back.
struct StageMessage {
  int64_t from = 0;
  int64_t to = 1;
  int64_t forwardBytes = 0;
  int64_t backwardBytes = 0;
};

struct PipelineWork {
  std::vector<StageWork> stages;
  std::vector<StageMessage> messages;
  /// Bytes of sums that a worker adds to others per second; 0: adding takes no
  /// time.
  double addedBytesPerSecond = 0;

  /// Makes the work of equal stages, each of which sends to the next one.
  static PipelineWork getEqual(int64_t stages, double forward,
                               double backwardInput, double backwardWeight,
                               int64_t bytes = 0);
};

/// The devices of workers. Without a cluster messages take no time.
struct WorkerPlaces {
  std::optional<Cluster> cluster;
  /// The device of each worker; empty: worker w is on device w.
  std::vector<int64_t> devices;
  /// Processors that the workers of a machine share; 0: each has its own.
  int64_t processors = 0;
};

struct PipelineTransport {
  /// Whether a message is under way only while its receive is posted, and all
  /// messages between two workers, in both directions, go one after the other
  /// in the order in which they are sent.
  bool isStrict = false;
  /// For each stage, how many messages of one kind a worker can have received
  /// and still be using; empty: any number. A worker's n-th micro-batch uses
  /// place n mod slots.
  std::vector<int64_t> slots;
};

/// The meaning of an action of the simulation.
struct SimulatedStep {
  enum Kind : uint8_t { action, sum, update } kind = action;
  int64_t worker = 0;
  Action what; ///< only the stage, for a sum or an update
};

/// The meaning of a message of the simulation.
struct SimulatedSend {
  enum Kind : uint8_t {
    value,    ///< to a later stage
    gradient, ///< to an earlier stage
    part,     ///< part of a worker's sums, to the worker that adds it up
    result    ///< from the worker that has added it up
  } kind = value;
  int64_t from = 0, to = 0;           ///< workers
  int64_t fromStage = 0, toStage = 0; ///< equal for a part or result
  int64_t microBatch = -1;            ///< for a value or gradient
};

struct PipelineRun {
  Order order;
  Simulation simulation;
  std::vector<SimulatedStep> steps;
  std::vector<SimulatedSend> sends;
  SimulationResult result;

  /// Returns the length of the step in seconds.
  double getLength() const { return toSeconds(result.makespan); }
  /// Returns the seconds in which a worker does nothing of its list: until the
  /// step ends, or between its first action and its last one.
  double getBubble(int64_t worker) const;
  double getIdle(int64_t worker) const;
  /// Returns the most micro-batches for which a worker holds at one time what
  /// backward needs, where all stages of the worker together count 1.
  double getInFlight(int64_t worker) const;
  /// Returns the most bytes that are saved for backward at one time.
  int64_t getPeakBytes(int64_t worker) const;
  /// Returns nothing if the run ends; otherwise "worker 0's 0F1 waits for …".
  std::string getDeadlock() const;
};

/// Simulates one step. The order need not be valid, but its actions must be
/// those of the shape.
PipelineRun simulateOrder(const Order &order, const PipelineWork &work,
                          const WorkerPlaces &places = {},
                          const PipelineTransport &transport = {});

/// Returns how many slots each stage needs for the order to end under the
/// strictest transport: the number of instances, or more where messages would
/// block each other.
std::vector<int64_t> chooseSlots(const Order &order, const PipelineWork &work,
                                 const WorkerPlaces &places = {});

} // namespace mlir::hfta::planning

#endif // HFTA_PLANNING_PIPELINESIMULATION_H
