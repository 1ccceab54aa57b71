//===- SpillSearch.h - Groups of blocks and what they keep ------*- C++ -*-===//

#ifndef HFTA_LIB_PLANNING_SPILLSEARCH_H
#define HFTA_LIB_PLANNING_SPILLSEARCH_H

#include "SpillOptions.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir::hfta::planning {

/// Returns plans for `copies` copies per turn, none of which seems to be as
/// good as another one in memory, computing, reading and writing. They are
/// independent of the budget.
std::vector<SpillPlan> searchPlans(const SpillModel &model,
                                   const SpillIndex &index,
                                   const SpillRequest &request,
                                   SpillOptions &options, int64_t copies);

/// Returns plans by rules of thumb: everything is kept; each block, or each of
/// √n groups, is recomputed; the largest values go to the store; the values
/// that cost the least time per byte are recomputed.
std::vector<SpillPlan> makeSimplePlans(const SpillModel &model,
                                       const SpillIndex &index,
                                       const SpillRequest &request,
                                       int64_t copies);

/// Calls a function with the valid plans that differ from this one in one
/// decision.
void forEachNeighbour(const SpillModel &model, const SpillIndex &index,
                      const SpillRequest &request, const SpillPlan &plan,
                      llvm::function_ref<void(const SpillPlan &)> take);

} // namespace mlir::hfta::planning

#endif // HFTA_LIB_PLANNING_SPILLSEARCH_H
