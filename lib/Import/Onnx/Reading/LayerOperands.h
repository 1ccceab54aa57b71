//===- LayerOperands.h - Initializers that are weights ----------*- C++ -*-===//

#ifndef HFTA_LIB_IMPORT_ONNX_READING_LAYEROPERANDS_H
#define HFTA_LIB_IMPORT_ONNX_READING_LAYEROPERANDS_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringSet.h"

namespace mlir::hfta::onnx_import {

struct Graph;

/// Returns whether a tensor's name is one that exporters make up, such as
/// `val_12`, `onnx::MatMul_34`, `_tensor_constant0`, `lifted_tensor_0`,
/// `const_fold_opt__5`, just a number, or `/layer/Constant_output_0`.
/// Parameters keep the names from their module unless the exporter computes
/// with them.
bool isExporterName(StringRef name);

/// Returns the initializers that the graph uses as a layer's weight, bias,
/// table, scale or shift, directly or rearranged. A normalization without
/// parameters may be written as one with a scale of ones and a shift of zeros;
/// these are not included.
llvm::StringSet<> findLayerOperands(const Graph &graph);

} // namespace mlir::hfta::onnx_import

#endif // HFTA_LIB_IMPORT_ONNX_READING_LAYEROPERANDS_H
