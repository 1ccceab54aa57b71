//===- QueueSimulation.h - Queues that compute and move bytes ---*- C++ -*-===//
//
// Simulates a step as its schedule describes it: the work of each queue of a
// device, in order. Queues wait for each other only by events. Reads from the
// store and writes to it share the rate of a channel.
//===----------------------------------------------------------------------===//

#ifndef HFTA_PLANNING_SPILL_QUEUESIMULATION_H
#define HFTA_PLANNING_SPILL_QUEUESIMULATION_H

#include "Hfta/Planning/Spill/SpillSimulation.h"

#include "llvm/ADT/ArrayRef.h"

namespace mlir::hfta::planning {

/// A piece of work in a queue.
struct QueuedWork {
  enum Kind : uint8_t {
    compute,
    read,
    write,
    record, ///< the event occurs when all earlier work of the queue has ended
    await   ///< later work of the queue waits for the event
  };
  Kind kind = compute;
  double seconds = 0; ///< duration of a computation
  /// The event of `record` or `await`, a number that only one `record` has. An
  /// `await` of an event that is never recorded doesn't wait.
  int64_t event = -1;
  /// The entry for this work in the simulation's result, with the bytes to read
  /// or write. The simulation sets its times.
  SpillEvent what;
};

/// Simulates queues that all begin at time 0 and must not deadlock. The result
/// has no peak memory.
SpillRun simulateQueues(llvm::ArrayRef<std::vector<QueuedWork>> queues,
                        const StoreRates &store);

} // namespace mlir::hfta::planning

#endif // HFTA_PLANNING_SPILL_QUEUESIMULATION_H
