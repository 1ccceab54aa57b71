//===- AllocateIntervals.cpp - Offsets by live intervals ------------------===//

#include "Memory/AllocateIntervals.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <tuple>

using namespace mlir;
using namespace mlir::hfta;

int64_t hfta::allocateIntervals(llvm::ArrayRef<LiveInterval *> intervals) {
  llvm::SmallVector<LiveInterval *> bySize(intervals);
  llvm::sort(bySize, [](LiveInterval *a, LiveInterval *b) {
    return std::tie(b->bytes, a->first) < std::tie(a->bytes, b->first);
  });
  llvm::SmallVector<LiveInterval *> done; // placed so far, by offset
  int64_t peak = 0;
  for (LiveInterval *interval : bySize) {
    int64_t offset = 0;
    for (LiveInterval *other : done) {
      if (other->last < interval->first || interval->last < other->first)
        continue;
      if (offset + interval->bytes <= other->offset)
        break;
      offset = std::max(offset, other->offset + other->bytes);
    }
    interval->offset = offset;
    peak = std::max(peak, offset + interval->bytes);
    done.insert(llvm::upper_bound(done, interval,
                                  [](LiveInterval *a, LiveInterval *b) {
                                    return a->offset < b->offset;
                                  }),
                interval);
  }
  return peak;
}
