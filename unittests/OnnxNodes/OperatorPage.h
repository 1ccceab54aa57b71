//===- OperatorPage.h - The page of supported operators ---------*- C++ -*-===//

#ifndef HFTA_UNITTESTS_ONNXNODES_OPERATORPAGE_H
#define HFTA_UNITTESTS_ONNXNODES_OPERATORPAGE_H

#include "NodeTest.h"

#include <map>

namespace mlir::hfta {

/// The page docs/operators.md: which node tests of each operator pass, and
/// whether it has a derivative and can be fused.
class OperatorPage {
public:
  /// Counts a test whose model has a single node besides constants. Ignores
  /// other tests, because their results can't be ascribed to one operator.
  void add(const NodeResult &result);
  std::string print() const;

private:
  struct Operator {
    int tests = 0, passed = 0;
    bool isDifferentiable = false, isNotDifferentiable = false;
    bool isFused = true;
  };
  std::map<std::string, Operator> operators;
};

} // namespace mlir::hfta

#endif // HFTA_UNITTESTS_ONNXNODES_OPERATORPAGE_H
