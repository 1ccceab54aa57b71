//===- Registry.h - The importer's table of ops -----------------*- C++ -*-===//

#ifndef HFTA_LIB_IMPORT_ONNX_READING_REGISTRY_H
#define HFTA_LIB_IMPORT_ONNX_READING_REGISTRY_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace mlir::hfta::onnx_import {

class Node;

/// The function that imports nodes of operator `name`, from operator set
/// `sinceVersion` until the next handler of that name.
struct OpHandler {
  llvm::StringLiteral name;
  int64_t sinceVersion;
  void (*import)(Node &node);
  /// A mask: bit i says that operand i is a setting (a shape, axes, a bound,
  /// …), so that an initializer there is a constant and not a parameter.
  uint32_t settings = 0;
  /// The most operands that a node may have.
  uint32_t operands = 1;
};

/// The value of `operands` for an operator without a limit.
inline constexpr uint32_t kAnyNumber = ~0u;

/// The tables of operator families. Each is defined in the file that is named
/// after the family.
llvm::ArrayRef<OpHandler> getElementwiseHandlers();
llvm::ArrayRef<OpHandler> getFunctionHandlers();
llvm::ArrayRef<OpHandler> getActivationHandlers();
llvm::ArrayRef<OpHandler> getLinearHandlers();
llvm::ArrayRef<OpHandler> getPoolingHandlers();
llvm::ArrayRef<OpHandler> getCol2ImHandlers();
llvm::ArrayRef<OpHandler> getNormalizationHandlers();
llvm::ArrayRef<OpHandler> getReductionHandlers();
llvm::ArrayRef<OpHandler> getShapeHandlers();
llvm::ArrayRef<OpHandler> getMovementHandlers();
llvm::ArrayRef<OpHandler> getIndexingHandlers();
llvm::ArrayRef<OpHandler> getLossHandlers();
llvm::ArrayRef<OpHandler> getEinsumHandlers();
llvm::ArrayRef<OpHandler> getConstantHandlers();
llvm::ArrayRef<OpHandler> getBranchHandlers();
llvm::ArrayRef<OpHandler> getResizeHandlers();
llvm::ArrayRef<OpHandler> getCumSumHandlers();
llvm::ArrayRef<OpHandler> getTopKHandlers();
/// The operators of Hfta's own domain, which aren't in the other tables.
llvm::ArrayRef<OpHandler> getOwnHandlers();

/// Returns all handlers, sorted by name and then by version.
llvm::ArrayRef<OpHandler> getHandlers();

/// Returns the handler for `name` in operator set `opset`, or null.
const OpHandler *findHandler(llvm::StringRef name, int64_t opset);

/// Returns the handler of Hfta's own operator `name`. Returns null if `domain`
/// isn't Hfta's or has no such operator.
const OpHandler *findOwnHandler(llvm::StringRef domain, llvm::StringRef name);

/// Returns the first operator set with a handler for `name`, or 0 if there is
/// no handler.
int64_t getFirstVersion(llvm::StringRef name);

} // namespace mlir::hfta::onnx_import

#endif // HFTA_LIB_IMPORT_ONNX_READING_REGISTRY_H
