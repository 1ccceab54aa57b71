//===- AllocateIntervals.h - Offsets by live intervals ----------*- C++ -*-===//

#ifndef HFTA_LIB_TRANSFORMS_MEMORY_ALLOCATEINTERVALS_H
#define HFTA_LIB_TRANSFORMS_MEMORY_ALLOCATEINTERVALS_H

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>

namespace mlir::hfta {

/// A buffer of `bytes` bytes. Its live range is `first` to `last`, both
/// inclusive, counted in positions of a sequence such as a task's launches.
struct LiveInterval {
  int64_t bytes = 0, first = 0, last = 0;
  int64_t offset = -1; ///< in bytes; set by allocateIntervals
};

/// Sets the offsets of buffers so that no two with overlapping live ranges
/// overlap in memory, and returns the number of bytes needed. Greedy: places
/// the largest buffer first, each at the lowest offset that is free throughout
/// its live range. Offsets are sums of buffer sizes, and so multiples of any
/// common divisor of all sizes. Source: Pisarchyk and Lee, "Efficient memory
/// management for deep neural net inference", 2020 ("greedy by size for offset
/// calculation").
int64_t allocateIntervals(llvm::ArrayRef<LiveInterval *> intervals);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_MEMORY_ALLOCATEINTERVALS_H
