//===- SegmentWriters.h - Variables in separate segments --------*- C++ -*-===//

#ifndef HFTA_LIB_TRANSFORMS_MEMORY_SEGMENTWRITERS_H
#define HFTA_LIB_TRANSFORMS_MEMORY_SEGMENTWRITERS_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::hfta {

/// Returns a key, by symbol, for variables that must not be in one segment with
/// variables that have another key or none. For values that are sent for each
/// micro-batch, recomputed, or computed by evaluations, the key is the part of
/// the task that writes them. For moments with instances for groups, it is the
/// part that completes them, or the single group to which they belong. For
/// results of some replicas, it also contains these replicas. Spilled
/// parameters have keys by shard: each parameter that several blocks use is
/// alone, and all untrained ones are together. Reports an ill-formed plan of
/// K-FAC at the module.
FailureOr<llvm::StringMap<StringRef>> findSegmentWriters(ModuleOp module);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_MEMORY_SEGMENTWRITERS_H
