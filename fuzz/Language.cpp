//===- Language.cpp - Fuzz target: a job file -----------------------------===//

#include "Hfta/Language/FrontEnd.h"
#include "Hfta/Language/Parser.h"
#include "Modules.h"
#include "Options.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::hfta;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::StringRef text(reinterpret_cast<const char *>(data), size);
  llvm::SourceMgr sources;
  std::unique_ptr<MLIRContext> context = makeFuzzContext();
  JobDiagnostics diagnostics(sources, llvm::nulls());
  // The job's folder doesn't exist, so the job can't read any other file.
  unsigned buffer = sources.AddNewSourceBuffer(
      llvm::MemoryBuffer::getMemBufferCopy(text, "/no/such/folder/job.hfta"),
      llvm::SMLoc());
  ast::JobFile file = parseJobFile(buffer, diagnostics);
  if (diagnostics.hasErrors())
    return 0;
  addJobOptions(file, JobOptions(), diagnostics);
  FrontEndFailure failure = FrontEndFailure::none;
  OwningOpRef<ModuleOp> module = buildJobModule(
      context.get(), file, FrontEndOptions(), diagnostics, failure);
  if (module)
    fuse(*module);
  return 0;
}
