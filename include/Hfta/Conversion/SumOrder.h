//===- SumOrder.h - The order of an op's sums -------------------*- C++ -*-===//

#ifndef HFTA_CONVERSION_SUMORDER_H
#define HFTA_CONVERSION_SUMORDER_H

#include "Hfta/Dialect/Hfta/IR/HftaDialect.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::hfta {

/// The order in which an op goes through its terms; null if it reduces nothing,
/// or has no terms. Reads are indices of operands.
SumOrderAttr getLoopOrder(linalg::GenericOp op);

/// The same of an op on memory whose loops over terms are `axes`, the outermost
/// first. Reads are addresses.
SumOrderAttr getAddressOrder(linalg::GenericOp op, ArrayRef<unsigned> axes,
                             int64_t lanes, int64_t vectors);

/// States the order of an op that is what decides on it.
void stateSumOrder(linalg::GenericOp op);

/// States for an op that replaces another one, and goes through its terms as
/// that did, where they are read now. Does nothing if there are other terms.
void keepSumOrder(linalg::GenericOp op, SumOrderAttr stated);

} // namespace mlir::hfta

#endif // HFTA_CONVERSION_SUMORDER_H
