//===- Diagnostics.h - Errors of job files and flags ------------*- C++ -*-===//

#ifndef HFTA_LANGUAGE_DIAGNOSTICS_H
#define HFTA_LANGUAGE_DIAGNOSTICS_H

#include "Hfta/Dialect/Hfta/Job/Suggestions.h"
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
/// After `limit` errors, one line says that there are more; further errors are
/// counted but not printed. An error that equals an earlier one at the same
/// place isn't printed again: train blocks share models and data, which are
/// checked for each train block.
class JobDiagnostics {
public:
  JobDiagnostics(llvm::SourceMgr &sources, llvm::raw_ostream &os,
                 unsigned limit = 20)
      : sources(sources), os(os), limit(limit) {}

  void error(llvm::SMRange range, const llvm::Twine &message,
             const llvm::Twine &hint = "");
  /// Prints a note about another place, which belongs to the last error.
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
  /// The places and messages of all errors so far.
  std::set<std::pair<const char *, std::string>> said;
  /// Whether the last error was printed. If not, its notes aren't printed
  /// either.
  bool isPrinted = true;
};

} // namespace mlir::hfta

#endif // HFTA_LANGUAGE_DIAGNOSTICS_H
