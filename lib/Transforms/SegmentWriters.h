//===- SegmentWriters.h - Variables grouped by writing tasks ----*- C++ -*-===//

#ifndef HFTA_LIB_TRANSFORMS_SEGMENTWRITERS_H
#define HFTA_LIB_TRANSFORMS_SEGMENTWRITERS_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::hfta {

/// Returns, by symbol, a word for variables that must not lie in one segment
/// with variables of other writers. The word is the part for values that are
/// sent for each micro-batch, recomputed, or found by evaluations; for groups'
/// moments it is the pass that completes them, or the one group that they are
/// of; for results of some replicas, these replicas. Spilled parameters have
/// words by shard: each parameter that several blocks use is alone, and so are
/// all that nothing trains. An ill-formed plan of K-FAC is diagnosed at the
/// module.
FailureOr<llvm::StringMap<StringRef>> findSegmentWriters(ModuleOp module);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_SEGMENTWRITERS_H
