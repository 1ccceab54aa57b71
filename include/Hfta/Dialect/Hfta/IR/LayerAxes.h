//===- LayerAxes.h - Axes of a layer that are rows or columns ---*- C++ -*-===//
//
// Views a layer that is linear in its weight as matrix products, one for each
// block: output = input * transposed weight. A row of input or output is one
// position of one sample, a column is one feature. Second-order methods need
// no more of a layer than that.
//===----------------------------------------------------------------------===//

#ifndef HFTA_DIALECT_HFTA_IR_LAYERAXES_H
#define HFTA_DIALECT_HFTA_IR_LAYERAXES_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"

namespace mlir::hfta {

/// The input or the output gradient of a layer, as rows of columns.
struct LayerSide {
  enum class Kind {
    columns, ///< some of its axes are columns
    patches, ///< columns are the elements that the layer's windows see
    lookups  ///< its elements are column indices, each standing for a one-hot
             ///< row
  };
  Kind kind = Kind::columns;
  /// The shape that it is reshaped to first, in which groups are an axis of
  /// their own.
  SmallVector<int64_t> shape;
  /// Axes of that shape, in the order in which blocks and columns are counted;
  /// all others number rows. Patches have none of either: blocks are the
  /// layer's groups, and columns are the channels of a group, then the window's
  /// taps.
  SmallVector<int64_t> blocks, columns;

  /// Returns the axes that number rows, in their order; for kind `columns`.
  SmallVector<int64_t> getRows() const;
};

/// A layer with a weight [out, in] for each of its blocks: the weight's
/// gradient is the sum over rows of the outer products of the output gradient's
/// columns with the input's.
struct LayerAxes {
  int64_t blocks = 1, outputs = 1, inputs = 1;
  /// The shape that the op's weight is reshaped to, and then the permutation of
  /// its axes that puts blocks first, then outputs, then inputs.
  SmallVector<int64_t> weightShape, permutation;
  LayerSide input, output;
  /// The number of rows of one micro-batch.
  int64_t rows = 1;
};

/// Returns the axes of a layer; nothing for kinds that can't be seen as such
/// matrices.
std::optional<LayerAxes> getLayerAxes(LayerOp layer);

} // namespace mlir::hfta

#endif // HFTA_DIALECT_HFTA_IR_LAYERAXES_H
