//===- Registry.cpp - The importer's table of ops -------------------------===//

#include "Reading/Registry.h"

#include "Hfta/Dialect/Hfta/IR/OnnxNames.h"
#include "Hfta/Import/Onnx/Import.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>

namespace mlir::hfta::onnx_import {

static std::vector<OpHandler> collectHandlers() {
  std::vector<OpHandler> handlers;
  for (llvm::ArrayRef<OpHandler> family :
       {getElementwiseHandlers(), getActivationHandlers(), getLinearHandlers(),
        getPoolingHandlers(), getCol2ImHandlers(), getNormalizationHandlers(),
        getReductionHandlers(), getShapeHandlers(), getMovementHandlers(),
        getIndexingHandlers(), getLossHandlers(), getFunctionHandlers(),
        getEinsumHandlers(), getConstantHandlers(), getBranchHandlers(),
        getResizeHandlers(), getCumSumHandlers(), getTopKHandlers()})
    llvm::append_range(handlers, family);
  std::sort(handlers.begin(), handlers.end(),
            [](const OpHandler &first, const OpHandler &second) {
              return std::make_pair(first.name, first.sinceVersion) <
                     std::make_pair(second.name, second.sinceVersion);
            });
  return handlers;
}

llvm::ArrayRef<OpHandler> getHandlers() {
  static const std::vector<OpHandler> handlers = collectHandlers();
  return handlers;
}

const OpHandler *findHandler(llvm::StringRef name, int64_t opset) {
  const OpHandler *found = nullptr;
  for (const OpHandler &handler : getHandlers())
    if (handler.name == name && handler.sinceVersion <= opset)
      found = &handler;
  return found;
}

const OpHandler *findOwnHandler(llvm::StringRef domain, llvm::StringRef name) {
  if (domain != kOnnxDomain)
    return nullptr;
  llvm::ArrayRef<OpHandler> handlers = getOwnHandlers();
  const OpHandler *found = llvm::find_if(
      handlers, [&](const OpHandler &handler) { return handler.name == name; });
  return found == handlers.end() ? nullptr : found;
}

int64_t getFirstVersion(llvm::StringRef name) {
  for (const OpHandler &handler : getHandlers())
    if (handler.name == name)
      return handler.sinceVersion;
  return 0;
}

} // namespace mlir::hfta::onnx_import

std::vector<mlir::hfta::OnnxSupportedOp> mlir::hfta::getSupportedOnnxOps() {
  std::vector<OnnxSupportedOp> ops;
  for (const onnx_import::OpHandler &handler : onnx_import::getHandlers())
    ops.push_back({handler.name, handler.sinceVersion});
  return ops;
}
