//===- KernelObjects.h - Kernels that were compiled before ------*- C++ -*-===//
//
// A kernel's object follows from the kernel at phase linalg and from the target
// alone. Most kernels of a job that is compiled again are those of the last
// time: another learning rate, optimizer or layer leaves the others as they
// are. Their objects come from the user's cache, and nothing is lowered for
// them.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_DRIVER_KERNELOBJECTS_H
#define HFTA_LIB_DRIVER_KERNELOBJECTS_H

#include "CodeCache.h"
#include "KernelModules.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

#include <vector>

namespace mlir::hfta {

/// A kernel of a module.
struct KernelObject {
  std::string name;   ///< the kernel's symbol in its module
  std::string symbol; ///< its entry point in the object: a hash of its text
  std::string key;    ///< the object's key in the cache
  /// The object, and whether it came from the cache. Empty while it is lowered,
  /// and for good if the kernel is too small for an object of its own.
  std::string object;
  bool isKnown = false;
  /// The lowered kernel, of which an object is to be made.
  KernelModule code;
  bool hasCode() const { return bool(code.code); }
};

/// The kernels of a module, in their order.
class KernelObjects {
public:
  /// Begins with the kernels of a module at phase linalg. Equal kernels become
  /// one, and those that are in the cache are replaced by declarations of
  /// lowered kernels. Their symbols begin with `prefix`. `verifiesSums`:
  /// whether lowering verifies sums.
  void replaceKnown(ModuleOp module, llvm::StringRef prefix, bool verifiesSums);
  /// Takes the code of the kernels that aren't known out of the module, which
  /// is at phase llvm, if they are large enough for objects of their own.
  void takeCode(ModuleOp module);
  /// Keeps the objects of the kernels that were lowered, given the module after
  /// lowering.
  void store(ModuleOp module) const;

  std::vector<KernelObject> &getKernels() { return kernels; }

private:
  bool load(KernelObject &kernel, func::FuncOp function) const;

  CodeCache cache; ///< opened when kernels are looked for
  std::vector<KernelObject> kernels;
};

} // namespace mlir::hfta

#endif // HFTA_LIB_DRIVER_KERNELOBJECTS_H
