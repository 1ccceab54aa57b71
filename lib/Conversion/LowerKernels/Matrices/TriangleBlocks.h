//===- TriangleBlocks.h - A matrix in panels of vectors ---------*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_LOWERKERNELS_MATRICES_TRIANGLEBLOCKS_H
#define HFTA_LIB_CONVERSION_LOWERKERNELS_MATRICES_TRIANGLEBLOCKS_H

#include "Matrices/LoopBuilder.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace mlir::hfta {

/// How a matrix of `rows` rows is cut: square blocks as wide as a panel, of
/// which tiles of some rows are computed at once. The same on every target.
struct BlockShape {
  BlockShape(Type element, int64_t rows);

  static constexpr int64_t kVectorBytes = 64;
  static constexpr int64_t kTileRows = 8, kTileVectors = 2;

  Type element;
  VectorType vector;
  int64_t lanes;   ///< of a vector
  int64_t vectors; ///< of a tile, fewer where one is enough for the matrix
  int64_t block;   ///< rows of a block, columns of a panel
  int64_t rows;    ///< of the matrix
  int64_t blocks;  ///< along a side of it, the last filled up
  int64_t getPaddedRows() const { return blocks * block; }
};

/// Rows of a tile, each of some vectors.
using Tile = SmallVector<Value>;

/// Tiles of products.
class TileBuilder {
public:
  TileBuilder(LoopBuilder &builder, const BlockShape &shape)
      : b(builder), shape(shape) {}

  /// Memory of panels [panels, rows, columns] and of a block.
  Value allocatePanels();
  Value allocateBlock();

  Value loadScalar(Value memory, ValueRange indices) {
    return memref::LoadOp::create(b, memory, indices);
  }
  Value broadcast(Value scalar) {
    return vector::BroadcastOp::create(b, shape.vector, scalar);
  }
  /// A row's vectors, from `column` on of the last axis, or from its begin.
  Tile loadRow(Value memory, ValueRange indices, Value column = Value());
  void storeRow(ArrayRef<Value> row, Value memory, ValueRange indices,
                Value column = Value());

  /// The number that a tile's row is multiplied with at term k.
  using Factor = llvm::function_ref<Value(Value k, int64_t row)>;
  /// The row of vectors at term k.
  using Row = llvm::function_ref<Tile(Value k)>;
  /// sum over k from `first` to `end` of factor(k, row) * row(k), term by term.
  Tile multiply(Value first, Value end, Factor factor, Row row);

private:
  LoopBuilder &b;
  const BlockShape &shape;
};

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERKERNELS_MATRICES_TRIANGLEBLOCKS_H
