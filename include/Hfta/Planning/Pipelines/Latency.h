//===- Latency.h - How long a batch takes in a pipeline ---------*- C++ -*-===//
//
// The time of a batch in a pipeline. The functions take a list of stations,
// alternately stages and links, as StageCosts::getStations returns them.
//===----------------------------------------------------------------------===//

#ifndef HFTA_PLANNING_PIPELINES_LATENCY_H
#define HFTA_PLANNING_PIPELINES_LATENCY_H

#include "Hfta/Planning/Pipelines/StageCosts.h"

namespace mlir::hfta::planning {

/// The rule for the number of micro-batches that a stage starts before its
/// first backward. Formulas are for stages i = 0 … n - 1 with one replica each.
enum class InFlightPolicy {
  withLinks,    ///< 2(n - i) - 1, if sending takes as long as a stage
  withoutLinks, ///< n - i, if sending takes no time
  all           ///< all micro-batches, so that all forwards come first
};

inline constexpr InFlightPolicy kInFlightPolicies[] = {
    InFlightPolicy::withLinks, InFlightPolicy::withoutLinks,
    InFlightPolicy::all};

/// Returns the number of micro-batches in flight of each stage, limited to the
/// stage's entry in `most`. It is the number of one replica, or of all replicas
/// together if micro-batches are divided among them.
llvm::SmallVector<int64_t, 8> getInFlight(InFlightPolicy policy,
                                          llvm::ArrayRef<Station> stations,
                                          const Workload &workload,
                                          llvm::ArrayRef<int64_t> most);

/// Returns the seconds from the first forward to the end of the last update, if
/// each stage works in the order one forward, one backward (1F1B) as early as
/// possible, with `inFlight` micro-batches before its first backward. With half
/// duplex, the two directions of a link take turns, like the forwards and
/// backwards of a stage. Numbers in flight that would cause a deadlock are
/// reduced.
double getLatency(llvm::ArrayRef<Station> stations,
                  llvm::ArrayRef<int64_t> inFlight, const Workload &workload,
                  Duplex duplex);

struct LatencyEstimate {
  double seconds = 0;
  /// The station that is never idle between its first and its last micro-batch,
  /// and therefore determines the estimate.
  int64_t pivot = 0;
};

/// Returns the estimate of DAPPLE's paper (Fan et al., PPoPP 2021). It is
/// mostly a little less than getLatency for the best numbers in flight.
LatencyEstimate estimateLatency(llvm::ArrayRef<Station> stations,
                                const Workload &workload, Duplex duplex);

} // namespace mlir::hfta::planning

#endif // HFTA_PLANNING_PIPELINES_LATENCY_H
