//===- SumMarks.h - Loops say whose terms they add --------------*- C++ -*-===//
//
// Where an op with sums becomes loops, the function's list of sums gets its
// order, and what adds, combines or goes through its terms is marked, so that
// `hfta-verify-sum-order` can hold the loops to it.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_CONVERSION_LOWERKERNELS_EMIT_SUMMARKS_H
#define HFTA_LIB_CONVERSION_LOWERKERNELS_EMIT_SUMMARKS_H

#include "Hfta/Dialect/Hfta/IR/HftaDialect.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::hfta {

/// Adds the order of an op's sums to those of its function and notes its number
/// on the op, for the functions below. Does nothing if `order` is null.
void numberSum(linalg::GenericOp op, SumOrderAttr order);

/// Marks the values that a copy of the op's body gives as running values.
void markTerms(linalg::GenericOp op, ValueRange results);
/// Marks what combines two running values.
void markCombiner(linalg::GenericOp op, Operation *combiner);
/// Marks what sums start from.
void markStart(linalg::GenericOp op, Value value);
/// Marks a loop over an axis if that is one of terms.
void markLoop(linalg::GenericOp op, unsigned axis, scf::ForOp loop);

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERKERNELS_EMIT_SUMMARKS_H
