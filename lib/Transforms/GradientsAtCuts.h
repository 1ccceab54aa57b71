//===- GradientsAtCuts.h - Gradients that pass back over cuts ---*- C++ -*-===//

#ifndef HFTA_LIB_TRANSFORMS_GRADIENTSATCUTS_H
#define HFTA_LIB_TRANSFORMS_GRADIENTSATCUTS_H

#include "TaskBuilder.h"
#include "TaskTags.h"

namespace mlir::hfta {

/// Moves derivatives over cuts. Where a block ends with an activation function
/// such as relu, the next block has the function's result at hand, if its own
/// backward reads it, as that of a layer with a trained weight does. The
/// function's derivative is then moved to that backward, and the gradient that
/// passes the cut is that of the function's operand. So the earlier block's
/// backward no longer needs the result, and the derivative joins the kernel
/// that computes the gradient. Other ops are moved likewise if they only move a
/// gradient, or are cheap, and make it no larger.
void moveGradientsBehindCuts(TaskBuilder &tasks, Block &step, TaskTags &tags);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_GRADIENTSATCUTS_H
