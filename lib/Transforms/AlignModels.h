//===- AlignModels.h - Correspondence of graphs -----------------*- C++ -*-===//

#ifndef HFTA_LIB_TRANSFORMS_ALIGNMODELS_H
#define HFTA_LIB_TRANSFORMS_ALIGNMODELS_H

#include "mlir/IR/Operation.h"

namespace mlir::hfta {

/// Returns the pairs (i, j), i below `first` and j below `second`, both
/// increasing, with the greatest sum of scores; a score of 0 forbids a pair.
/// Source: Needleman and Wunsch, "A general method applicable to the search for
/// similarities", 1970, with gaps that cost nothing.
SmallVector<std::pair<size_t, size_t>>
alignSequences(size_t first, size_t second,
               llvm::function_ref<uint32_t(size_t, size_t)> score);

/// Finds ops that do the same in all blocks: rows of one op per block, in
/// increasing order in each of them. Among the ops that could correspond, those
/// with the most similar neighbourhoods do. A read or write corresponds to one
/// of a variable with the same name, if `isCommon`; the blocks' terminators to
/// nothing.
SmallVector<SmallVector<Operation *>>
alignBlocks(ArrayRef<Block *> blocks,
            llvm::function_ref<bool(StringRef)> isCommon);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_ALIGNMODELS_H
