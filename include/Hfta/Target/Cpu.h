//===- Cpu.h - Processors that code is made for -----------------*- C++ -*-===//

#ifndef HFTA_TARGET_CPU_H
#define HFTA_TARGET_CPU_H

#include "Hfta/Dialect/Hfta/IR/HftaDialect.h"

namespace mlir::hfta {

/// The processor with the instructions that every x86-64 processor has.
inline constexpr llvm::StringLiteral kBaseCpu = "x86-64";

/// Returns the names that --cpu takes, "native" first.
llvm::SmallVector<llvm::StringRef> getCpuNames();
bool isKnownCpu(llvm::StringRef name);

/// Returns the target of processor `name`, which must be one of getCpuNames()
/// other than "native". Cache sizes are assumed from the width of vectors, not
/// measured, so that programs don't depend on the machine that compiles them.
TargetAttr getCpuTarget(MLIRContext *context, llvm::StringRef name);

/// Returns the processor called `name`, or if that is "native" the one that
/// this runs on. Its instructions and caches are then those that CPUID reports,
/// not a guess by its model. Fails if this isn't an x86-64 machine.
FailureOr<TargetAttr> resolveCpu(MLIRContext *context, llvm::StringRef name);

} // namespace mlir::hfta

#endif // HFTA_TARGET_CPU_H
