//===- TermBlocks.h - Sums in blocks that stay in the cache -----*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_LOWERKERNELS_PLAN_TERMBLOCKS_H
#define HFTA_LIB_CONVERSION_LOWERKERNELS_PLAN_TERMBLOCKS_H

#include "Plan/LoopPlan.h"

namespace mlir::hfta {

/// Sets the blocks of a plan in which an op's terms are added so that data
/// stays in the cache (cache blocking), the outermost first; none if one pass
/// over the terms is best. If the plan packs rows, the elements that are packed
/// at a time stay in the cache; that may need blocks of rows, too. Between
/// blocks, sums are kept in memory and later continue with their terms in
/// order, so the choice changes no bits.
void chooseTermBlocks(linalg::GenericOp op, LoopPlan &plan,
                      const TargetModel &target);

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERKERNELS_PLAN_TERMBLOCKS_H
