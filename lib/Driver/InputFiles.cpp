//===- InputFiles.cpp - What a compilation reads --------------------------===//

#include "InputFiles.h"

#include "Hfta/Dialect/Hfta/IR/Job.h"
#include "Hfta/Import/Onnx/ExternalData.h"

#include "mlir/IR/Location.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace mlir::hfta;

/// The files that ops come from.
static std::vector<std::string> getSources(ModuleOp module) {
  std::vector<std::string> files;
  llvm::StringSet<> known;
  module.walk([&](Operation *op) {
    op->getLoc()->walk([&](Location location) {
      auto file = dyn_cast<FileLineColLoc>(location);
      if (file && known.insert(file.getFilename().getValue()).second)
        files.push_back(file.getFilename().str());
      return WalkResult::advance();
    });
  });
  return files;
}

/// As a job's relative names of data files are understood at compile time.
static std::vector<std::string> getDataFiles(ModuleOp module,
                                             const DriverOptions &options) {
  std::vector<std::string> files;
  // What is wrong with the job is for later phases to say.
  ScopedDiagnosticHandler ignore(module.getContext(),
                                 [](Diagnostic &) { return success(); });
  FailureOr<Job> job = Job::read(module);
  if (failed(job))
    return files;
  llvm::StringRef folder = options.dataDirectory;
  if (folder.empty() && options.inputKind == InputKind::job)
    folder = llvm::sys::path::parent_path(options.inputs.front());
  for (const DataField &field : job->data)
    for (const DataSource *source : {&field.train, &field.test}) {
      if (source->format.empty())
        continue;
      llvm::SmallString<128> path(source->path);
      if (!llvm::sys::path::is_absolute(path)) {
        path = folder;
        llvm::sys::path::append(path, source->path);
      }
      files.push_back(path.str().str());
    }
  return files;
}

std::optional<std::string> hfta::findReplacedInput(llvm::StringRef output,
                                                   const DriverOptions &options,
                                                   ModuleOp module) {
  // What isn't there replaces nothing, and a device isn't replaced.
  if (!llvm::sys::fs::is_regular_file(output))
    return std::nullopt;
  std::vector<std::string> files = options.inputs;
  for (const ConstantBinding &constant : options.constants)
    files.push_back(constant.path);
  llvm::append_range(files, getDataFiles(module, options));
  for (const std::string &source : getSources(module)) {
    files.push_back(source);
    if (options.inputKind != InputKind::mlir)
      llvm::append_range(files, getExternalDataFiles(source));
  }
  for (const std::string &file : files)
    if (llvm::sys::fs::equivalent(output, file))
      return file;
  return std::nullopt;
}
