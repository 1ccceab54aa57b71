//===- TriangleBlocks.h - A matrix in panels of vectors ---------*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_LOWERKERNELS_MATRICES_TRIANGLEBLOCKS_H
#define HFTA_LIB_CONVERSION_LOWERKERNELS_MATRICES_TRIANGLEBLOCKS_H

#include "Matrices/LoopBuilder.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace mlir::hfta {

/// How a matrix of `rows` rows is cut: into square blocks as wide as a panel,
/// which are computed in tiles of some rows. It doesn't depend on the target.
struct BlockShape {
  BlockShape(Type element, int64_t rows);

  static constexpr int64_t kVectorBytes = 64;
  static constexpr int64_t kTileRows = 8, kTileVectors = 2;

  Type element;
  VectorType vector;
  int64_t lanes;   ///< the lanes of a vector
  int64_t vectors; ///< vectors of a tile; fewer if one covers the matrix
  int64_t block;   ///< the rows of a block, and the columns of a panel
  int64_t rows;    ///< the rows of the matrix
  int64_t blocks;  ///< the blocks along a side of the matrix; the last one is
                   ///< filled up
  int64_t getPaddedRows() const { return blocks * block; }
};

/// The rows of a tile, each of which consists of some vectors.
using Tile = SmallVector<Value>;

/// Builds tiles of products.
class TileBuilder {
public:
  TileBuilder(LoopBuilder &builder, const BlockShape &shape)
      : b(builder), shape(shape) {}

  /// Allocates panels [panels, rows, columns], and a block.
  Value allocatePanels();
  Value allocateBlock();

  Value loadScalar(Value memory, ValueRange indices) {
    return memref::LoadOp::create(b, memory, indices);
  }
  Value broadcast(Value scalar) {
    return vector::BroadcastOp::create(b, shape.vector, scalar);
  }
  /// Loads the vectors of a row, from `column` of the last axis on, or from its
  /// begin.
  Tile loadRow(Value memory, ValueRange indices, Value column = Value());
  void storeRow(ArrayRef<Value> row, Value memory, ValueRange indices,
                Value column = Value());

  /// Returns the number by which a tile's row is multiplied at term k.
  using Factor = llvm::function_ref<Value(Value k, int64_t row)>;
  /// Returns the row of vectors at term k.
  using Row = llvm::function_ref<Tile(Value k)>;
  /// Computes the sum over k from `first` to `end` of factor(k, row) * row(k),
  /// term by term.
  Tile multiply(Value first, Value end, Factor factor, Row row);

private:
  LoopBuilder &b;
  const BlockShape &shape;
};

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERKERNELS_MATRICES_TRIANGLEBLOCKS_H
