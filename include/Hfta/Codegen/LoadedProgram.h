//===- LoadedProgram.h - Compiled code in this process ----------*- C++ -*-===//

#ifndef HFTA_CODEGEN_LOADEDPROGRAM_H
#define HFTA_CODEGEN_LOADEDPROGRAM_H

#include "hfta/program.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <string>

namespace mlir::hfta {

/// A compiled program that is loaded into this process, and unloaded by the
/// destructor.
class LoadedProgram {
public:
  /// Loads object files, given by their contents. They may call each other and
  /// the functions of the C library that compilers generate calls of, and
  /// nothing else.
  static llvm::Expected<LoadedProgram>
  load(llvm::ArrayRef<std::string> objects);
  LoadedProgram(LoadedProgram &&other);
  LoadedProgram &operator=(LoadedProgram &&) = delete;
  ~LoadedProgram();

  const hfta_program &operator*() const { return *program; }
  const hfta_program *operator->() const { return program; }

private:
  class Memory;
  LoadedProgram(std::unique_ptr<Memory> memory, const hfta_program *program);

  std::unique_ptr<Memory> memory; ///< null once the object is moved from
  const hfta_program *program;
};

} // namespace mlir::hfta

#endif // HFTA_CODEGEN_LOADEDPROGRAM_H
