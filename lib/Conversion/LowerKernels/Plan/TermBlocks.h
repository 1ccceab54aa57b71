//===- TermBlocks.h - Sums in blocks that stay in the cache -----*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_LOWERKERNELS_PLAN_TERMBLOCKS_H
#define HFTA_LIB_CONVERSION_LOWERKERNELS_PLAN_TERMBLOCKS_H

#include "Plan/LoopPlan.h"

namespace mlir::hfta {

/// Chooses the blocks in which an op's terms are added so that data stays in
/// the cache (cache blocking), the outermost first. Returns none if one pass
/// over the terms is best. Between blocks, sums are kept in memory and later
/// continue with their terms in order, so the choice changes no bits.
SmallVector<TermBlock> chooseTermBlocks(linalg::GenericOp op,
                                        const LoopPlan &plan,
                                        const TargetModel &target);

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERKERNELS_PLAN_TERMBLOCKS_H
