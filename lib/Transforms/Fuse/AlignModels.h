//===- AlignModels.h - Correspondence of graphs -----------------*- C++ -*-===//

#ifndef HFTA_LIB_TRANSFORMS_FUSE_ALIGNMODELS_H
#define HFTA_LIB_TRANSFORMS_FUSE_ALIGNMODELS_H

#include "mlir/IR/Operation.h"

namespace mlir::hfta {

/// Returns an optimal alignment of two sequences with `first` and `second`
/// elements: the pairs (i, j), increasing in both i and j, whose scores have
/// the greatest sum. A pair with score 0 is never aligned. Takes O(first *
/// second) time and memory. Source: Needleman and Wunsch, "A general method
/// applicable to the search for similarities", 1970, with gaps that cost
/// nothing.
SmallVector<std::pair<size_t, size_t>>
alignSequences(size_t first, size_t second,
               llvm::function_ref<uint32_t(size_t, size_t)> score);

/// Finds ops that correspond in all blocks, and can be fused. Returns rows with
/// one op per block, in the order of `blocks`; successive rows are in program
/// order in every block. If an op has several candidates, the one with the most
/// similar operands and users is chosen. Reads and writes correspond only if
/// they access variables of the same name for which `isCommon` returns true.
/// Terminators correspond to nothing.
SmallVector<SmallVector<Operation *>>
alignBlocks(ArrayRef<Block *> blocks,
            llvm::function_ref<bool(StringRef)> isCommon);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_FUSE_ALIGNMODELS_H
