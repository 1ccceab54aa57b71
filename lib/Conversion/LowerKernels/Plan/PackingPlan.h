//===- PackingPlan.h - Which inputs of a loop nest are packed ---*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_LOWERKERNELS_PLAN_PACKINGPLAN_H
#define HFTA_LIB_CONVERSION_LOWERKERNELS_PLAN_PACKINGPLAN_H

#include "Plan/LoopPlan.h"

namespace mlir::hfta {

/// Sets a plan's `packed` and `packedRows` where packing pays. `wanted` is the
/// number of an input that has to be packed; no other input is `packed` then,
/// and it isn't either if that isn't possible.
void choosePacking(linalg::GenericOp op, LoopPlan &plan,
                   const TargetModel &target, std::optional<unsigned> wanted);

/// Returns whether the terms of neighbouring results are windows of an operand,
/// which may overlap: one of its indices depends on terms and on results.
bool readsWindows(linalg::GenericOp op, OpOperand &operand);

/// Returns the number of a product's input whose windows a plan reads where
/// they lie, in few sets of the first-level cache: all distances between terms
/// are multiples of a large power of two. Each tile of rows would read the same
/// terms from a farther cache.
std::optional<unsigned> findCrowdedWindows(linalg::GenericOp op,
                                           const LoopPlan &plan,
                                           const TargetModel &target);

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERKERNELS_PLAN_PACKINGPLAN_H
