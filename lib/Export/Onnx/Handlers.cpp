//===- Handlers.cpp - The exporter's table of ops -------------------------===//

#include "Handlers.h"

#include "llvm/ADT/StringMap.h"

namespace mlir::hfta::onnx_export {

const ExportHandler *findExport(Operation *op) {
  static const llvm::StringMap<const ExportHandler *> table = [] {
    llvm::StringMap<const ExportHandler *> map;
    for (llvm::ArrayRef<ExportHandler> family :
         {getElementwiseExports(), getLayerExports(), getShapeExports()})
      for (const ExportHandler &handler : family)
        map[handler.op] = &handler;
    return map;
  }();
  return table.lookup(op->getName().getStringRef());
}

} // namespace mlir::hfta::onnx_export
