//===- Target.h - Processors that code is made for --------------*- C++ -*-===//

#ifndef HFTA_DRIVER_TARGET_H
#define HFTA_DRIVER_TARGET_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace mlir::hfta {

/// The instructions that generated code may use. On a module, from phase linalg
/// on: `hfta.cpu_features`, `hfta.llvm_features` and `hfta.vector_bytes`.
struct CpuTarget {
  /// Names as in /proc/cpuinfo, with commas: what a binary checks.
  std::string cpuFeatures;
  /// LLVM's names, each after '+'.
  std::string llvmFeatures;
  int64_t vectorBytes = 16; ///< the widest register

  void write(ModuleOp module) const;
  /// Fails without a diagnostic if the module has no such attributes.
  static FailureOr<CpuTarget> read(ModuleOp module);
};

/// Names that --cpu takes, "native" first.
llvm::SmallVector<llvm::StringRef> getCpuNames();
bool isKnownCpu(llvm::StringRef name);

/// The processor called `name`; "native" is the one that this runs on, by what
/// CPUID reports and not by a guess of its model. Fails if this isn't an x86-64
/// machine.
FailureOr<CpuTarget> resolveCpu(llvm::StringRef name);

} // namespace mlir::hfta

#endif // HFTA_DRIVER_TARGET_H
