//===- KfacBlocks.h - Factors that are cut into diagonal blocks -*- C++ -*-===//
//
// A factor of many rows is kept as diagonal blocks of equal size, each with an
// inverse, or a basis, of its own. Gradients are multiplied with them tile by
// tile: the tile of an output and an input block has no other inverses.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_TRANSFORMS_KFACBLOCKS_H
#define HFTA_LIB_TRANSFORMS_KFACBLOCKS_H

#include "KfacUnits.h"

#include "Hfta/Dialect/Hfta/IR/Expression.h"

namespace mlir::hfta {

/// Pads a matrix to [blocks, outputs, inputs], with as many zeros after its
/// rows and columns as the last blocks of the unit's factors have in excess.
Expression padMatrix(const KfacUnit &unit, const Expression &matrix);
/// Removes the padding again.
Expression cropMatrix(const KfacUnit &unit, const Expression &matrix);

/// Multiplies the matrices of each block: [b, m, k] times [b, k, n];
/// transposed, [b, k, m] or [b, n, k].
Expression multiplyMatrices(const Expression &left, const Expression &right,
                            bool isLeftTransposed = false,
                            bool isRightTransposed = false);

/// Multiplies diagonal blocks [blocks, size, size] of the output's factor by a
/// padded matrix.
Expression multiplyOutputs(const KfacFactor &output, const Expression &blocks,
                           const Expression &matrix, bool isTransposed = false);
/// Multiplies a padded matrix by diagonal blocks of the input's factor.
Expression multiplyInputs(const Expression &matrix, const KfacFactor &input,
                          const Expression &blocks, bool isTransposed = false);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_KFACBLOCKS_H
