//===- NodeTest.h - One of ONNX's node tests --------------------*- C++ -*-===//

#ifndef HFTA_UNITTESTS_ONNXNODES_NODETEST_H
#define HFTA_UNITTESTS_ONNXNODES_NODETEST_H

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>
#include <vector>

namespace mlir::hfta {

enum class NodeStatus {
  passed,
  refused, ///< the compiler refused it with diagnostics
  failed,  ///< a phase after the import, or LLVM, failed
  wrong,   ///< values differ from the expected ones
  slope    ///< derivatives differ from finite differences
};

struct NodeResult {
  NodeStatus status = NodeStatus::passed;
  std::string reason; ///< one line; empty if the test passed
  /// The operators of the nodes. Constants are left out unless the graph has
  /// nothing else.
  std::vector<std::string> operators{};
  /// Whether all ops between float inputs and the outputs have derivatives;
  /// empty if no output depends on a float input.
  std::optional<bool> hasGradient{};
  bool isFusable = false; ///< whether copies of the model can be fused
};

/// Compiles `folder`/model.onnx for inference and compares its results with
/// those of each of the test's data sets. Tolerates a relative error of
/// `relative`, or a few units in the last place of the output's type. Inputs
/// that must be known at compile time are bound to the data set's values. If
/// the model is differentiable, compares its gradients with finite differences.
NodeResult runNodeTest(llvm::StringRef folder, double relative);

} // namespace mlir::hfta

#endif // HFTA_UNITTESTS_ONNXNODES_NODETEST_H
