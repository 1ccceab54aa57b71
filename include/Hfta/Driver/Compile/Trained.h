//===- Trained.h - Which tensors a job trains -------------------*- C++ -*-===//

#ifndef HFTA_DRIVER_COMPILE_TRAINED_H
#define HFTA_DRIVER_COMPILE_TRAINED_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::hfta {

/// Moves the importer's notes on what is trained (`kTrainingNotesAttrName`)
/// from the models of a module to the module itself.
void collectTrainingNotes(ModuleOp module);

/// Prints one line, beginning with `label`: how many parameters of the module
/// are trained and how many frozen, by which rules, how many batch
/// normalizations and dropouts are in which mode, and the module's training
/// notes, which it removes. Also emits a remark for each of these. The module
/// must be in phase `train`; nothing is printed for a program without training.
/// If a job trains no parameter, the line is an error message, and failure is
/// returned.
llvm::LogicalResult reportTrained(ModuleOp module, llvm::StringRef label,
                                  llvm::raw_ostream &os);

} // namespace mlir::hfta

#endif // HFTA_DRIVER_COMPILE_TRAINED_H
