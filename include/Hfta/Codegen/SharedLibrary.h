//===- SharedLibrary.h - Compiled code as a shared library ------*- C++ -*-===//

#ifndef HFTA_CODEGEN_SHAREDLIBRARY_H
#define HFTA_CODEGEN_SHAREDLIBRARY_H

#include "Hfta/Support/TemporaryFile.h"

#include "hfta/program.h"
#include "llvm/ADT/ArrayRef.h"

namespace mlir::hfta {

/// Links object files, given by their contents, to a shared library without the
/// runtime. The error is "cannot WORK: …".
llvm::Expected<TemporaryFile>
linkSharedLibrary(llvm::ArrayRef<std::string> objects, llvm::StringRef work);

/// A compiled program that is loaded into this process, and unloaded by the
/// destructor.
class LoadedProgram {
public:
  /// Links object files, given by their contents, and loads the program.
  static llvm::Expected<LoadedProgram>
  load(llvm::ArrayRef<std::string> objects);
  LoadedProgram(LoadedProgram &&other);
  LoadedProgram &operator=(LoadedProgram &&) = delete;
  ~LoadedProgram();

  const hfta_program &operator*() const { return *program; }
  const hfta_program *operator->() const { return program; }

private:
  LoadedProgram(void *library, const hfta_program *program)
      : library(library), program(program) {}

  void *library; ///< null once the object is moved from
  const hfta_program *program;
};

} // namespace mlir::hfta

#endif // HFTA_CODEGEN_SHAREDLIBRARY_H
