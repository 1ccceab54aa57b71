//===- SumMarks.h - Marks of sums' terms in loops ---------------*- C++ -*-===//
//
// When an op with sums becomes loops, the order of its sums is added to the
// function's list of orders. The ops that add terms, combine sums or loop over
// terms are marked with the order's index, so that `hfta-verify-sum-order` can
// check the loops against it.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_CONVERSION_LOWERKERNELS_EMIT_SUMMARKS_H
#define HFTA_LIB_CONVERSION_LOWERKERNELS_EMIT_SUMMARKS_H

#include "Hfta/Dialect/Hfta/IR/HftaDialect.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::hfta {

/// Appends the order of an op's sums to the function's list, and stores its
/// index on the op, where the functions below find it. Does nothing if `order`
/// is null.
void numberSum(linalg::GenericOp op, SumOrderAttr order);

/// Marks the ops that compute the running values which a copy of the op's body
/// yields.
void markTerms(linalg::GenericOp op, ValueRange results);
/// Marks an op that combines two running values.
void markCombiner(linalg::GenericOp op, Operation *combiner);
/// Marks the op that makes a sum's initial value.
void markStart(linalg::GenericOp op, Value value);
/// Marks a loop over an axis of `op` if it is a loop over terms.
void markLoop(linalg::GenericOp op, unsigned axis, scf::ForOp loop);

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERKERNELS_EMIT_SUMMARKS_H
