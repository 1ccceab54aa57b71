//===- DiagnosticPrinter.h - Prints diagnostics of hftac --------*- C++ -*-===//

#ifndef HFTA_LIB_DRIVER_COMPILE_DIAGNOSTICPRINTER_H
#define HFTA_LIB_DRIVER_COMPILE_DIAGNOSTICPRINTER_H

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/SourceMgr.h"

namespace mlir::hfta {

/// Prints the diagnostics of a context. If a location is in one of the texts of
/// `sources`, prints the source line with a caret; otherwise prints the names
/// of the file and of the node, unless the message already contains them.
/// Prints remarks only if `remarks` is set.
class DiagnosticPrinter : public ScopedDiagnosticHandler {
public:
  DiagnosticPrinter(MLIRContext *context, llvm::SourceMgr &sources,
                    raw_ostream &os, bool remarks);

  unsigned getErrorCount() const { return errors; }

private:
  void print(Diagnostic &diagnostic);
  void print(Location location, DiagnosticSeverity severity, StringRef message);

  llvm::SourceMgr &sources;
  raw_ostream &os;
  bool remarks;
  unsigned errors = 0;
};

/// Reports LLVM's and MLIR's optimization remarks as diagnostics of the
/// context.
void enableRemarks(MLIRContext *context);

} // namespace mlir::hfta

#endif // HFTA_LIB_DRIVER_COMPILE_DIAGNOSTICPRINTER_H
