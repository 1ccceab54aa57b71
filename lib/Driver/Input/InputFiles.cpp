//===- InputFiles.cpp - The files that a compilation reads ----------------===//

#include "Input/InputFiles.h"

#include "Hfta/Dialect/Hfta/Job/Job.h"
#include "Hfta/Import/Onnx/ExternalData.h"
#include "Hfta/Language/Files.h"

#include "mlir/IR/Location.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace mlir::hfta;

/// Returns the files from which the module's ops were imported.
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

std::string hfta::getDataFolder(const DriverOptions &options) {
  if (options.dataDirectory.empty() && options.inputKind == InputKind::job)
    return llvm::sys::path::parent_path(options.inputs.front()).str();
  return options.dataDirectory;
}

/// Returns the paths of the data files that a job names, by which they can be
/// opened now.
static std::vector<std::string> getDataFiles(ModuleOp module,
                                             const DriverOptions &options) {
  std::vector<std::string> files;
  // Ignore errors in the job, as later phases report them.
  ScopedDiagnosticHandler ignore(module.getContext(),
                                 [](Diagnostic &) { return success(); });
  FailureOr<Job> job = Job::read(module);
  if (failed(job))
    return files;
  std::string folder = getDataFolder(options);
  for (const DataField &field : job->data)
    for (const DataSource *source :
         {&field.train, &field.test, &field.validation})
      for (const std::string &path : source->getPaths())
        files.push_back(getPathFrom(folder, path));
  return files;
}

std::optional<std::string> hfta::findReplacedInput(llvm::StringRef output,
                                                   const DriverOptions &options,
                                                   const LoadedModule &loaded) {
  // A file that doesn't exist can't be overwritten, and devices may be written
  // to.
  if (!llvm::sys::fs::is_regular_file(output))
    return std::nullopt;
  std::vector<std::string> files = options.inputs;
  for (const ConstantBinding &constant : options.constants)
    files.push_back(constant.path);
  ModuleOp module = *loaded.module;
  llvm::append_range(files, getDataFiles(module, options));
  for (const std::string &named :
       {options.costs, loaded.pipeline.planFile, loaded.pipeline.orderFile})
    if (!named.empty())
      files.push_back(named);
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
