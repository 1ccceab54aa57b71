//===- CodegenParts.h - An LLVM module in parts -----------------*- C++ -*-===//
//
// Large programs are compiled in parts, by several threads, and linked
// afterwards. How a module is divided depends on the module alone, so that the
// output has the same bytes on every machine.
//===----------------------------------------------------------------------===//

#ifndef HFTA_CODEGEN_CODEGENPARTS_H
#define HFTA_CODEGEN_CODEGENPARTS_H

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

/// A part of a program, compiled by one thread. Exactly one of `code`, `rest`
/// and `translate` holds its code.
struct CodePart {
  size_t instructions;
  Bitcode code; ///< bitcode of functions that were moved out of a module
  /// The module that functions were moved out of, borrowed. It isn't written as
  /// bitcode: it may hold large weights, which would take long to write and to
  /// parse.
  llvm::Module *rest = nullptr;
  /// Creates the part's module in the given context. The thread that compiles
  /// the part calls this.
  std::function<llvm::Expected<std::unique_ptr<llvm::Module>>(
      llvm::LLVMContext &)>
      translate = {};
  /// Whether other programs may have a part with the same bitcode, so that its
  /// object belongs into the cache.
  bool isReusable = false;
};

/// Renames a symbol to `name` and gives it external linkage with hidden
/// visibility, so that other parts of the program can refer to it.
void share(llvm::GlobalValue &value, const llvm::Twine &name);

/// Removes unused variables, and renames the constants of which parts get
/// copies, so that their names depend on their order alone. Their names in the
/// MLIR module depend on which kernels were lowered together, and would become
/// part of section names, so that equal kernels would have different objects.
void nameConstants(llvm::Module &module);

/// Divides a module into parts with roughly equal numbers of instructions. The
/// module itself becomes the first part; functions are moved from it into the
/// others. Functions that call each other stay together. Constants without
/// pointers, and memory that the threads of a GPU's block share, are copied
/// into each part that uses them; other variables stay in the module. Private
/// symbols that other parts refer to become hidden ones whose names begin with
/// `prefix`.
std::vector<CodePart> splitModule(llvm::Module &module, llvm::StringRef prefix);

} // namespace mlir::hfta

#endif // HFTA_CODEGEN_CODEGENPARTS_H
