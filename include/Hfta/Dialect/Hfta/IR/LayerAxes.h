//===- LayerAxes.h - Which axes of a layer are rows and columns -*- C++ -*-===//
//
// A layer's weight as matrices, one a block, from the columns of its input to
// those of its output; what it has of either is then rows of such columns. This
// is how second-order methods see every kind of layer that is linear in its
// weight.
//===----------------------------------------------------------------------===//

#ifndef HFTA_DIALECT_HFTA_IR_LAYERAXES_H
#define HFTA_DIALECT_HFTA_IR_LAYERAXES_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"

namespace mlir::hfta {

/// The input or the output gradient of a layer, as rows of columns.
struct LayerSide {
  enum class Kind {
    columns, ///< some of its axes
    patches, ///< what the layer's windows see of it
    lookups ///< it holds numbers of columns, each of a row that has a one there
  };
  Kind kind = Kind::columns;
  /// What it is reshaped to first: groups are an axis of their own.
  SmallVector<int64_t> shape;
  /// Axes of that shape, in the order in which blocks and columns are counted;
  /// all others number rows. Of patches there are neither: blocks are the
  /// layer's groups, columns the channels of a group, then the window's taps.
  SmallVector<int64_t> blocks, columns;

  /// Axes that number rows, in their order; of kind `columns`.
  SmallVector<int64_t> getRows() const;
};

/// A weight [out, in] of each of so many blocks: the gradient is the sum over
/// rows of the output gradient's columns times the input's.
struct LayerAxes {
  int64_t blocks = 1, outputs = 1, inputs = 1;
  /// What the op's weight is reshaped to, then how its axes are ordered so that
  /// blocks come first, then outputs, then inputs.
  SmallVector<int64_t> weightShape, permutation;
  LayerSide input, output;
  /// Rows of one micro-batch.
  int64_t rows = 1;
};

/// Nothing of kinds that are no such matrices.
std::optional<LayerAxes> getLayerAxes(LayerOp layer);

} // namespace mlir::hfta

#endif // HFTA_DIALECT_HFTA_IR_LAYERAXES_H
