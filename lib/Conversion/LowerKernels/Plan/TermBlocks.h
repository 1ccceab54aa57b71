//===- TermBlocks.h - Sums in blocks that stay in the cache -----*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_LOWERKERNELS_PLAN_TERMBLOCKS_H
#define HFTA_LIB_CONVERSION_LOWERKERNELS_PLAN_TERMBLOCKS_H

#include "Plan/LoopPlan.h"

namespace mlir::hfta {

/// Chooses the blocks of terms in which the sums of an op are computed, the
/// outermost first; none if one pass over the terms is best. Sums wait in
/// memory between blocks and continue with their terms in order, so the choice
/// changes no bits.
SmallVector<TermBlock> chooseTermBlocks(linalg::GenericOp op,
                                        const LoopPlan &plan,
                                        const TargetModel &target);

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERKERNELS_PLAN_TERMBLOCKS_H
