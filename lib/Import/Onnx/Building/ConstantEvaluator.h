//===- ConstantEvaluator.h - Small hfta ops at compile time -----*- C++ -*-===//
//
// Shape arithmetic needs values while a model is imported. This evaluates ops
// on constants exactly as generated code does; it leaves alone what is large
// or has no exactly defined result (transcendental functions).
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_IMPORT_ONNX_BUILDING_CONSTANTEVALUATOR_H
#define HFTA_LIB_IMPORT_ONNX_BUILDING_CONSTANTEVALUATOR_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"

namespace mlir::hfta::onnx_import {

/// The constant that `value` is, if it is one that fits an attribute.
std::optional<DenseElementsAttr> getConstantValue(Value value);

/// What an op computes. `exact` of floats: the same without the rounding to
/// their types on the way, in f64 (ExactNumbers.h); else null.
struct EvaluatedConstant {
  DenseElementsAttr elements, exact;
};

/// The single result of `op`, nothing if it can't or shouldn't be computed now.
/// `budget` is how many elements may still be read and made by large ops; what
/// takes more is left to the compiled program.
std::optional<EvaluatedConstant> evaluateOp(Operation *op, int64_t &budget);

} // namespace mlir::hfta::onnx_import

#endif // HFTA_LIB_IMPORT_ONNX_BUILDING_CONSTANTEVALUATOR_H
