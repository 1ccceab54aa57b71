//===- CpuCaches.h - What CPUID says of caches ------------------*- C++ -*-===//

#ifndef HFTA_LIB_TARGET_CPUCACHES_H
#define HFTA_LIB_TARGET_CPUCACHES_H

#include "llvm/ADT/SmallVector.h"

#include <cstdint>

namespace mlir::hfta {

struct CpuCache {
  int64_t bytes, ways, lineBytes;
};

/// The caches for data of the processor that this runs on, the first level
/// first. Nothing if it doesn't say, or says what can't be.
llvm::SmallVector<CpuCache> askForCaches();

} // namespace mlir::hfta

#endif // HFTA_LIB_TARGET_CPUCACHES_H
