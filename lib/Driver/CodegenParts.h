//===- CodegenParts.h - An LLVM module in parts -----------------*- C++ -*-===//
//
// Large programs are compiled in parts, by several threads, and linked
// afterwards. The parts depend only on the module, so that the bytes are equal
// on every machine.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_DRIVER_CODEGENPARTS_H
#define HFTA_LIB_DRIVER_CODEGENPARTS_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"

#include <functional>
#include <memory>
#include <vector>

namespace mlir::hfta {

/// Bitcode of a module.
using Bitcode = llvm::SmallVector<char, 0>;

Bitcode writeBitcode(const llvm::Module &module);

/// A part of a program. It has its code in one of three forms.
struct CodePart {
  size_t instructions;
  Bitcode code; ///< the functions that have left the module
  /// The module that functions have left. It may hold large weights, which
  /// would take long to write and to parse.
  llvm::Module *rest = nullptr;
  /// Makes the module within the context; called by the thread that compiles
  /// the part.
  std::function<llvm::Expected<std::unique_ptr<llvm::Module>>(
      llvm::LLVMContext &)>
      translate;
  /// Whether other programs may have a part with this bitcode.
  bool isReusable = false;
};

/// Lets other parts refer to a symbol by `name`.
void share(llvm::GlobalValue &value, const llvm::Twine &name);

/// Removes constants that nothing reads, and names the others by their order
/// alone: their names in the MLIR module depend on which kernels were lowered
/// with them, and would go into the names of sections.
void nameConstants(llvm::Module &module);

/// Moves functions out of a module, which remains the first part, into further
/// parts with roughly equal numbers of instructions. Functions that call each
/// other stay together. Constants that point to nothing, and memory that
/// threads of a GPU's block share, are copied into each part that uses them;
/// other variables stay in the module. Private symbols that other parts refer
/// to become hidden ones, with names that begin with `prefix`.
std::vector<CodePart> splitModule(llvm::Module &module, llvm::StringRef prefix);

} // namespace mlir::hfta

#endif // HFTA_LIB_DRIVER_CODEGENPARTS_H
