//===- ConstantEvaluator.h - Small hfta ops at compile time -----*- C++ -*-===//
//
// Shape arithmetic needs values while a model is imported. This evaluates ops
// on constants with the bits that generated code would compute. Ops on large
// tensors, and transcendental functions, whose results aren't exactly defined,
// aren't evaluated.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_IMPORT_ONNX_BUILDING_CONSTANTEVALUATOR_H
#define HFTA_LIB_IMPORT_ONNX_BUILDING_CONSTANTEVALUATOR_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"

namespace mlir::hfta::onnx_import {

/// Returns the constant that defines `value`; nothing if no constant does, or
/// if its elements are in a resource instead of an attribute.
std::optional<DenseElementsAttr> getConstantValue(Value value);

/// The result of an op. For floats, `exact` is the result computed in f64,
/// without rounding intermediate results to their types (ExactNumbers.h). It is
/// null for other types.
struct EvaluatedConstant {
  DenseElementsAttr elements, exact;
};

/// Returns the single result of `op`, or nothing if it can't or shouldn't be
/// computed at compile time. `budget` is the number of elements that ops on
/// large tensors may still read and write; an op that needs more is left to the
/// compiled program. The elements of an evaluated op are subtracted from it.
std::optional<EvaluatedConstant> evaluateOp(Operation *op, int64_t &budget);

} // namespace mlir::hfta::onnx_import

#endif // HFTA_LIB_IMPORT_ONNX_BUILDING_CONSTANTEVALUATOR_H
