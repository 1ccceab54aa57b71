//===- PipelineSimulation.h - An order with times ---------------*- C++ -*-===//
//
// One step of a pipeline, as the simulator sees it: a queue a worker for its
// list, another one for the sums that it adds up, a message a value that goes
// from worker to worker, and the sums of gradients over a position's workers.
//===----------------------------------------------------------------------===//

#ifndef HFTA_PLANNING_PIPELINESIMULATION_H
#define HFTA_PLANNING_PIPELINESIMULATION_H

#include "Hfta/Planning/Cluster.h"
#include "Hfta/Planning/Order.h"
#include "Hfta/Planning/Simulator.h"

namespace mlir::hfta::planning {

/// Gradients of a block of a stage, which are final when so much of the last
/// micro-batch's backward (of weights, where that is apart) is done.
struct BlockSum {
  double share = 1; ///< in (0, 1]; ascending within a stage
  int64_t bytes = 0;
};

/// What a stage costs a worker: seconds and bytes of one micro-batch.
struct StageWork {
  double forward = 1;
  double backwardInput = 1;
  double backwardWeight = 1; ///< a whole backward takes both
  double recompute = 0;
  double update = 0;          ///< once, when all sums are complete
  int64_t savedBytes = 0;     ///< from the beginning of forward to the last
                              ///< backward's end
  std::vector<BlockSum> sums; ///< over the workers of the position
};

/// Values that one stage makes and a later one takes. Gradients go back.
struct StageMessage {
  int64_t from = 0;
  int64_t to = 1;
  int64_t forwardBytes = 0;
  int64_t backwardBytes = 0;
};

struct PipelineWork {
  std::vector<StageWork> stages;
  std::vector<StageMessage> messages;
  /// Bytes of sums that a worker adds to others in a second; 0: no time.
  double addedBytesPerSecond = 0;

  /// All stages alike, and each sends to the next one.
  static PipelineWork getEqual(int64_t stages, double forward,
                               double backwardInput, double backwardWeight,
                               int64_t bytes = 0);
};

/// Where workers are. Without a cluster messages take no time.
struct WorkerPlaces {
  std::optional<Cluster> cluster;
  std::vector<int64_t> devices; ///< of each worker; empty: its own number
  /// That the workers of a machine share; 0: each has its own.
  int64_t processors = 0;
};

struct PipelineTransport {
  /// A message is under way only while its receive is posted, and all messages
  /// between two workers, in both directions, go one after the other in the
  /// order in which they are sent.
  bool isStrict = false;
  /// Of each stage: how many messages of one kind a worker can have received
  /// and not be done with; empty: any number. A worker's n-th micro-batch lies
  /// in place n mod slots.
  std::vector<int64_t> slots;
};

/// What an action of the simulation is.
struct SimulatedStep {
  enum Kind : uint8_t { action, sum, update } kind = action;
  int64_t worker = 0;
  Action what; ///< of a sum or an update, only the stage
};

/// What a message of the simulation is.
struct SimulatedSend {
  enum Kind : uint8_t {
    value,    ///< to a later stage
    gradient, ///< to an earlier stage
    part,     ///< of a worker's sums, to who adds them up
    result    ///< from who has added them up
  } kind = value;
  int64_t from = 0, to = 0;           ///< workers
  int64_t fromStage = 0, toStage = 0; ///< of a part or result, the same
  int64_t microBatch = -1;            ///< of a value or gradient
};

struct PipelineRun {
  Order order;
  Simulation simulation;
  std::vector<SimulatedStep> steps;
  std::vector<SimulatedSend> sends;
  SimulationResult result;

  /// In seconds.
  double getLength() const { return toSeconds(result.makespan); }
  /// Seconds in which a worker does nothing of its list: until the step ends,
  /// and between its first action and its last one.
  double getBubble(int64_t worker) const;
  double getIdle(int64_t worker) const;
  /// The most for how many micro-batches, in whole workers' stages, a worker
  /// has what backward needs.
  double getInFlight(int64_t worker) const;
  /// Of what is saved for backward.
  int64_t getPeakBytes(int64_t worker) const;
  /// Empty if it ends; else "worker 0's 0F1 waits for …".
  std::string getDeadlock() const;
};

/// The order need not be a valid one, but its actions must be the shape's.
PipelineRun simulateOrder(const Order &order, const PipelineWork &work,
                          const WorkerPlaces &places = {},
                          const PipelineTransport &transport = {});

/// How many slots each stage needs for the order to end under the strictest
/// transport: as many as instances, or more where messages would hold each
/// other up.
std::vector<int64_t> chooseSlots(const Order &order, const PipelineWork &work,
                                 const WorkerPlaces &places = {});

} // namespace mlir::hfta::planning

#endif // HFTA_PLANNING_PIPELINESIMULATION_H
