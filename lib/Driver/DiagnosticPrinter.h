//===- DiagnosticPrinter.h - How hftac prints diagnostics -------*- C++ -*-===//

#ifndef HFTA_LIB_DRIVER_DIAGNOSTICPRINTER_H
#define HFTA_LIB_DRIVER_DIAGNOSTICPRINTER_H

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/SourceMgr.h"

namespace mlir::hfta {

/// Prints the diagnostics of a context. For a location in a text that `sources`
/// holds, it prints the source line and a caret; otherwise the name of the file
/// and, unless the message has it already, of the node. Remarks are printed
/// only if asked for.
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

/// Sends optimization remarks to the context's diagnostics.
void enableRemarks(MLIRContext *context);

} // namespace mlir::hfta

#endif // HFTA_LIB_DRIVER_DIAGNOSTICPRINTER_H
