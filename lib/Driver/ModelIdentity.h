//===- ModelIdentity.h - What checkpoints call a model ----------*- C++ -*-===//

#ifndef HFTA_LIB_DRIVER_MODELIDENTITY_H
#define HFTA_LIB_DRIVER_MODELIDENTITY_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"

#include <string>

namespace mlir::hfta {

/// A digest of a model as it was imported, with the kind of its optimizer: of
/// its variables, its ops, their operands and attributes. Names of the model
/// and its copies, weights and the batch size are not part of it.
std::string computeIdentity(ModelOp model, StringRef optimizer);

/// The digest that checkpoints of format 1 held before identities were free of
/// the batch size; programs accept it, of their own batch size, and never write
/// it.
std::string computeIdentityOfBatch(ModelOp model, StringRef optimizer);

/// A digest of the identities of all of a module's models, which
/// hfta-describe-model has noted: what plans and measured costs belong to,
/// whatever batch, copies and hyper-parameters. Empty if none are noted.
std::string digestIdentities(ModuleOp module);

} // namespace mlir::hfta

#endif // HFTA_LIB_DRIVER_MODELIDENTITY_H
