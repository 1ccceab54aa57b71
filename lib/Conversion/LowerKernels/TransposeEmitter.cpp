//===- TransposeEmitter.cpp - Copies that swap axes -----------------------===//

#include "TransposeEmitter.h"
#include "AxisLoops.h"
#include "VectorTranspose.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::hfta;

/// The square's side at most: it has to stay in registers.
static constexpr int64_t kMaxLanes = 16;

/// The axis along which an operand is contiguous, if it is its last index.
static std::optional<unsigned> getContiguousAxis(linalg::GenericOp op,
                                                 OpOperand &operand) {
  AffineMap map = op.getMatchingIndexingMap(&operand);
  if (map.getNumResults() == 0)
    return std::nullopt;
  auto axis = dyn_cast<AffineDimExpr>(map.getResults().back());
  if (!axis || !getAccess(op, operand, axis.getPosition()).isContiguous())
    return std::nullopt;
  return axis.getPosition();
}

namespace {

class TransposeEmitter {
public:
  TransposeEmitter(OpBuilder &builder, linalg::GenericOp op, unsigned from,
                   unsigned to, int64_t lanes)
      : builder(builder), op(op), from(from), to(to), lanes(lanes),
        loops(builder, op) {
    for (unsigned axis = 0; axis < loops.sizes.size(); ++axis)
      if (axis != from && axis != to)
        outer.push_back(axis);
  }

  void emit(size_t next = 0);

private:
  void emitBlock(int64_t fromSize, int64_t toSize);
  void emitSquare(int64_t fromOffset, int64_t toOffset, int64_t side);

  OpBuilder &builder;
  linalg::GenericOp op;
  /// The contiguous axes of input and output.
  unsigned from, to;
  int64_t lanes;
  AxisLoops loops;
  SmallVector<unsigned> outer;
};

} // namespace

void TransposeEmitter::emitSquare(int64_t fromOffset, int64_t toOffset,
                                  int64_t side) {
  Location loc = op.getLoc();
  OpOperand &input = *op.getDpsInputOperand(0);
  OpOperand &output = *op.getDpsInitOperand(0);
  auto getOffsets = [&](int64_t fromLane, int64_t toLane) {
    SmallVector<int64_t> offsets(loops.sizes.size(), 0);
    offsets[from] = fromOffset + fromLane;
    offsets[to] = toOffset + toLane;
    return offsets;
  };
  if (side == 1) {
    Value element = memref::LoadOp::create(
        builder, loc, input.get(), loops.getIndices(input, getOffsets(0, 0)));
    memref::StoreOp::create(builder, loc, element, output.get(),
                            loops.getIndices(output, getOffsets(0, 0)));
    return;
  }
  auto type = VectorType::get(
      side, cast<MemRefType>(input.get().getType()).getElementType());
  SmallVector<Value> rows;
  for (int64_t row = 0; row < side; ++row)
    rows.push_back(
        vector::LoadOp::create(builder, loc, type, input.get(),
                               loops.getIndices(input, getOffsets(0, row))));
  for (auto [column, value] :
       llvm::enumerate(transposeSquare(builder, loc, rows)))
    vector::StoreOp::create(
        builder, loc, value, output.get(),
        loops.getIndices(output, getOffsets(static_cast<int64_t>(column), 0)));
}

void TransposeEmitter::emitBlock(int64_t fromSize, int64_t toSize) {
  int64_t fromOffset = 0;
  for (int64_t fromWidth : splitIntoVectors(fromSize, lanes)) {
    int64_t toOffset = 0;
    for (int64_t toWidth : splitIntoVectors(toSize, lanes)) {
      int64_t side = std::min(fromWidth, toWidth);
      for (int64_t i = 0; i < fromWidth; i += side)
        for (int64_t j = 0; j < toWidth; j += side)
          emitSquare(fromOffset + i, toOffset + j, side);
      toOffset += toWidth;
    }
    fromOffset += fromWidth;
  }
}

void TransposeEmitter::emit(size_t next) {
  if (next < outer.size()) {
    loops.emitLoop(outer[next], 0, loops.sizes[outer[next]], 1,
                   [&] { emit(next + 1); });
    return;
  }
  loops.emitBlocks(to, lanes, [&](int64_t toSize) {
    loops.emitBlocks(from, lanes,
                     [&](int64_t fromSize) { emitBlock(fromSize, toSize); });
  });
}

bool hfta::emitTranspose(OpBuilder &builder, linalg::GenericOp op,
                         VectorTarget target) {
  if (op.getNumDpsInputs() != 1 || op.getNumDpsInits() != 1 ||
      op.getNumReductionLoops() > 0 ||
      op.getBody()->getTerminator()->getOperand(0) !=
          op.getBody()->getArgument(0))
    return false;
  std::optional<unsigned> from =
      getContiguousAxis(op, *op.getDpsInputOperand(0));
  std::optional<unsigned> to = getContiguousAxis(op, *op.getDpsInitOperand(0));
  Type element = getElementTypeOrSelf(op.getDpsInits().front().getType());
  if (!from || !to || from == to || element.isIndex())
    return false;
  int64_t lanes = std::min<int64_t>(
      kMaxLanes, target.bytes * 8 / element.getIntOrFloatBitWidth());
  if (lanes < 2 || llvm::is_contained(op.getStaticLoopRanges(), 0))
    return false;
  TransposeEmitter(builder, op, *from, *to, lanes).emit();
  return true;
}
