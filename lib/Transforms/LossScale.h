//===- LossScale.h - What losses are multiplied with ------------*- C++ -*-===//
//
// Of a job with `loss_scale`. Gradients of a loss times a power of two are
// those of the loss times it, but for what is too small or too large for the
// types that they are rounded to on their way. Each copy has a scale of its
// own, which follows from its own gradients: Micikevicius et al., "Mixed
// precision training", ICLR 2018, by the rules of PyTorch's GradScaler.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_TRANSFORMS_LOSSSCALE_H
#define HFTA_LIB_TRANSFORMS_LOSSSCALE_H

#include "Hfta/Dialect/Hfta/IR/Expression.h"
#include "TaskBuilder.h"

namespace mlir::hfta {

/// Declares each copy's scale and the counts beside it, state as the
/// optimizer's is, and what a step tells of them.
void declareLossScale(TaskBuilder &tasks);

/// Each copy's scale in `type`: the gradient by its loss.
Value readLossScale(TaskBuilder &tasks, Type type);

/// How many of the steps so far have changed a copy: what its optimizer has
/// counted. A scalar in f64.
Value readStepsTaken(TaskBuilder &tasks, std::optional<int64_t> copy);

/// Builds into the clip task the next step's scale. `squares` is the sum of the
/// squares of all gradients as they are, scaled, and `clip` what the loss' own
/// are multiplied with; f64 scalars a copy. Returns what gradients are
/// multiplied with: NaN where `squares` isn't finite, in which case the step
/// leaves the copy as it was.
Expression buildLossScale(TaskBuilder &tasks, const Expression &squares,
                          const Expression &clip);

/// Whether gradients that are multiplied with so much change the copy.
inline Expression isTaken(const Expression &clipScale) {
  return clipScale.compare(ComparePredicate::greater_equal, 0.0);
}

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_LOSSSCALE_H
