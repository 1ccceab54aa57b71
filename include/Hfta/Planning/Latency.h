//===- Latency.h - How long a batch takes in a pipeline ---------*- C++ -*-===//
//
// Both functions take stages and links alternately, as StageCosts::getStations
// makes them.
//===----------------------------------------------------------------------===//

#ifndef HFTA_PLANNING_LATENCY_H
#define HFTA_PLANNING_LATENCY_H

#include "Hfta/Planning/StageCosts.h"

namespace mlir::hfta::planning {

/// The number of micro-batches that a stage starts before its first backward,
/// for stages i = 0 … n - 1 of one replica each.
enum class InFlightPolicy {
  withLinks,    ///< 2(n - i) - 1: sends take as long as stages
  withoutLinks, ///< n - i: sends take no time
  all           ///< all micro-batches: all forwards come first
};

inline constexpr InFlightPolicy kInFlightPolicies[] = {
    InFlightPolicy::withLinks, InFlightPolicy::withoutLinks,
    InFlightPolicy::all};

/// Returns K of each stage: the micro-batches that one replica has in flight,
/// or all replicas together if micro-batches are divided. It is at most the
/// stage's entry in `most`.
llvm::SmallVector<int64_t, 8> getInFlight(InFlightPolicy policy,
                                          llvm::ArrayRef<Station> stations,
                                          const Workload &workload,
                                          llvm::ArrayRef<int64_t> most);

/// Returns the seconds from the first forward to the end of the last all-reduce
/// if each stage begins whatever it can in the order one forward, one backward,
/// with `inFlight` micro-batches before the first backward. With half duplex,
/// the two directions of a link take turns as in stages. Numbers in flight that
/// would make stages wait for each other forever are lowered.
double getLatency(llvm::ArrayRef<Station> stations,
                  llvm::ArrayRef<int64_t> inFlight, const Workload &workload,
                  Duplex duplex);

struct LatencyEstimate {
  double seconds = 0;
  /// The station that is never idle between its first and its last micro-batch.
  int64_t pivot = 0;
};

/// Computes the estimate of DAPPLE's paper, which is mostly a little less than
/// the result of getLatency with the best numbers in flight.
LatencyEstimate estimateLatency(llvm::ArrayRef<Station> stations,
                                const Workload &workload, Duplex duplex);

} // namespace mlir::hfta::planning

#endif // HFTA_PLANNING_LATENCY_H
