//===- TriangleBlocks.h - A matrix in panels of vectors ---------*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_LOWERKERNELS_MATRICES_TRIANGLEBLOCKS_H
#define HFTA_LIB_CONVERSION_LOWERKERNELS_MATRICES_TRIANGLEBLOCKS_H

#include "Matrices/LoopBuilder.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace mlir::hfta {

/// The division of a matrix of `rows` rows into square blocks as wide as a
/// panel, which are computed in tiles of some rows. It doesn't depend on the
/// target.
struct BlockShape {
  BlockShape(Type element, int64_t rows);

  static constexpr int64_t kVectorBytes = 64;
  static constexpr int64_t kTileRows = 8, kTileVectors = 2;

  Type element;
  VectorType vector;
  int64_t lanes;   ///< the number of lanes of a vector
  int64_t vectors; ///< the number of vectors of a tile's row: one if that
                   ///< covers the matrix
  int64_t block;   ///< the number of rows of a block, and of columns of a panel
  int64_t rows;    ///< the number of rows of the matrix
  int64_t blocks; ///< the number of blocks along a side of the matrix; the last
                  ///< block is filled up
  int64_t getPaddedRows() const { return blocks * block; }
};

/// Rows of a tile, each of which consists of `BlockShape::vectors` vectors.
using Tile = SmallVector<Value>;

/// Builds loads, stores and products of tiles.
class TileBuilder {
public:
  TileBuilder(LoopBuilder &builder, const BlockShape &shape)
      : b(builder), shape(shape) {}

  /// Allocates panels [blocks, padded rows, columns], and a block [rows,
  /// columns].
  Value allocatePanels();
  Value allocateBlock();

  Value loadScalar(Value memory, ValueRange indices) {
    return memref::LoadOp::create(b, memory, indices);
  }
  Value broadcast(Value scalar) {
    return vector::BroadcastOp::create(b, shape.vector, scalar);
  }
  /// Loads the vectors of a row from `column` of the last axis on, by default
  /// from the beginning.
  Tile loadRow(Value memory, ValueRange indices, Value column = Value());
  /// Stores the vectors of a row from `column` of the last axis on, by default
  /// from the beginning.
  void storeRow(ArrayRef<Value> row, Value memory, ValueRange indices,
                Value column = Value());

  /// Returns the scalar by which the vectors of term k are multiplied for a row
  /// of the tile.
  using Factor = llvm::function_ref<Value(Value k, int64_t row)>;
  /// Returns the vectors of term k.
  using Row = llvm::function_ref<Tile(Value k)>;
  /// Returns the tile whose row r is the sum over k from `first` to `end` of
  /// factor(k, r) * row(k), one term after the other.
  Tile multiply(Value first, Value end, Factor factor, Row row);

private:
  LoopBuilder &b;
  const BlockShape &shape;
};

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERKERNELS_MATRICES_TRIANGLEBLOCKS_H
