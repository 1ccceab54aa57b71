//===- KfacBlocks.h - Factors that are cut into diagonal blocks -*- C++ -*-===//
//
// A factor of many rows is kept as diagonal blocks of equal size, each with its
// own inverse or eigenvectors. A gradient is multiplied by them tile by tile:
// the tile of an output block and an input block by the inverses of these two
// blocks only.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_TRANSFORMS_KFAC_KFACBLOCKS_H
#define HFTA_LIB_TRANSFORMS_KFAC_KFACBLOCKS_H

#include "Kfac/KfacUnits.h"

#include "Hfta/Dialect/Hfta/IR/Expression.h"

namespace mlir::hfta {

/// Pads a gradient [blocks, outputs, inputs] with rows and columns of zeros at
/// the end, up to the padded sizes of the unit's output and input factors.
Expression padMatrix(const KfacUnit &unit, const Expression &matrix);
/// Removes the padding of padMatrix.
Expression cropMatrix(const KfacUnit &unit, const Expression &matrix);

/// Builds the product of the output factor's diagonal blocks [blocks, size,
/// size], transposed if requested, and a padded gradient.
Expression multiplyOutputs(const KfacFactor &output, const Expression &blocks,
                           const Expression &matrix, bool isTransposed = false);
/// Builds the product of a padded gradient and the input factor's diagonal
/// blocks [blocks, size, size], transposed if requested.
Expression multiplyInputs(const Expression &matrix, const KfacFactor &input,
                          const Expression &blocks, bool isTransposed = false);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_KFAC_KFACBLOCKS_H
