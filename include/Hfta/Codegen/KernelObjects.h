//===- KernelObjects.h - Objects of kernels, from a cache -------*- C++ -*-===//
//
// A kernel's object depends only on the target and on the kernel at phase
// linalg. A job that is compiled again, with another learning rate or optimizer
// or one more layer, has mostly the kernels of the last time. Their objects
// come from the user's cache, and these kernels aren't lowered again.
//===----------------------------------------------------------------------===//

#ifndef HFTA_CODEGEN_KERNELOBJECTS_H
#define HFTA_CODEGEN_KERNELOBJECTS_H

#include "Hfta/Codegen/CodeCache.h"
#include "Hfta/Codegen/KernelModules.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

#include <vector>

namespace mlir::hfta {

/// A kernel of a module.
struct KernelObject {
  std::string name;   ///< the kernel's symbol in its module
  std::string symbol; ///< the entry point in the object, a hash of the kernel
  std::string key;    ///< the object's key in the cache
  /// The object. It is empty before the kernel is compiled, and stays so if the
  /// kernel is too small for an object of its own. `isKnown`: it came from the
  /// cache.
  std::string object;
  bool isKnown = false;
  /// The lowered kernel, until it is compiled.
  KernelModule code;
  bool hasCode() const { return bool(code.code); }
};

/// The kernels of a module, in their order.
class KernelObjects {
public:
  /// Finds the kernels of a module at phase linalg. Merges equal kernels, and
  /// replaces kernels whose objects are in the cache by declarations of lowered
  /// kernels. New symbols begin with `prefix`. `verifiesSums` says whether
  /// lowering verifies the order of sums.
  void replaceKnown(ModuleOp module, llvm::StringRef prefix, bool verifiesSums);
  /// Moves kernels that weren't in the cache out of a module at phase llvm, if
  /// they are large enough for objects of their own.
  void takeCode(ModuleOp module);
  /// Stores the objects of newly compiled kernels in the cache. `module` is the
  /// module after lowering.
  void store(ModuleOp module) const;

  std::vector<KernelObject> &getKernels() { return kernels; }

private:
  bool load(KernelObject &kernel, func::FuncOp function) const;

  CodeCache cache; ///< opened when kernels are looked for
  std::vector<KernelObject> kernels;
};

} // namespace mlir::hfta

#endif // HFTA_CODEGEN_KERNELOBJECTS_H
