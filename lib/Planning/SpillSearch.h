//===- SpillSearch.h - Groups of blocks and what they keep ------*- C++ -*-===//

#ifndef HFTA_LIB_PLANNING_SPILLSEARCH_H
#define HFTA_LIB_PLANNING_SPILLSEARCH_H

#include "SpillOptions.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir::hfta::planning {

/// Plans for so many copies a turn of which none seems to be as good as another
/// one in memory, computing, reading and writing. They are the same for all
/// budgets.
std::vector<SpillPlan> searchPlans(const SpillModel &model,
                                   const SpillIndex &index,
                                   const SpillRequest &request,
                                   SpillOptions &options, int64_t copies);

/// Plans by rules of thumb: all is kept; each block, or each of √n groups, is
/// computed again; the largest values go out; the bytes that cost least time
/// are computed again.
std::vector<SpillPlan> makeSimplePlans(const SpillModel &model,
                                       const SpillIndex &index,
                                       const SpillRequest &request,
                                       int64_t copies);

/// Plans that can be carried out and differ from this one in one decision.
void forEachNeighbour(const SpillModel &model, const SpillIndex &index,
                      const SpillRequest &request, const SpillPlan &plan,
                      llvm::function_ref<void(const SpillPlan &)> take);

} // namespace mlir::hfta::planning

#endif // HFTA_LIB_PLANNING_SPILLSEARCH_H
