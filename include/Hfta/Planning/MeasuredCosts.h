//===- MeasuredCosts.h - Times that a program has measured ------*- C++ -*-===//
//
// What `bench --phases --json` of a compiled program prints: how long each of
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

/// Between two ranks, while nothing else is sent.
struct MeasuredLink {
  int64_t ranks[2] = {0, 0};
  double latency = 0; ///< seconds of a message
  double bytesPerSecond = 0;
  /// How much longer tasks take while a message is awaited; at least 1.
  double slowdown = 1;
};

/// Of a task in a step, on all ranks together.
struct MeasuredTask {
  double seconds = 0;
  double runs = 0;   ///< 0: unknown
  double copies = 0; ///< of all these runs; 0: unknown
};

struct MeasuredCosts {
  std::string model; ///< its digest, as a plan's
  /// Between the program's blocks, each the names of its values.
  std::vector<std::vector<std::string>> cuts;
  int64_t copies = 1;
  int64_t batch = 1; ///< samples of a step
  int64_t microBatches = 1;
  llvm::StringMap<MeasuredTask> tasks;
  std::vector<MeasuredLink> links; ///< none of one rank alone
  std::optional<StoreRates> store; ///< of a program that spills

  /// Seconds in a step, on all ranks; 0 for a task that there isn't.
  double getSeconds(llvm::StringRef task) const {
    return tasks.lookup(task).seconds;
  }
};

/// Reads the JSON object, of which further fields are ignored. An error says
/// what is wrong with which field.
llvm::Expected<MeasuredCosts> readCosts(llvm::StringRef text);

/// Rates and latency between the cluster's devices, of which rank r's is the
/// r-th one: the medians of links within a machine, of those between machines,
/// and of all latencies and slowdowns. What wasn't measured stays.
void measureLinks(Cluster &cluster, const MeasuredCosts &costs);

} // namespace mlir::hfta::planning

#endif // HFTA_PLANNING_MEASUREDCOSTS_H
