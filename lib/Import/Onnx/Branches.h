//===- Branches.h - Graphs inside of nodes ----------------------*- C++ -*-===//

#ifndef HFTA_LIB_IMPORT_ONNX_BRANCHES_H
#define HFTA_LIB_IMPORT_ONNX_BRANCHES_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <string>
#include <vector>

namespace onnx {
class GraphProto;
class NodeProto;
} // namespace onnx

namespace mlir::hfta::onnx_import {

/// Calls `visit` for each graph among a node's attributes, and for those inside
/// of them.
void forEachGraph(const ::onnx::NodeProto &node,
                  llvm::function_ref<void(const ::onnx::GraphProto &)> visit);

/// All values that a node reads: its operands, and what graphs inside of it
/// read from around them.
std::vector<std::string> getOperands(const ::onnx::NodeProto &node);

} // namespace mlir::hfta::onnx_import

#endif // HFTA_LIB_IMPORT_ONNX_BRANCHES_H
