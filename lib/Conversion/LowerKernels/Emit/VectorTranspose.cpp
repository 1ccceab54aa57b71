//===- VectorTranspose.cpp - Transposition in registers -------------------===//

#include "Emit/VectorTranspose.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::hfta;

SmallVector<Value> hfta::transposeSquare(OpBuilder &builder, Location loc,
                                         SmallVector<Value> rows) {
  // In each step, the matrix consists of blocks of four quarters each, and the
  // two quarters off a block's diagonal are exchanged.
  int64_t side = rows.size();
  for (int64_t half = 1; half < side; half *= 2) {
    SmallVector<int64_t> lower, upper;
    for (int64_t lane = 0; lane < side; ++lane) {
      bool isOdd = lane & half;
      lower.push_back(isOdd ? side + lane - half : lane);
      upper.push_back(isOdd ? side + lane : lane + half);
    }
    for (int64_t row = 0; row < side; ++row) {
      if (row & half)
        continue;
      Value first = rows[row], second = rows[row + half];
      rows[row] = vector::ShuffleOp::create(builder, loc, first, second, lower);
      rows[row + half] =
          vector::ShuffleOp::create(builder, loc, first, second, upper);
    }
  }
  return rows;
}
