//===- ModelIdentity.h - A model's identity in checkpoints ------*- C++ -*-===//

#ifndef HFTA_LIB_DRIVER_MODELIDENTITY_H
#define HFTA_LIB_DRIVER_MODELIDENTITY_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"

#include <string>

namespace mlir::hfta {

/// Returns a digest of a model as it was imported, and of the kind of its
/// optimizer. It covers the model's variables and its ops with their operands
/// and attributes. The names of the model and its copies, the weights and the
/// batch size are not part of it.
std::string computeIdentity(ModelOp model, StringRef optimizer);

/// Returns the digest in checkpoints of format 1, which depended on the batch
/// size. Programs accept it for their own batch size and never write it.
std::string computeIdentityOfBatch(ModelOp model, StringRef optimizer);

/// Returns a digest of the identities of all models of a module, which
/// hfta-describe-model has noted. Plans and measured costs refer to it,
/// whatever the batch, copies and hyper-parameters. Empty if none are noted.
std::string digestIdentities(ModuleOp module);

} // namespace mlir::hfta

#endif // HFTA_LIB_DRIVER_MODELIDENTITY_H
