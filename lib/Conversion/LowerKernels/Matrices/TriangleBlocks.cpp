//===- TriangleBlocks.cpp - A matrix in panels of vectors -----------------===//

#include "Matrices/TriangleBlocks.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::hfta;

BlockShape::BlockShape(Type element, int64_t rows)
    : element(element), rows(rows) {
  lanes = kVectorBytes * 8 / element.getIntOrFloatBitWidth();
  vector = VectorType::get({lanes}, element);
  vectors = rows <= lanes ? 1 : kTileVectors;
  block = vectors * lanes;
  blocks = llvm::divideCeil(rows, block);
}

static Value allocate(LoopBuilder &builder, ArrayRef<int64_t> shape,
                      Type element) {
  return memref::AllocOp::create(builder, MemRefType::get(shape, element));
}

Value TileBuilder::allocatePanels() {
  return allocate(b, {shape.blocks, shape.getPaddedRows(), shape.block},
                  shape.element);
}

Value TileBuilder::allocateBlock() {
  return allocate(b, {shape.block, shape.block}, shape.element);
}

Tile TileBuilder::loadRow(Value memory, ValueRange indices, Value column) {
  Tile row;
  SmallVector<Value> place(indices);
  place.emplace_back();
  for (int64_t i = 0; i < shape.vectors; ++i) {
    place.back() =
        column ? b.add(column, i * shape.lanes) : b.index(i * shape.lanes);
    row.push_back(vector::LoadOp::create(b, shape.vector, memory, place));
  }
  return row;
}

void TileBuilder::storeRow(ArrayRef<Value> row, Value memory,
                           ValueRange indices, Value column) {
  SmallVector<Value> place(indices);
  place.emplace_back();
  for (int64_t i = 0; i < shape.vectors; ++i) {
    place.back() =
        column ? b.add(column, i * shape.lanes) : b.index(i * shape.lanes);
    vector::StoreOp::create(b, row[i], memory, place);
  }
}

Tile TileBuilder::multiply(Value first, Value end, Factor factor, Row row) {
  Tile initial(BlockShape::kTileRows * shape.vectors,
               b.number(shape.vector, 0));
  return b.fold(first, end, 1, initial, [&](Value k, ValueRange sums) {
    Tile next, vectors = row(k);
    for (int64_t r = 0; r < BlockShape::kTileRows; ++r) {
      Value number = broadcast(factor(k, r));
      for (Value vector : vectors)
        next.push_back(
            math::FmaOp::create(b, number, vector, sums[next.size()]));
    }
    return next;
  });
}
