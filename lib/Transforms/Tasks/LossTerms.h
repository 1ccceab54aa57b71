//===- LossTerms.h - Sums of weighted terms ---------------------*- C++ -*-===//
//
// A loss may be a sum of terms, each with a weight for each copy. A term whose
// weight is 0 for a copy changes none of the copy's bits, not even where its
// gradient isn't finite, and parameters that no other term reaches stay as they
// are. So sums over terms skip it, instead of adding its product with 0.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_TRANSFORMS_TASKS_LOSSTERMS_H
#define HFTA_LIB_TRANSFORMS_TASKS_LOSSTERMS_H

#include "Hfta/Dialect/Hfta/IR/Expression.h"
#include "Tasks/TaskBuilder.h"

namespace mlir::hfta {

/// A value of a term, or of several terms that have been added.
struct PartOfTerms {
  SmallVector<int64_t, 1> terms; ///< indices in TaskBuilder::getLossTerms()
  Value value;
};

/// Reads the weight of a term; null if it has none.
Value readTermWeight(TaskBuilder &tasks, int64_t term,
                     std::optional<int64_t> copy = std::nullopt);

/// Builds a boolean for each copy: whether the weight of any of the terms isn't
/// 0. Returns null if one of them has no weight, so that it always counts.
Value buildCounts(TaskBuilder &tasks, ArrayRef<int64_t> terms,
                  std::optional<int64_t> copy = std::nullopt);

/// Builds the sum of `begin` and the parts, each of which is skipped if it
/// doesn't count. If `begin` is null, the first part begins the sum, or zero
/// where it doesn't count. All have the type of `begin`, or of the first part.
Value addParts(TaskBuilder &tasks, Value begin, ArrayRef<PartOfTerms> parts,
               std::optional<int64_t> copy = std::nullopt);

/// Builds variable += parts. The sum is rounded once, to the variable's element
/// type.
void accumulateParts(TaskBuilder &tasks, ArrayRef<PartOfTerms> parts,
                     VariableOp variable,
                     std::optional<int64_t> copy = std::nullopt);

/// Notes the terms whose gradients are added up in a variable. Terms that other
/// copies have added stay.
void noteTerms(VariableOp gradient, ArrayRef<int64_t> terms);
/// Returns the noted terms. In a job with turns, these are only the terms of
/// the turn that is the block.
SmallVector<int64_t> getTerms(TaskBuilder &tasks, VariableOp gradient,
                              int64_t block);

/// Returns the variables of a trained variable's gradient, which the update of
/// the block uses: one or, if some terms are still to be divided by a sum of
/// weights, several.
SmallVector<VariableOp> getGradients(TaskBuilder &tasks, VariableOp variable,
                                     int64_t block);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_TASKS_LOSSTERMS_H
