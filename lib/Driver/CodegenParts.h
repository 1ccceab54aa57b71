//===- CodegenParts.h - An LLVM module in parts -----------------*- C++ -*-===//
//
// Large programs are compiled in parts, by several threads, and linked
// afterwards. The parts depend only on the module, so that the bytes are equal
// on every machine.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_DRIVER_CODEGENPARTS_H
#define HFTA_LIB_DRIVER_CODEGENPARTS_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/IR/Module.h"

#include <string>
#include <vector>

namespace mlir::hfta {

/// Bitcode of a module.
using Bitcode = llvm::SmallVector<char, 0>;

Bitcode writeBitcode(const llvm::Module &module);

/// A part of a module: functions that have left it for a module of their own,
/// or what remains of it.
struct CodePart {
  Bitcode code;
  size_t instructions;
  bool isReusable;    ///< whether other programs may have a part with this code
  std::string kernel; ///< the kernel's function, of a kernel that is a part
  /// In place of code, the module that functions have left. It may hold large
  /// weights, which would take long to write and to parse.
  llvm::Module *rest = nullptr;
};

/// Lets other parts refer to a symbol by `name`.
void share(llvm::GlobalValue &value, const llvm::Twine &name);

struct PartOptions {
  /// Private symbols that other parts refer to become hidden ones, with names
  /// that begin with this prefix.
  llvm::StringRef prefix;
  /// Kernels by the names of their functions, with the symbols of their entry
  /// points. Each large one is a part that depends on nothing but the kernel:
  /// no other name of the module occurs in it.
  llvm::StringMap<std::string> kernels;
};

/// Moves functions out of a module, which remains the first part, into further
/// parts with roughly equal numbers of instructions. Functions that call each
/// other stay together. Constants that point to nothing, and memory that
/// threads of a GPU's block share, are copied into each part that uses them;
/// other variables stay in the module.
std::vector<CodePart> splitModule(llvm::Module &module,
                                  const PartOptions &options);

} // namespace mlir::hfta

#endif // HFTA_LIB_DRIVER_CODEGENPARTS_H
