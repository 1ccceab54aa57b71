//===- TransposeEmitter.cpp - Elementwise ops that swap axes --------------===//

#include "Emit/TransposeEmitter.h"
#include "Emit/AxisLoops.h"
#include "Emit/VectorBody.h"
#include "Emit/VectorTranspose.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::hfta;

/// Returns the axis along which an operand is contiguous, if the operand's last
/// index is an axis; else nothing.
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
  /// Emits `side` vectors along `to`, with `side` elements each.
  void emitSquare(int64_t fromOffset, int64_t toOffset, int64_t side);
  void emitVector(ArrayRef<int64_t> offsets, int64_t width,
                  ArrayRef<Value> transposed);
  Value load(OpOperand &operand, ArrayRef<int64_t> offsets, int64_t width);

  OpBuilder &builder;
  linalg::GenericOp op;
  /// `from` is the axis along which the transposed inputs are contiguous, `to`
  /// the one along which all other operands are.
  unsigned from, to;
  int64_t lanes;
  AxisLoops loops;
  SmallVector<unsigned> outer;
};

} // namespace

Value TransposeEmitter::load(OpOperand &operand, ArrayRef<int64_t> offsets,
                             int64_t width) {
  Value memory = operand.get();
  if (!isa<MemRefType>(memory.getType()))
    return memory;
  return createLoad(builder, op.getLoc(), memory,
                    loops.getIndices(operand, offsets), width);
}

/// Computes and stores `width` elements along `to`. `transposed` holds the
/// vectors of transposed inputs, and null for other inputs.
void TransposeEmitter::emitVector(ArrayRef<int64_t> offsets, int64_t width,
                                  ArrayRef<Value> transposed) {
  SmallVector<Value> arguments;
  for (OpOperand *input : op.getDpsInputOperands()) {
    Value value = transposed[input->getOperandNumber()];
    bool isUniform = !op.getMatchingIndexingMap(input).isFunctionOfDim(to);
    if (!value && op.payloadUsesValueFromOperand(input))
      value = load(*input, offsets, isUniform ? 1 : width);
    arguments.push_back(value);
  }
  arguments.append(op.getNumDpsInits(), Value());
  VectorBody body(builder, op, to, width);
  SmallVector<Value> results =
      body.clone(arguments, loops.getPosition(offsets));
  for (auto [output, value] : llvm::zip(op.getDpsInitsMutable(), results))
    createStore(builder, op.getLoc(), value, output.get(),
                loops.getIndices(output, offsets));
}

void TransposeEmitter::emitSquare(int64_t fromOffset, int64_t toOffset,
                                  int64_t side) {
  auto getOffsets = [&](int64_t fromLane, int64_t toLane) {
    SmallVector<int64_t> offsets(loops.sizes.size(), 0);
    offsets[from] = fromOffset + fromLane;
    offsets[to] = toOffset + toLane;
    return offsets;
  };
  unsigned inputs = op.getNumDpsInputs();
  SmallVector<SmallVector<Value>> columns(side, SmallVector<Value>(inputs));
  for (OpOperand *input : op.getDpsInputOperands()) {
    if (side == 1 || getContiguousAxis(op, *input) != from)
      continue;
    SmallVector<Value> rows;
    for (int64_t row = 0; row < side; ++row)
      rows.push_back(load(*input, getOffsets(0, row), side));
    for (auto [column, value] :
         llvm::zip(columns, transposeSquare(builder, op.getLoc(), rows)))
      column[input->getOperandNumber()] = value;
  }
  for (int64_t column = 0; column < side; ++column)
    emitVector(getOffsets(column, 0), side, columns[column]);
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

/// Returns the axis along which the inputs that have to be transposed are
/// contiguous, if all other inputs are contiguous along `to` or don't depend on
/// it. Returns nothing if there is no such axis.
static std::optional<unsigned> findFromAxis(linalg::GenericOp op, unsigned to) {
  std::optional<unsigned> from;
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    if (!map.isFunctionOfDim(to))
      continue;
    std::optional<unsigned> axis = getContiguousAxis(op, *input);
    if (!axis || (*axis != to && from && from != axis))
      return std::nullopt;
    if (*axis != to)
      from = axis;
  }
  return from;
}

bool hfta::emitTranspose(OpBuilder &builder, linalg::GenericOp op,
                         const TargetModel &target) {
  if (op.getNumDpsInits() == 0 || op.getNumReductionLoops() > 0)
    return false;
  std::optional<unsigned> to = getContiguousAxis(op, *op.getDpsInitOperand(0));
  if (!to)
    return false;
  for (OpOperand &output : op.getDpsInitsMutable())
    if (getContiguousAxis(op, output) != to ||
        op.payloadUsesValueFromOperand(&output))
      return false;
  std::optional<unsigned> from = findFromAxis(op, *to);
  if (!from || from == to)
    return false;
  int64_t bits = 8;
  for (Value operand : op->getOperands()) {
    Type element = getElementTypeOrSelf(operand.getType());
    if (element.isIndex())
      return false;
    bits = std::max<int64_t>(bits, element.getIntOrFloatBitWidth());
  }
  int64_t lanes = std::min<int64_t>(TargetModel::Transposes::kMaxLanes,
                                    target.getVectorBytes() * 8 / bits);
  if (lanes < 2 || llvm::is_contained(op.getStaticLoopRanges(), 0))
    return false;
  TransposeEmitter(builder, op, *from, *to, lanes).emit();
  return true;
}
