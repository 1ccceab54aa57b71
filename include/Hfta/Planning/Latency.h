//===- Latency.h - How long a batch takes in a pipeline ---------*- C++ -*-===//
//
// Both functions take stages and links in turn, as StageCosts::getStations
// makes them.
//===----------------------------------------------------------------------===//

#ifndef HFTA_PLANNING_LATENCY_H
#define HFTA_PLANNING_LATENCY_H

#include "Hfta/Planning/StageCosts.h"

namespace mlir::hfta::planning {

/// How many micro-batches a stage lets in before it begins with backwards, for
/// n stages of one replica counted from 0.
enum class InFlightPolicy {
  withLinks,    ///< 2(n - i) - 1: sends take as long as stages
  withoutLinks, ///< n - i: sends take no time
  all           ///< all micro-batches: all forwards come first
};

inline constexpr InFlightPolicy kInFlightPolicies[] = {
    InFlightPolicy::withLinks, InFlightPolicy::withoutLinks,
    InFlightPolicy::all};

/// K of each stage: micro-batches that one replica has in flight, or with
/// divided micro-batches all replicas together. At most what `most` says of
/// each stage.
llvm::SmallVector<int64_t, 8> getInFlight(InFlightPolicy policy,
                                          llvm::ArrayRef<Station> stations,
                                          const Workload &workload,
                                          llvm::ArrayRef<int64_t> most);

/// Seconds from the first forward to the end of the last all-reduce if each
/// stage begins what it can in the order one forward, one backward, with
/// `inFlight` micro-batches before the first backward. With half duplex, links
/// take turns as stages do. Numbers in flight with which stages wait for each
/// other for ever are lowered.
double getLatency(llvm::ArrayRef<Station> stations,
                  llvm::ArrayRef<int64_t> inFlight, const Workload &workload,
                  Duplex duplex);

struct LatencyEstimate {
  double seconds = 0;
  /// The station that is never idle between its first and its last micro-batch.
  int64_t pivot = 0;
};

/// The estimate of DAPPLE's paper, mostly a little less than what getLatency
/// says with the best numbers in flight.
LatencyEstimate estimateLatency(llvm::ArrayRef<Station> stations,
                                const Workload &workload, Duplex duplex);

} // namespace mlir::hfta::planning

#endif // HFTA_PLANNING_LATENCY_H
