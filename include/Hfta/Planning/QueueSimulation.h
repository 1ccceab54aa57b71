//===- QueueSimulation.h - Queues that compute and move bytes ---*- C++ -*-===//
//
// A step as its schedule describes it: the work of each queue of a device, in
// order. Queues wait for each other only by events. Reads from a store and
// writes to it go through channels, each with a rate that its current users
// share.
//===----------------------------------------------------------------------===//

#ifndef HFTA_PLANNING_QUEUESIMULATION_H
#define HFTA_PLANNING_QUEUESIMULATION_H

#include "Hfta/Planning/SpillSimulation.h"

#include "llvm/ADT/ArrayRef.h"

namespace mlir::hfta::planning {

struct QueuedWork {
  enum Kind : uint8_t {
    compute,
    read,
    write,
    record, ///< the event happens once all earlier work in its queue is done
    await   ///< later work in the queue waits for the event
  };
  Kind kind = compute;
  double seconds = 0; ///< length of a computation
  /// The event of `record` or `await`: a number that no other record has. An
  /// event that is never recorded isn't awaited.
  int64_t event = -1;
  /// The event to report for this work, with the bytes that are read or
  /// written; the simulation fills in its times.
  SpillEvent what;
};

/// Simulates queues that all begin at once. The result has no peak of memory.
/// Queues must not wait for each other forever.
SpillRun simulateQueues(llvm::ArrayRef<std::vector<QueuedWork>> queues,
                        const StoreRates &store);

} // namespace mlir::hfta::planning

#endif // HFTA_PLANNING_QUEUESIMULATION_H
