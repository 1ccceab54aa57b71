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

/// The graphs that take an `If`'s place. Those inside of other operators (a
/// Loop's body) have inputs and a meaning of their own: such a node is refused
/// by its operator's name, and nobody looks into it.
SmallVector<const ::onnx::GraphProto *>
getBranches(const ::onnx::NodeProto &node);

/// Calls `visit` for each branch of a node, and for those inside of them.
void forEachGraph(const ::onnx::NodeProto &node,
                  llvm::function_ref<void(const ::onnx::GraphProto &)> visit);

/// All values that a node reads: its operands, and what its branches read from
/// around them.
std::vector<std::string> getOperands(const ::onnx::NodeProto &node);

} // namespace mlir::hfta::onnx_import

#endif // HFTA_LIB_IMPORT_ONNX_READING_BRANCHES_H
