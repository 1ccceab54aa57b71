//===- Handlers.h - The exporter's table of ops -----------------*- C++ -*-===//

#ifndef HFTA_LIB_EXPORT_ONNX_HANDLERS_H
#define HFTA_LIB_EXPORT_ONNX_HANDLERS_H

#include "GraphWriter.h"

namespace mlir::hfta::onnx_export {

/// Writes one kind of op in inference mode.
struct ExportHandler {
  llvm::StringLiteral op;
  /// Fails, with a reason, if this op can't be written.
  LogicalResult (*check)(Operation *op, std::string &reason);
  void (*write)(GraphWriter &writer, Operation *op);
  /// Returns the operands that matter in inference; null: all do.
  SmallVector<Value> (*getUsed)(Operation *op) = nullptr;
};

llvm::ArrayRef<ExportHandler> getElementwiseExports();
llvm::ArrayRef<ExportHandler> getLayerExports();
llvm::ArrayRef<ExportHandler> getShapeExports();

/// Returns the handler of an op, or null.
const ExportHandler *findExport(Operation *op);

} // namespace mlir::hfta::onnx_export

#endif // HFTA_LIB_EXPORT_ONNX_HANDLERS_H
