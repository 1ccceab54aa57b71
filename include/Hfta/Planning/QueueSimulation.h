//===- QueueSimulation.h - Queues that compute and move bytes ---*- C++ -*-===//
//
// A step as its schedule has it: what each queue of a device does, in order.
// Queues wait for each other by events alone. What is read from a store and
// written to it goes through channels, of which each has a rate; who uses one
// at the same time shares it.
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
    record, ///< it happens once all before it in its queue is done
    await   ///< what comes next waits for it
  };
  Kind kind = compute;
  double seconds = 0; ///< of what is computed
  /// Of `record` and `await`: a number that no other record has. One that is
  /// never recorded isn't awaited.
  int64_t event = -1;
  /// What it is to be called, with the bytes that are read or written; its
  /// times are filled in.
  SpillEvent what;
};

/// All queues begin at once. The peak isn't known here. Queues must not wait
/// for each other for ever.
SpillRun simulateQueues(llvm::ArrayRef<std::vector<QueuedWork>> queues,
                        const StoreRates &store);

} // namespace mlir::hfta::planning

#endif // HFTA_PLANNING_QUEUESIMULATION_H
