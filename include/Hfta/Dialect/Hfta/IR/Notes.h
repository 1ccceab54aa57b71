//===- Notes.h - Messages that are neither errors nor remarks ---*- C++ -*-===//
//
// MLIR's notes belong to an error. Hfta also has notes on their own, about
// input that may be meant so. They are remarks with a mark, which hftac prints
// as notes, and always; hfta-opt prints them as remarks.
//===----------------------------------------------------------------------===//

#ifndef HFTA_DIALECT_HFTA_IR_NOTES_H
#define HFTA_DIALECT_HFTA_IR_NOTES_H

#include "mlir/IR/Diagnostics.h"

namespace mlir::hfta {

/// Emits a note that belongs to no error.
void emitNote(Location location, const Twine &message);

/// Returns whether emitNote made the diagnostic.
bool isNote(Diagnostic &diagnostic);

} // namespace mlir::hfta

#endif // HFTA_DIALECT_HFTA_IR_NOTES_H
