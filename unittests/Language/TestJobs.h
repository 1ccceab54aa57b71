//===- TestJobs.h - Jobs compiled in memory ---------------------*- C++ -*-===//

#ifndef HFTA_UNITTESTS_LANGUAGE_TESTJOBS_H
#define HFTA_UNITTESTS_LANGUAGE_TESTJOBS_H

#include "Hfta/Language/FrontEnd.h"
#include "Hfta/Language/Parser.h"
#include "mlir/IR/MLIRContext.h"

#include <memory>
#include <string>

namespace hfta_test {

/// The result of compiling a job.
struct CompiledJob {
  std::unique_ptr<llvm::SourceMgr> sources;
  std::unique_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> module; ///< null after errors
  std::string messages;                     ///< as printed
  mlir::hfta::FrontEndFailure failure = mlir::hfta::FrontEndFailure::none;
};

/// Compiles a job file, given as text (no file if it is empty), and flags up to
/// phase `import`. Checks that there is a module, or else an error.
CompiledJob compile(llvm::StringRef text,
                    const mlir::hfta::JobOptions &options = {},
                    const mlir::hfta::FrontEndOptions &frontEnd = {});

/// The text of a small, valid job, of which tests replace parts.
extern const char *const kSmallJob;

/// Returns `kSmallJob` with `replacement` in place of the first occurrence of
/// `part`, which must occur.
std::string replaceIn(llvm::StringRef part, llvm::StringRef replacement);

/// Compiles the text that `replaceIn` returns. Returns all messages.
std::string getErrors(llvm::StringRef part, llvm::StringRef replacement);

} // namespace hfta_test

#endif // HFTA_UNITTESTS_LANGUAGE_TESTJOBS_H
