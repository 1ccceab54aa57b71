//===- SegmentWriters.h - Which tasks write a variable ----------*- C++ -*-===//

#ifndef HFTA_LIB_TRANSFORMS_SEGMENTWRITERS_H
#define HFTA_LIB_TRANSFORMS_SEGMENTWRITERS_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::hfta {

/// Of variables that must not lie in one segment with what is written by
/// others, a word that says which tasks write them, by symbol: of what is sent
/// for each micro-batch, computed again, or found by evaluations, the part; of
/// groups' moments, the pass that completes them, or the group whose alone they
/// are; of what some replicas leave for others, these. Of spilled parameters,
/// by shards: those that several blocks use are apart, each by itself, and
/// those that nothing trains. A plan of K-FAC that is ill-formed is diagnosed
/// at the module.
FailureOr<llvm::StringMap<StringRef>> findSegmentWriters(ModuleOp module);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_SEGMENTWRITERS_H
