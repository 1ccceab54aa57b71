//===- Prefetch.h - Prefetching for the next work item ----------*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_LOWERKERNELS_EMIT_PREFETCH_H
#define HFTA_LIB_CONVERSION_LOWERKERNELS_EMIT_PREFETCH_H

#include "Plan/LoopPlan.h"

namespace mlir::hfta {

/// Prefetches the next work item's data while the current item is computed. A
/// kernel that makes several passes over its item's part of an argument waits
/// for memory only in the first pass, where nothing hides the latency. The
/// second pass finds its own data in the cache and has time to prefetch the
/// next item's.
class Prefetcher {
public:
  Prefetcher(OpBuilder &builder, linalg::GenericOp op,
             const TargetModel &target);

  /// Prefetches the cache line of the next item at these indices of an operand.
  /// Only the first vector in a cache line does so: `offset`, its distance in
  /// elements from an aligned address, must be a multiple of the line's length.
  void create(OpOperand &operand, ValueRange indices, int64_t offset);

private:
  OpBuilder &builder;
  int64_t lineBytes;
  /// For each operand that is prefetched, the next item's memory.
  llvm::SmallDenseMap<OpOperand *, Value> memories;
};

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERKERNELS_EMIT_PREFETCH_H
