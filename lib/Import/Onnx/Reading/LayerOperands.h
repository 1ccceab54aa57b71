//===- LayerOperands.h - Initializers that are weights ----------*- C++ -*-===//

#ifndef HFTA_LIB_IMPORT_ONNX_READING_LAYEROPERANDS_H
#define HFTA_LIB_IMPORT_ONNX_READING_LAYEROPERANDS_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringSet.h"

namespace mlir::hfta::onnx_import {

struct Graph;

/// Returns whether a tensor's name is one that exporters generate, such as
/// `val_12`, `onnx::MatMul_34`, `_tensor_constant0`, `lifted_tensor_0`,
/// `const_fold_opt__5`, `arange`, `view_1`, `model/sub/y:0`, just a number, or
/// `/layer/Constant_output_0`. Parameters keep the names from their module,
/// unless the exporter computes with them.
bool isExporterName(StringRef name);

/// Returns whether a tensor's name doesn't suggest a parameter: it contains no
/// word such as "weight" and no path of modules ("block.0"), and isn't just a
/// letter or two.
bool isUntellingName(StringRef name);

/// The initializers of a file by how the graph uses them, directly or
/// rearranged.
struct OperandKinds {
  /// Weights, biases, tables, scales and shifts of layers. A normalization
  /// without parameters may be written with a scale of ones and a shift of
  /// zeros; these aren't included.
  llvm::StringSet<> ofLayers;
  /// Operands of additions, subtractions, multiplications and divisions.
  llvm::StringSet<> ofArithmetic;
};

/// Classifies initializers; with `nodes`, tensors of `Constant` nodes too.
OperandKinds findOperandKinds(const Graph &graph, bool nodes);

} // namespace mlir::hfta::onnx_import

#endif // HFTA_LIB_IMPORT_ONNX_READING_LAYEROPERANDS_H
