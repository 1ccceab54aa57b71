//===- ConstantEvaluator.h - Small hfta ops at compile time -----*- C++ -*-===//
//
// Shape arithmetic needs values while a model is imported. This evaluates ops
// on constants exactly as generated code does, except those on large tensors or
// without an exactly defined result (transcendental functions).
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_IMPORT_ONNX_BUILDING_CONSTANTEVALUATOR_H
#define HFTA_LIB_IMPORT_ONNX_BUILDING_CONSTANTEVALUATOR_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"

namespace mlir::hfta::onnx_import {

/// Returns the constant that `value` is, if it is one that fits in an
/// attribute.
std::optional<DenseElementsAttr> getConstantValue(Value value);

/// The result of an op. For floats, `exact` is the result computed in f64,
/// without rounding to their types in between (ExactNumbers.h); null for other
/// types.
struct EvaluatedConstant {
  DenseElementsAttr elements, exact;
};

/// Returns the single result of `op`; nothing if it can't or shouldn't be
/// computed now. `budget` is the number of elements that large ops may still
/// read and make; an op that needs more is left to the compiled program.
std::optional<EvaluatedConstant> evaluateOp(Operation *op, int64_t &budget);

} // namespace mlir::hfta::onnx_import

#endif // HFTA_LIB_IMPORT_ONNX_BUILDING_CONSTANTEVALUATOR_H
