//===- GradientsAtCuts.h - Gradients that pass back over cuts ---*- C++ -*-===//

#ifndef HFTA_LIB_TRANSFORMS_DIFFERENTIATE_GRADIENTSATCUTS_H
#define HFTA_LIB_TRANSFORMS_DIFFERENTIATE_GRADIENTSATCUTS_H

#include "Tasks/TaskBuilder.h"
#include "Tasks/TaskTags.h"

namespace mlir::hfta {

/// Moves derivatives over cuts, from the backward of the block before a cut to
/// that of the block after it. If a block ends with an activation function such
/// as relu, the backward of the next block may have the function's result at
/// hand: a layer with a trained weight reads it to compute the weight's
/// gradient. The function's derivative is then moved there, and the gradient
/// that passes the cut is that of the function's operand. So the backward of
/// the block before the cut no longer needs the function's result, and the
/// derivative joins the kernel that computes the gradient. Other ops that only
/// move a gradient or are cheap are moved likewise, if the gradient that passes
/// the cut doesn't become larger.
void moveGradientsBehindCuts(TaskBuilder &tasks, Block &step, TaskTags &tags);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_DIFFERENTIATE_GRADIENTSATCUTS_H
