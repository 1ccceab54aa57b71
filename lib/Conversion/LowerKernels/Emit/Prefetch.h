//===- Prefetch.h - Memory of the next work item ----------------*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_LOWERKERNELS_EMIT_PREFETCH_H
#define HFTA_LIB_CONVERSION_LOWERKERNELS_EMIT_PREFETCH_H

#include "Plan/LoopPlan.h"

namespace mlir::hfta {

/// Prefetches the next work item's data while this one computes. A kernel that
/// makes several passes over its item's part of an argument waits for memory
/// only in the first pass, and nothing hides that; so the second pass, which
/// finds its own data in the cache, prefetches the next item's.
class Prefetcher {
public:
  Prefetcher(OpBuilder &builder, linalg::GenericOp op,
             const TargetModel &target);

  /// Prefetches the next item's cache line at these indices of an operand, if a
  /// vector that is `offset` elements from where vectors begin is the first to
  /// read it.
  void create(OpOperand &operand, ValueRange indices, int64_t offset);

private:
  OpBuilder &builder;
  int64_t lineBytes;
  /// The next item's memory for some of the op's operands.
  llvm::SmallDenseMap<OpOperand *, Value> memories;
};

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERKERNELS_EMIT_PREFETCH_H
