//===- SharedLibrary.cpp - Compiled code as a shared library --------------===//

#include "Hfta/Codegen/SharedLibrary.h"
#include "Hfta/Codegen/Codegen.h"
#include "Hfta/Support/RunProgram.h"

#include <dlfcn.h>
#include <utility>

using namespace mlir;
using namespace mlir::hfta;

llvm::Expected<TemporaryFile>
hfta::linkSharedLibrary(llvm::ArrayRef<std::string> objects,
                        llvm::StringRef work) {
  llvm::Expected<std::string> compiler = findCompiler();
  if (!compiler)
    return compiler.takeError();
  llvm::Expected<TemporaryFile> library = TemporaryFile::create("so");
  if (!library)
    return library.takeError();
  std::vector<TemporaryFile> files;
  files.reserve(objects.size());
  llvm::SmallVector<llvm::StringRef> arguments = {*compiler, "-shared", "-o",
                                                  library->getPath()};
  for (const std::string &object : objects) {
    llvm::Expected<TemporaryFile> file = TemporaryFile::create("o");
    if (!file)
      return file.takeError();
    if (llvm::Error error = file->write(object))
      return std::move(error);
    files.push_back(std::move(*file));
    arguments.push_back(files.back().getPath());
  }
  if (!findLld(*compiler, library->getPath()).empty())
    arguments.push_back("-fuse-ld=lld");
  arguments.push_back("-lm");
  if (llvm::Error error = runProgram(arguments, work))
    return std::move(error);
  return library;
}

//===----------------------------------------------------------------------===//
// LoadedProgram
//===----------------------------------------------------------------------===//

/// Returns an error with the dynamic linker's message about its last failure.
static llvm::Error makeLoadError() {
  const char *reason = dlerror();
  return llvm::createStringError(llvm::Twine("cannot load the program: ") +
                                 (reason ? reason : "unknown error"));
}

llvm::Expected<LoadedProgram>
LoadedProgram::load(llvm::ArrayRef<std::string> objects) {
  llvm::Expected<TemporaryFile> file = linkSharedLibrary(objects, "link");
  if (!file)
    return file.takeError();
  // The file may be removed once the library is mapped.
  void *library = dlopen(file->getPath().str().c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return makeLoadError();
  void *program = dlsym(library, kProgramSymbol.data());
  LoadedProgram loaded(library, static_cast<const hfta_program *>(program));
  if (!program)
    return makeLoadError();
  return std::move(loaded);
}

LoadedProgram::LoadedProgram(LoadedProgram &&other)
    : library(std::exchange(other.library, nullptr)), program(other.program) {}

LoadedProgram::~LoadedProgram() {
  if (library)
    dlclose(library);
}
