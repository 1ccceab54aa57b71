//===- KfacFromRows.h - Gradients that are never formed ---------*- C++ -*-===//
//
// Let a layer's input have R rows a of n columns, and its output gradient R
// rows g of m columns. With few rows, the preconditioned gradient
//
//   V = G⁻¹ (Σ g aᵀ) A⁻¹ = Σ (G⁻¹ g) (A⁻¹ a)ᵀ
//
// takes fewer multiply-adds if it is computed from the rows: the products with
// both inverses take R (n² + m²) in place of n m (n + m). The gradient is never
// formed; V takes its place. Its inner product with the gradient, ⟨V, Grad⟩, is
// Σ (g G⁻¹ gᵀ) ∘ (a A⁻¹ aᵀ), a sum of R² numbers.
//
// V needs all rows of an update. So only steps of one micro-batch, which
// belongs to one group and one worker of each stage, are computed in this way.
// A caller that accumulates gradients and updates separately may accumulate
// several times for one update: the tasks for that use the gradient.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_TRANSFORMS_KFAC_KFACFROMROWS_H
#define HFTA_LIB_TRANSFORMS_KFAC_KFACFROMROWS_H

#include "Kfac/KfacUnits.h"

namespace mlir::hfta {

/// Chooses the units that steps precondition from rows, by one copy's shapes
/// alone, and sets their `inputRows` and `outputRows`. The tasks that name
/// their layers will save the rows, unless they are saved already. Returns the
/// new variables with rows.
SmallVector<VariableOp> leaveRows(TaskBuilder &tasks,
                                  MutableArrayRef<KfacUnit> units);

/// Builds other versions of the tasks that name the layers of such units, and
/// of these tasks' versions that add up moments. The new versions write the
/// rows, to the variables `left` that leaveRows returned, in place of the
/// gradients. The original tasks no longer write rows.
void buildRowsVersions(TaskBuilder &tasks, ArrayRef<KfacUnit> units,
                       ArrayRef<VariableOp> left);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_KFAC_KFACFROMROWS_H
