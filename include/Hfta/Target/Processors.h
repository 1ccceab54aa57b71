//===- Processors.h - Processors that code is made for ----------*- C++ -*-===//

#ifndef HFTA_TARGET_PROCESSORS_H
#define HFTA_TARGET_PROCESSORS_H

#include "Hfta/Dialect/Hfta/IR/HftaDialect.h"

namespace mlir::hfta {

/// The name of the processor that only has the instructions of every x86-64
/// processor.
inline constexpr llvm::StringLiteral kBaseCpu = "x86-64";

/// Returns the values of --cpu; the first one is "native".
llvm::SmallVector<llvm::StringRef> getCpuNames();
bool isKnownCpu(llvm::StringRef name);

/// Returns the processor for a name in getCpuNames() other than "native". Cache
/// sizes are assumed from the vector width instead of measured, so that a
/// program doesn't depend on the machine that compiles it.
ProcessorAttr getProcessor(MLIRContext *context, llvm::StringRef name);

/// Returns the processor for a name in getCpuNames(). For "native", it
/// has the instructions and caches that CPUID reports for the processor that
/// this code runs on. Fails if that isn't an x86-64 processor.
FailureOr<ProcessorAttr> resolveProcessor(MLIRContext *context,
                                          llvm::StringRef name);

} // namespace mlir::hfta

#endif // HFTA_TARGET_PROCESSORS_H
