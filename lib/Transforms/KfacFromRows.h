//===- KfacFromRows.h - Gradients that are never formed ---------*- C++ -*-===//
//
// With R rows a of a layer's input and g of its output gradient,
//
//   V = G⁻¹ (Σ g aᵀ) A⁻¹ = Σ (G⁻¹ g) (A⁻¹ a)ᵀ
//
// takes fewer products from the rows where these are few: R (n² + m²) for both
// inverses in place of n m (n + m), n being the columns of a and m those of g,
// and no gradient is formed, but V where it would have been. The products with
// the gradient, ⟨V, Grad⟩, are then Σ (g G⁻¹ gᵀ) ∘ (a A⁻¹ aᵀ), of R² numbers.
//
// V needs all rows of an update, so that this is for steps of one micro-batch,
// which is one group's and one worker's of each stage. A caller that
// accumulates gradients and updates apart may do the former several times:
// those tasks take the gradient.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_TRANSFORMS_KFACFROMROWS_H
#define HFTA_LIB_TRANSFORMS_KFACFROMROWS_H

#include "KfacUnits.h"

namespace mlir::hfta {

/// Chooses the units that steps precondition from the rows, and has the tasks
/// that name their layers leave the rows, where these aren't left already:
/// in the variables that are returned. By one copy's shapes alone.
SmallVector<VariableOp> leaveRows(TaskBuilder &tasks,
                                  MutableArrayRef<KfacUnit> units);

/// Gives these tasks, and their versions that add up moments, another version
/// each, which writes the variables in place of gradients; takes what computes
/// the variables out of the tasks themselves.
void buildRowsVersions(TaskBuilder &tasks, ArrayRef<KfacUnit> units,
                       ArrayRef<VariableOp> left);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_KFACFROMROWS_H
