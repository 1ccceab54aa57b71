//===- LayerAxes.h - Axes of a layer that are rows or columns ---*- C++ -*-===//
//
// Views a layer that is linear in its weight as matrix products, one for each
// block: output = input · weightᵀ. A row of input or output is one position of
// one sample; a column is one feature. Second-order methods need only these
// matrices.
//===----------------------------------------------------------------------===//

#ifndef HFTA_DIALECT_HFTA_IR_LAYERAXES_H
#define HFTA_DIALECT_HFTA_IR_LAYERAXES_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"

namespace mlir::hfta {

/// The input or the output gradient of a layer, viewed as a matrix.
struct LayerSide {
  enum class Kind {
    columns, ///< some axes of the tensor number columns, the others rows
    patches, ///< a row consists of the elements in one window (im2col)
    lookups  ///< each element is a column index, which means a one-hot row
  };
  Kind kind = Kind::columns;
  /// The shape to which the tensor is reshaped first, so that groups are an
  /// axis.
  SmallVector<int64_t> shape;
  /// The axes of `shape` that number blocks and columns, the outermost first;
  /// all other axes number rows. Both are empty for kind `patches`: there,
  /// blocks are the layer's groups, and a column is one channel of a group at
  /// one position (tap) of the window.
  SmallVector<int64_t> blocks, columns;

  /// Returns the axes that number rows, in ascending order. Only for kind
  /// `columns`.
  SmallVector<int64_t> getRows() const;
};

/// A layer whose weight is a matrix [outputs, inputs] for each block. The
/// weight's gradient is the sum, over rows, of the outer products of a row of
/// the output gradient and the same row of the input.
struct LayerAxes {
  int64_t blocks = 1, outputs = 1, inputs = 1;
  /// How the op's weight becomes [blocks, outputs, inputs]: it is reshaped to
  /// `weightShape`, whose axes are then permuted by `permutation`.
  SmallVector<int64_t> weightShape, permutation;
  LayerSide input, output;
  /// The number of rows of one micro-batch.
  int64_t rows = 1;
};

/// Returns the axes of a layer, or nothing for the kinds `norm` and `other`,
/// which aren't such matrix products.
std::optional<LayerAxes> getLayerAxes(LayerOp layer);

} // namespace mlir::hfta

#endif // HFTA_DIALECT_HFTA_IR_LAYERAXES_H
