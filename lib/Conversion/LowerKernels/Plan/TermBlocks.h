//===- TermBlocks.h - Sums in blocks that stay in the cache -----*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_LOWERKERNELS_PLAN_TERMBLOCKS_H
#define HFTA_LIB_CONVERSION_LOWERKERNELS_PLAN_TERMBLOCKS_H

#include "Plan/LoopPlan.h"

namespace mlir::hfta {

/// The blocks of terms that the sums of an op are best computed in, outermost
/// first; none if one pass over the terms is best. Sums wait in memory between
/// blocks and take up their terms in order, so no bit depends on the choice.
SmallVector<TermBlock> chooseTermBlocks(linalg::GenericOp op,
                                        const LoopPlan &plan,
                                        const TargetModel &target);

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERKERNELS_PLAN_TERMBLOCKS_H
