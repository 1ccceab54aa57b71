//===- MeasuredCosts.h - Times that a program has measured ------*- C++ -*-===//
//
// Reads the output of `bench --phases --json` of a compiled program: the
// durations of its tasks, and the speed of messages between its ranks.
//===----------------------------------------------------------------------===//

#ifndef HFTA_PLANNING_COMMON_MEASUREDCOSTS_H
#define HFTA_PLANNING_COMMON_MEASUREDCOSTS_H

#include "Hfta/Planning/Common/Cluster.h"
#include "Hfta/Planning/Common/SpillModel.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <optional>

namespace mlir::hfta::planning {

/// The link between two ranks, measured without other traffic.
struct MeasuredLink {
  int64_t ranks[2] = {0, 0};
  double latency = 0; ///< seconds of a message without bytes
  double bytesPerSecond = 0;
  /// The factor, at least 1, by which tasks take longer while the rank waits
  /// for a message.
  double slowdown = 1;
};

/// The measurements of a task in one step, summed over all ranks.
struct MeasuredTask {
  double seconds = 0;
  double runs = 0;   ///< number of runs; 0 if unknown
  double copies = 0; ///< number of copies, summed over runs; 0 if unknown
};

/// All measurements of a program.
struct MeasuredCosts {
  std::string model; ///< the model's digest, as in a plan
  /// The cuts between the program's blocks. Each is a list of names of values.
  std::vector<std::vector<std::string>> cuts;
  int64_t copies = 1;
  int64_t batch = 1; ///< samples per step
  int64_t microBatches = 1;
  llvm::StringMap<MeasuredTask> tasks;
  std::vector<MeasuredLink> links; ///< empty if there is only one rank
  std::optional<StoreRates> store; ///< only for a program that spills

  /// Returns the task's seconds per step, summed over all ranks; 0 if there is
  /// no such task.
  double getSeconds(llvm::StringRef task) const {
    return tasks.lookup(task).seconds;
  }
};

/// Reads the JSON object. The error says which field is wrong, and why; fields
/// that `bench` doesn't write are errors, too.
llvm::Expected<MeasuredCosts> readCosts(llvm::StringRef text);

/// Sets the rates, the latency and the slowdown of the cluster, in which rank r
/// runs on device r, to medians of the measurements: over the links within a
/// machine, over those between machines, and over all links. Leaves unchanged
/// what wasn't measured.
void measureLinks(Cluster &cluster, const MeasuredCosts &costs);

} // namespace mlir::hfta::planning

#endif // HFTA_PLANNING_COMMON_MEASUREDCOSTS_H
