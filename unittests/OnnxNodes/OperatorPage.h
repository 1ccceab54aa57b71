//===- OperatorPage.h - The page of supported operators ---------*- C++ -*-===//

#ifndef HFTA_UNITTESTS_ONNXNODES_OPERATORPAGE_H
#define HFTA_UNITTESTS_ONNXNODES_OPERATORPAGE_H

#include "NodeTest.h"

#include <map>

namespace mlir::hfta {

/// The page docs/operators.md: what node tests show of each operator.
class OperatorPage {
public:
  /// Counts a test of a single operator; a test of several ones is ignored.
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
