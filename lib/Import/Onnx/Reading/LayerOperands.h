//===- LayerOperands.h - Initializers that are weights ----------*- C++ -*-===//

#ifndef HFTA_LIB_IMPORT_ONNX_READING_LAYEROPERANDS_H
#define HFTA_LIB_IMPORT_ONNX_READING_LAYEROPERANDS_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringSet.h"

namespace mlir::hfta::onnx_import {

struct Graph;

/// Whether a tensor's name is one that exporters make up, as `val_12`,
/// `onnx::MatMul_34`, `_tensor_constant0`, `lifted_tensor_0`,
/// `const_fold_opt__5`, a number alone, or `/layer/Constant_output_0`.
/// Parameters keep the names that their module gives them unless the exporter
/// computes with them.
bool isExporterName(StringRef name);

/// Initializers that the graph uses as a layer's weight, bias, table, scale or
/// shift, directly or rearranged. Where a normalization without parameters is
/// written as one with them, its scale of ones and shift of zeros are none.
llvm::StringSet<> findLayerOperands(const Graph &graph);

} // namespace mlir::hfta::onnx_import

#endif // HFTA_LIB_IMPORT_ONNX_READING_LAYEROPERANDS_H
