//===- Inverse.cpp - The choice between two ways to invert ----------------===//

#include "Matrices/Inverse.h"

#include "Hfta/Dialect/Hfta/IR/PackedTriangle.h"

using namespace mlir;
using namespace mlir::hfta;

/// The most rows of matrices that are inverted in lanes. A larger matrix is
/// inverted nearly as fast alone as in full lanes, with 0.7 of the speed at 128
/// rows (0.4 at 64, 0.15 at 16), and a few copies fill only some of the lanes.
/// Measured with AVX-512 on AMD's family 26.
static constexpr int64_t kMostLaneRows = 64;

static BlockShape getShape(SpdInverseOp op) {
  auto type = cast<RankedTensorType>(op.getInverse().getType());
  return BlockShape(type.getElementType(), *getPackedSide(type.getDimSize(1)));
}

int64_t hfta::countInverseLanes(SpdInverseOp op) {
  BlockShape shape = getShape(op);
  return shape.rows <= kMostLaneRows ? shape.lanes : 1;
}

void hfta::emitInverse(LoopBuilder &builder, SpdInverseOp op,
                       ArrayRef<MatrixKernel> lanes) {
  BlockShape shape = getShape(op);
  if (lanes.size() == 1)
    emitBlockedInverse(builder, shape, lanes.front());
  else
    emitLaneInverse(builder, shape.element, shape.rows, lanes);
}

void hfta::emitFallback(LoopBuilder &b, const MatrixKernel &kernel,
                        int64_t rows, Value damping) {
  Value old = kernel.operands[2], inverse = kernel.results[0];
  Value zero = b.index(0);
  Value first = memref::LoadOp::create(b, old, ValueRange{kernel.item, zero});
  Type element = damping.getType();
  Value none = b.number(element, 0);
  Value isThere =
      arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, first, none);
  Value scale = arith::DivFOp::create(b, b.number(element, 1), damping);
  b.loop(zero, b.index(rows), 1, [&](Value row) {
    Value begin = b.packedRow(row);
    b.loop(zero, b.add(row, 1), 1, [&](Value column) {
      SmallVector<Value> place = {kernel.item, b.add(begin, column)};
      Value kept = memref::LoadOp::create(b, old, place);
      Value isDiagonal =
          arith::CmpIOp::create(b, arith::CmpIPredicate::eq, row, column);
      Value made = arith::SelectOp::create(b, isDiagonal, scale, none);
      memref::StoreOp::create(
          b, arith::SelectOp::create(b, isThere, kept, made), inverse, place);
    });
  });
}
