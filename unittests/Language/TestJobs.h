//===- TestJobs.h - Jobs compiled in memory ---------------------*- C++ -*-===//

#ifndef HFTA_UNITTESTS_LANGUAGE_TESTJOBS_H
#define HFTA_UNITTESTS_LANGUAGE_TESTJOBS_H

#include "Hfta/Language/FrontEnd.h"
#include "Hfta/Language/Parser.h"
#include "mlir/IR/MLIRContext.h"

#include <memory>
#include <string>

namespace hfta_test {

/// A job, its module (null after errors) and the messages that were printed.
struct CompiledJob {
  std::unique_ptr<llvm::SourceMgr> sources;
  std::unique_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::string messages;
  mlir::hfta::FrontEndFailure failure = mlir::hfta::FrontEndFailure::none;
};

/// Compiles a job file's text (none if empty) and flags.
CompiledJob compile(llvm::StringRef text,
                    const mlir::hfta::JobOptions &options = {},
                    const mlir::hfta::FrontEndOptions &frontEnd = {});

/// The text of a job of twelve lines that compiles; tests replace parts of it.
extern const char *const kSmallJob;

/// Returns `kSmallJob` with the first occurrence of `part` replaced.
std::string replaceIn(llvm::StringRef part, llvm::StringRef replacement);

/// Returns the messages of compiling that text.
std::string getErrors(llvm::StringRef part, llvm::StringRef replacement);

} // namespace hfta_test

#endif // HFTA_UNITTESTS_LANGUAGE_TESTJOBS_H
