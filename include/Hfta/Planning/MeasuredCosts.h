//===- MeasuredCosts.h - Times that a program has measured ------*- C++ -*-===//
//
// The output of `bench --phases --json` of a compiled program: how long each of
// its tasks takes, and how fast messages between its ranks are.
//===----------------------------------------------------------------------===//

#ifndef HFTA_PLANNING_MEASUREDCOSTS_H
#define HFTA_PLANNING_MEASUREDCOSTS_H

#include "Hfta/Planning/Cluster.h"
#include "Hfta/Planning/SpillModel.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <optional>

namespace mlir::hfta::planning {

/// The link between two ranks, measured while nothing else was sent.
struct MeasuredLink {
  int64_t ranks[2] = {0, 0};
  double latency = 0; ///< seconds of a message
  double bytesPerSecond = 0;
  /// The factor by which tasks take longer while a message is awaited; at least
  /// 1.
  double slowdown = 1;
};

/// The measurements of a task in a step, over all ranks together.
struct MeasuredTask {
  double seconds = 0;
  double runs = 0;   ///< 0: unknown
  double copies = 0; ///< sum over all these runs; 0: unknown
};

struct MeasuredCosts {
  std::string model; ///< its digest, as in a plan
  /// The cuts between the program's blocks, each as the names of its values.
  std::vector<std::vector<std::string>> cuts;
  int64_t copies = 1;
  int64_t batch = 1; ///< samples per step
  int64_t microBatches = 1;
  llvm::StringMap<MeasuredTask> tasks;
  std::vector<MeasuredLink> links; ///< empty for a single rank
  std::optional<StoreRates> store; ///< if the program spills

  /// Returns the task's seconds per step, over all ranks; 0 for a task that
  /// doesn't exist.
  double getSeconds(llvm::StringRef task) const {
    return tasks.lookup(task).seconds;
  }
};

/// Reads the JSON object. An error says what is wrong with which field; a field
/// that `bench` doesn't print is one.
llvm::Expected<MeasuredCosts> readCosts(llvm::StringRef text);

/// Sets the rates and the latency of the cluster, of which device r runs rank
/// r: the medians over the links within a machine, over those between machines,
/// and over all latencies and slowdowns. Leaves unchanged what wasn't measured.
void measureLinks(Cluster &cluster, const MeasuredCosts &costs);

} // namespace mlir::hfta::planning

#endif // HFTA_PLANNING_MEASUREDCOSTS_H
