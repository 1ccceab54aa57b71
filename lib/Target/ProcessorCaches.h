//===- ProcessorCaches.h - The caches that CPUID reports --------------*- C++
//-*-===//

#ifndef HFTA_LIB_TARGET_PROCESSORCACHES_H
#define HFTA_LIB_TARGET_PROCESSORCACHES_H

#include "llvm/ADT/SmallVector.h"

#include <cstdint>

namespace mlir::hfta {

struct CpuCache {
  int64_t bytes, ways, lineBytes;
};

/// Returns the data caches of the processor that this runs on, the first level
/// first. Returns nothing if the processor doesn't report them, or reports
/// impossible values.
llvm::SmallVector<CpuCache> askForCaches();

} // namespace mlir::hfta

#endif // HFTA_LIB_TARGET_PROCESSORCACHES_H
