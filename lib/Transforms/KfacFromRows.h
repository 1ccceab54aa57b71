//===- KfacFromRows.h - Gradients that are never formed ---------*- C++ -*-===//
//
// With R rows a of a layer's input and g of its output gradient,
//
//   V = G⁻¹ (Σ g aᵀ) A⁻¹ = Σ (G⁻¹ g) (A⁻¹ a)ᵀ
//
// takes fewer products when computed from the rows, if these are few: R (n² +
// m²) for both inverses in place of n m (n + m), where n is the number of
// columns of a and m that of g. No gradient is formed; V takes its place. The
// products with the gradient, ⟨V, Grad⟩, are then Σ (g G⁻¹ gᵀ) ∘ (a A⁻¹ aᵀ),
// over R² numbers.
//
// V needs all rows of an update, so this is for steps of one micro-batch, which
// belongs to one group and one worker of each stage. A caller that accumulates
// gradients and updates separately may do the former several times: those tasks
// use the gradient.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_TRANSFORMS_KFACFROMROWS_H
#define HFTA_LIB_TRANSFORMS_KFACFROMROWS_H

#include "KfacUnits.h"

namespace mlir::hfta {

/// Chooses the units that steps precondition from the rows, and makes the tasks
/// that name their layers save the rows, where these aren't saved already, in
/// the variables that are returned. The choice depends on one copy's shapes
/// alone.
SmallVector<VariableOp> leaveRows(TaskBuilder &tasks,
                                  MutableArrayRef<KfacUnit> units);

/// Builds another version of each of these tasks, and of their versions that
/// add up moments, which writes the variables instead of gradients; removes the
/// computation of the variables from the original tasks.
void buildRowsVersions(TaskBuilder &tasks, ArrayRef<KfacUnit> units,
                       ArrayRef<VariableOp> left);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_KFACFROMROWS_H
