//===- PartSums.cpp - Sums in the kernels of their terms ------------------===//

#include "Kernels/PartSums.h"
#include "Hfta/Dialect/Hfta/IR/TensorTypes.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::hfta;

/// The number of which each tile's number of rows is a multiple.
static constexpr int64_t kTileRows = 32;

/// Returns whether a convolution is so cheap that any kernel computes each
/// element on its own, or is a single matrix product with all positions on one
/// side. (An input gradient with strides has some positions on the side of the
/// channels.)
template <typename OpTy>
static bool isProductOrCheap(OpTy op) {
  // With more columns a group's product has tiles, whose parts can't span
  // several groups.
  constexpr int64_t kFewColumns = 4;
  ArrayRef<int64_t> weight = getShape(op.getWeight());
  auto groups = static_cast<int64_t>(op.getGroups());
  int64_t columns =
      isa<ConvOp>(op) ? weight[0] / groups : llvm::product_of(op.getStrides());
  if (weight[1] == 1 && groups > 1 && columns < kFewColumns)
    return true;
  bool isDense =
      llvm::all_of(op.getStrides(), [](int64_t stride) { return stride == 1; });
  return op.getGroups() == 1 && (isDense || isa<ConvOp>(op));
}

/// Returns whether one operand has all row axes, and the other one the column
/// axis.
static bool isOfRowsAndColumns(ContractOp op, int64_t column) {
  SmallVector<AffineMap> maps = llvm::map_to_vector(
      op.getIndexingMaps().getAsRange<AffineMapAttr>(),
      [](AffineMapAttr attribute) { return attribute.getValue(); });
  auto isRight = [&](AffineExpr axis) -> std::optional<bool> {
    unsigned loop = cast<AffineDimExpr>(axis).getPosition();
    bool isInLeft = maps[0].isFunctionOfDim(loop);
    bool isInRight = maps[1].isFunctionOfDim(loop);
    return isInLeft == isInRight ? std::nullopt : std::optional(isInRight);
  };
  std::optional<bool> isColumnRight = isRight(maps[2].getResult(column));
  return isColumnRight &&
         llvm::all_of(llvm::enumerate(maps[2].getResults()), [&](auto axis) {
           std::optional<bool> own = isRight(axis.value());
           bool isColumn = static_cast<int64_t>(axis.index()) == column;
           return own && *own == (isColumn ? *isColumnRight : !*isColumnRight);
         });
}

bool hfta::canHaveParts(PartSumsOp sums, Operation *op) {
  Value result = op->getResult(0);
  if (getShape(result) != getShape(sums.getInput()))
    return false;
  if (isa<ElementwiseOpInterface>(op))
    return true;
  if (kTileRows % sums.getLength() != 0)
    return false;
  auto column = static_cast<int64_t>(sums.getColumn());
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<ConvOp, ConvInputGradientOp>(
          [&](auto conv) { return column == 1 && isProductOrCheap(conv); })
      .Case([&](ContractOp contract) {
        return isOfRowsAndColumns(contract, column);
      })
      .Case([](ConvWeightGradientOp) { return false; })
      .Default(
          [](Operation *other) { return other->hasTrait<ProducerTrait>(); });
}

bool hfta::haveRoomForParts(ArrayRef<Operation *> members, Operation *op) {
  // The most bits that an element of each summed tensor has, all tensors
  // together. A product's tile has at most 128 rows, and keeps at least 16
  // elements of a row in shared memory at a time, so that the tensors take at
  // most 40 KiB.
  constexpr int64_t kMostBits = 4 * 32;
  auto sums = dyn_cast<PartSumsOp>(op);
  if (!sums)
    return true;
  llvm::SmallSetVector<Value, 8> summed;
  summed.insert(sums.getInput());
  for (Operation *member : members)
    if (auto other = dyn_cast<PartSumsOp>(member))
      summed.insert(other.getInput());
  int64_t bits = 0;
  for (Value value : summed)
    bits += getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth();
  return bits <= kMostBits;
}
