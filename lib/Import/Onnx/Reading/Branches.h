//===- Branches.h - Graphs inside of nodes ----------------------*- C++ -*-===//

#ifndef HFTA_LIB_IMPORT_ONNX_READING_BRANCHES_H
#define HFTA_LIB_IMPORT_ONNX_READING_BRANCHES_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <string>
#include <vector>

namespace onnx {
class GraphProto;
class NodeProto;
} // namespace onnx

namespace mlir::hfta::onnx_import {

/// Returns the graphs that can take the place of an `If`. Graphs inside of
/// other operators, such as a Loop's body, have inputs and a meaning of their
/// own. Such operators aren't supported, so their graphs are never read.
SmallVector<const ::onnx::GraphProto *>
getBranches(const ::onnx::NodeProto &node);

/// Calls `visit` for each branch of a node, and for the branches nested in it.
void forEachGraph(const ::onnx::NodeProto &node,
                  llvm::function_ref<void(const ::onnx::GraphProto &)> visit);

/// Returns the names of all values that a node reads: its operands, and values
/// from outside that its branches read.
std::vector<std::string> getOperands(const ::onnx::NodeProto &node);

} // namespace mlir::hfta::onnx_import

#endif // HFTA_LIB_IMPORT_ONNX_READING_BRANCHES_H
