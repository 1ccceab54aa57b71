//===- LossTerms.h - The terms of a loss ------------------------*- C++ -*-===//

#ifndef HFTA_DIALECT_HFTA_JOB_LOSSTERMS_H
#define HFTA_DIALECT_HFTA_JOB_LOSSTERMS_H

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace mlir::hfta {

/// A term of a loss that is a sum of weighted terms.
struct LossTerm {
  std::string name; ///< in logs: "l1"
  /// The hyper-parameter that the term is multiplied by. Empty: 1.
  std::string weight;
  int64_t turn = 0; ///< an index into Job::turns, if there are any
};

/// Notes the terms of the loss on the module. An empty list is not noted.
void writeLossTerms(ModuleOp module, ArrayRef<LossTerm> terms);

/// Returns the terms of the loss. The list is empty if the loss has a single
/// term without a weight. Fails after reporting an attribute that isn't a list
/// of terms with different names.
FailureOr<std::vector<LossTerm>> readLossTerms(ModuleOp module);

} // namespace mlir::hfta

#endif // HFTA_DIALECT_HFTA_JOB_LOSSTERMS_H
