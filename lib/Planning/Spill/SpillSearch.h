//===- SpillSearch.h - Groups of blocks and what they keep ------*- C++ -*-===//

#ifndef HFTA_LIB_PLANNING_SPILL_SPILLSEARCH_H
#define HFTA_LIB_PLANNING_SPILL_SPILLSEARCH_H

#include "Spill/SpillOptions.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir::hfta::planning {

/// Returns plans for `copies` copies per turn. They are about Pareto-optimal in
/// memory, and in seconds of computing, reading and writing. They don't depend
/// on the budget.
std::vector<SpillPlan> searchPlans(const SpillModel &model,
                                   const SpillIndex &index,
                                   const SpillRequest &request,
                                   SpillOptions &options, int64_t copies);

/// Returns plans by rules of thumb: everything is kept; each block, or each of
/// √n groups, is recomputed; the largest values are spilled; the values with
/// the least time per byte are recomputed.
std::vector<SpillPlan> makeSimplePlans(const SpillModel &model,
                                       const SpillIndex &index,
                                       const SpillRequest &request,
                                       int64_t copies);

/// Calls `take` with each valid plan that differs from `plan` in one decision.
void forEachNeighbour(const SpillModel &model, const SpillIndex &index,
                      const SpillRequest &request, const SpillPlan &plan,
                      llvm::function_ref<void(const SpillPlan &)> take);

} // namespace mlir::hfta::planning

#endif // HFTA_LIB_PLANNING_SPILL_SPILLSEARCH_H
