//===- ModelIdentity.h - A model's identity in checkpoints ------*- C++ -*-===//

#ifndef HFTA_PIPELINES_MODELIDENTITY_H
#define HFTA_PIPELINES_MODELIDENTITY_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"

#include <string>

namespace mlir::hfta {

/// Returns a digest of an imported model and of the kind of its optimizer. It
/// covers the model's variables and its ops with their operands and attributes,
/// but not the names of the model and its copies, the weights, or the batch
/// size.
std::string computeIdentity(ModelOp model, StringRef optimizer);

/// Returns the digest that checkpoints of format 1 have. It also depends on the
/// batch size. A program accepts such checkpoints for its own batch size, but
/// doesn't write them.
std::string computeIdentityOfBatch(ModelOp model, StringRef optimizer);

/// Returns a digest of the identities of all models of a module, which the pass
/// hfta-describe-model has noted; empty if it hasn't. Plans and measured costs
/// refer to it, as it doesn't depend on batch size, copies or hyper-parameters.
std::string digestIdentities(ModuleOp module);

} // namespace mlir::hfta

#endif // HFTA_PIPELINES_MODELIDENTITY_H
