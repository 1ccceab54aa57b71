//===- SumOrder.h - The order of an op's sums -------------------*- C++ -*-===//

#ifndef HFTA_CONVERSION_SUMORDER_H
#define HFTA_CONVERSION_SUMORDER_H

#include "Hfta/Dialect/Hfta/IR/HftaDialect.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::hfta {

/// Returns the order in which an op adds its terms; null if it reduces nothing,
/// or has no terms. The order's reads are indices of operands.
SumOrderAttr getLoopOrder(linalg::GenericOp op);

/// Returns the order of an op on memory whose loops over terms are `axes`, the
/// outermost first. The order's reads are addresses.
SumOrderAttr getAddressOrder(linalg::GenericOp op, ArrayRef<unsigned> axes,
                             int64_t lanes, int64_t vectors);

/// States an op's order, if the op itself determines it.
void stateSumOrder(linalg::GenericOp op);

/// States the order of an op that replaces another one and adds its terms as
/// that one did, read where they now are. Does nothing if the terms are
/// different.
void keepSumOrder(linalg::GenericOp op, SumOrderAttr stated);

} // namespace mlir::hfta

#endif // HFTA_CONVERSION_SUMORDER_H
