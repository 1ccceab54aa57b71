//===- Diagnostics.h - Errors of job files and flags ------------*- C++ -*-===//

#ifndef HFTA_LANGUAGE_DIAGNOSTICS_H
#define HFTA_LANGUAGE_DIAGNOSTICS_H

#include "Hfta/Dialect/Hfta/IR/Suggestions.h"
#include "mlir/IR/Location.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/SourceMgr.h"

#include <set>
#include <string>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace mlir::hfta {

/// Prints errors of a job file or of flags in one form: file, line, column and
/// message, the source line, a caret, and a hint:
///
///   sweep.hfta:3:5: error: unknown clause 'optimiser'
///     optimiser adam
///     ^~~~~~~~~
///   hint: did you mean 'optimizer'?
///
/// After `limit` errors one line says that there are more; further errors are
/// counted but not printed. An error that was already reported at the same
/// place isn't printed either: train blocks share models and data, which are
/// checked again for each of them.
class JobDiagnostics {
public:
  JobDiagnostics(llvm::SourceMgr &sources, llvm::raw_ostream &os,
                 unsigned limit = 20)
      : sources(sources), os(os), limit(limit) {}

  void error(llvm::SMRange range, const llvm::Twine &message,
             const llvm::Twine &hint = "");
  /// Points at another place that is related to the last error.
  void note(llvm::SMRange range, const llvm::Twine &message);

  bool hasErrors() const { return errors != 0; }
  unsigned getErrorCount() const { return errors; }

  llvm::SourceMgr &getSources() { return sources; }
  /// Returns the location at which `range` begins.
  FileLineColLoc getLocation(MLIRContext *context, llvm::SMRange range);

private:
  void print(llvm::SourceMgr::DiagKind kind, llvm::SMRange range,
             const llvm::Twine &message);

  llvm::SourceMgr &sources;
  llvm::raw_ostream &os;
  unsigned limit;
  unsigned errors = 0;
  /// Places and messages of reported errors.
  std::set<std::pair<const char *, std::string>> said;
  /// Whether the last error was printed; only then its notes are printed, too.
  bool isPrinted = true;
};

} // namespace mlir::hfta

#endif // HFTA_LANGUAGE_DIAGNOSTICS_H
