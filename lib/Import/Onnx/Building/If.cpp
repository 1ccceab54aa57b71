//===- If.cpp - Operator If with a known condition ------------------------===//

#include "Building/Node.h"

#include <onnx/onnx_pb.h>

namespace mlir::hfta::onnx_import {

using ::onnx::GraphProto;

/// Replaces the node by the nodes of the branch that the condition chooses. The
/// condition must be known at compile time.
static void importIf(Node &node) {
  std::optional<double> condition = node.getNumber(0, "condition");
  if (!condition)
    return;
  const GraphProto *branch =
      node.getGraph(*condition != 0 ? "then_branch" : "else_branch");
  if (!branch)
    return;
  if (branch->output_size() != static_cast<int>(node.getNumOutputs())) {
    node.invalid("its branch has " + Twine(branch->output_size()) +
                 " outputs, the node " + Twine(node.getNumOutputs()));
    return;
  }
  if (!node.getModel().importBranch(*branch))
    return node.stop();
  for (auto [index, output] : llvm::enumerate(branch->output()))
    node.setOutput(index, node.getModel().lookup(output.name()));
}

llvm::ArrayRef<OpHandler> getBranchHandlers() {
  static const OpHandler handlers[] = {{"If", 1, importIf, 0b1}};
  return handlers;
}

} // namespace mlir::hfta::onnx_import
