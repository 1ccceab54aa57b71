//===- Trained.h - Which tensors a job trains -------------------*- C++ -*-===//

#ifndef HFTA_DRIVER_TRAINED_H
#define HFTA_DRIVER_TRAINED_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::hfta {

/// Moves the notes of imports on what is trained (`kTrainingNotesAttrName`)
/// from the module's models to the module.
void collectTrainingNotes(ModuleOp module);

/// Prints one line, beginning with `label`: how many parameters the module,
/// which is in phase `train`, trains and freezes, and by which rules; then the
/// module's notes, which it takes off. A remark for each parameter says what is
/// done with it. Prints nothing for a program that doesn't train. Fails, with
/// an error in place of the line, for a job that trains nothing.
llvm::LogicalResult reportTrained(ModuleOp module, llvm::StringRef label,
                                  llvm::raw_ostream &os);

} // namespace mlir::hfta

#endif // HFTA_DRIVER_TRAINED_H
