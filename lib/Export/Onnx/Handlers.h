//===- Handlers.h - The exporter's table of ops -----------------*- C++ -*-===//

#ifndef HFTA_LIB_EXPORT_ONNX_HANDLERS_H
#define HFTA_LIB_EXPORT_ONNX_HANDLERS_H

#include "GraphWriter.h"

namespace mlir::hfta::onnx_export {

/// The functions that export ops of one kind, as they are computed in
/// inference.
struct ExportHandler {
  llvm::StringLiteral op;
  /// Fails, and sets the reason, if this op can't be exported. Null if all ops
  /// of the kind can be.
  LogicalResult (*check)(Operation *op, std::string &reason);
  void (*write)(GraphWriter &writer, Operation *op);
  /// Returns the operands that the op reads in inference. Null if it reads all.
  SmallVector<Value> (*getUsed)(Operation *op) = nullptr;
};

llvm::ArrayRef<ExportHandler> getElementwiseExports();
llvm::ArrayRef<ExportHandler> getLayerExports();
llvm::ArrayRef<ExportHandler> getShapeExports();

/// Returns the handler of an op, or null.
const ExportHandler *findExport(Operation *op);

} // namespace mlir::hfta::onnx_export

#endif // HFTA_LIB_EXPORT_ONNX_HANDLERS_H
