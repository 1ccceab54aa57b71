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
  refused, ///< with diagnostics
  failed,  ///< a later phase or LLVM found the program wrong
  wrong,   ///< values differ from the expected ones
  slope    ///< derivatives differ from finite differences
};

struct NodeResult {
  NodeStatus status = NodeStatus::passed;
  std::string reason;                   ///< one line, unless it `passed`
  std::vector<std::string> operators{}; ///< the operators of the nodes, except
                                        ///< constants
  /// Whether outputs have a derivative by inputs; none if the inputs aren't
  /// floats.
  std::optional<bool> hasGradient{};
  bool isFusable = false; ///< with the same model of another copy
};

/// Compiles `folder`/model.onnx for inference and compares its results with
/// each of the test's data sets, up to the `relative` error or a few units in
/// the last place of the output's type. Inputs that must be known at compile
/// time are bound to the data set's values. If the model has a derivative, it
/// is compared with finite differences.
NodeResult runNodeTest(llvm::StringRef folder, double relative);

} // namespace mlir::hfta

#endif // HFTA_UNITTESTS_ONNXNODES_NODETEST_H
