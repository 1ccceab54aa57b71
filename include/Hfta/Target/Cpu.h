//===- Cpu.h - Processors that code is made for -----------------*- C++ -*-===//

#ifndef HFTA_TARGET_CPU_H
#define HFTA_TARGET_CPU_H

#include "Hfta/Dialect/Hfta/IR/HftaDialect.h"

namespace mlir::hfta {

/// What every x86-64 processor can do.
inline constexpr llvm::StringLiteral kBaseCpu = "x86-64";

/// Names that --cpu takes, "native" first.
llvm::SmallVector<llvm::StringRef> getCpuNames();
bool isKnownCpu(llvm::StringRef name);

/// The processor called `name`, which is known and isn't "native". Its caches
/// are stated, by the width of its vectors, so that its programs are the same
/// wherever they are compiled.
TargetAttr getCpuTarget(MLIRContext *context, llvm::StringRef name);

/// The same, or if `name` is "native" the processor that this runs on, by what
/// CPUID reports of its instructions and caches and not by a guess of its
/// model. Fails if this isn't an x86-64 machine.
FailureOr<TargetAttr> resolveCpu(MLIRContext *context, llvm::StringRef name);

} // namespace mlir::hfta

#endif // HFTA_TARGET_CPU_H
