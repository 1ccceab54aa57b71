//===- ExactNumbers.h - Constants before rounding ---------------*- C++ -*-===//
//
// Models are built in their natural types, often f32; a job may compute in f64.
// Where a constant's type can't hold the numbers that its author wrote (or
// those that follow from them), the constant also keeps the exact numbers as
// f64 elements in the discardable attribute `hfta.exact`. The pass that gives
// floats the job's types takes a constant's elements from there if the new type
// is wider.
//===----------------------------------------------------------------------===//

#ifndef HFTA_DIALECT_HFTA_JOB_EXACTNUMBERS_H
#define HFTA_DIALECT_HFTA_JOB_EXACTNUMBERS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

namespace mlir::hfta {

/// Converts `elements` of floats to another float type, rounded to the nearest,
/// ties to even. Handles dense elements and resources; returns any other
/// attribute unchanged.
ElementsAttr convertElements(ElementsAttr elements, FloatType elementType);

/// Attaches to a constant with these `elements` the f64 numbers that they stand
/// for. Attaches nothing if both are equal, or if `exact` is null.
void setExactElements(Operation *op, ElementsAttr elements, ElementsAttr exact);

/// Returns the attached exact numbers, or null if the constant's own elements
/// are exact.
ElementsAttr getExactElements(Operation *op);

/// Removes the attached exact numbers and returns them; null if there are none.
ElementsAttr takeExactElements(Operation *op);

} // namespace mlir::hfta

#endif // HFTA_DIALECT_HFTA_JOB_EXACTNUMBERS_H
