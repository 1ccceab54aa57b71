//===- AllocateIntervals.h - Offsets by live intervals ----------*- C++ -*-===//

#ifndef HFTA_LIB_TRANSFORMS_ALLOCATEINTERVALS_H
#define HFTA_LIB_TRANSFORMS_ALLOCATEINTERVALS_H

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>

namespace mlir::hfta {

/// A block of memory of `bytes` that is in use from `first` to `last`, both
/// included.
struct LiveInterval {
  int64_t bytes = 0, first = 0, last = 0;
  int64_t offset = -1; ///< found by allocateIntervals
};

/// Gives each interval an offset such that no two overlap that are in use at
/// the same time: largest first, each at the lowest offset that is free while
/// it lives. Offsets are sums of the intervals' bytes, and so multiples of any
/// common divisor of these. Returns the bytes needed. Source: Pisarchyk and
/// Lee, "Efficient memory management for deep neural net inference", 2020
/// ("greedy by size for offset calculation").
int64_t allocateIntervals(llvm::ArrayRef<LiveInterval *> intervals);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_ALLOCATEINTERVALS_H
