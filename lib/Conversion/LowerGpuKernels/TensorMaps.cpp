//===- TensorMaps.cpp - Boxes of operands that hardware copies ------------===//

#include "TensorMaps.h"

#include "Hfta/Dialect/Hfta/IR/TensorTypes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::hfta;

/// What hardware asks of boxes and of memory.
static constexpr int64_t kMostBox = 256, kMostSteps = 8, kMostSize = 1LL << 32,
                         kStrideBytes = 16;

std::optional<SmallVector<LoopRange>>
hfta::cutLoops(linalg::GenericOp op, ArrayRef<unsigned> loops, int64_t count) {
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  SmallVector<LoopRange> ranges;
  int64_t outside = 1;
  for (unsigned loop : loops)
    outside *= sizes[loop];
  for (unsigned loop : llvm::reverse(loops)) {
    int64_t size = sizes[loop];
    outside /= size;
    if (size == 1 || count == 1)
      continue;
    int64_t own = outside == 1 ? count : std::min(count, size);
    // The next part begins where this one ends, or in another row.
    if (outside > 1 && (count % own != 0 || size % own != 0))
      return std::nullopt;
    ranges.push_back({loop, own});
    count /= own;
  }
  return count == 1 ? std::optional(ranges) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

namespace {
/// Follows an element back to memory.
class ElementFollower {
public:
  ElementFollower(Value tensor, Indices indices)
      : tensor(tensor), indices(std::move(indices)),
        isPadded(this->indices.size(), false) {}

  /// Whether there is such an element: zeros beyond the memory's ends are what
  /// is padded, and nothing else is.
  bool follow();

  Value tensor;
  Indices indices;
  SmallVector<bool> isPadded; ///< along an axis

private:
  bool step();
  bool stepGeneric(linalg::GenericOp op);
  bool stepPad(tensor::PadOp op);
  bool stepSlice(tensor::ExtractSliceOp op);
  bool stepTranspose(linalg::TransposeOp op);
  template <typename Reshape>
  bool stepReshape(Reshape op);
};
} // namespace

bool ElementFollower::stepGeneric(linalg::GenericOp op) {
  auto result = cast<OpResult>(tensor);
  OpOperand *from = findWidened(op, result);
  AffineMap to = op.getIndexingMapMatchingResult(result);
  if (!from || op.getNumReductionLoops() > 0 ||
      !isa<RankedTensorType>(from->get().getType()))
    return false;
  AffineMap map = op.getMatchingIndexingMap(from);
  std::optional<Indices> loops = findLoops(to, indices);
  if (!loops || !map.isPermutation())
    return false;
  SmallVector<bool> padded(isPadded);
  for (auto [axis, expression] : llvm::enumerate(map.getResults()))
    isPadded[axis] = padded[*to.getResultPosition(expression)];
  indices = applyTo(map, *loops);
  tensor = from->get();
  return true;
}

bool ElementFollower::stepPad(tensor::PadOp op) {
  Value padding = op.getConstantPaddingValue();
  if (!padding || !matchPattern(padding, m_PosZeroFloat()))
    return false;
  for (auto [axis, low] : llvm::enumerate(op.getMixedLowPad())) {
    std::optional<int64_t> number = getConstantIntValue(low);
    if (!number)
      return false;
    bool isSame = op.getSourceType().getDimSize(axis) ==
                  op.getResultType().getDimSize(axis);
    // What is padded twice begins somewhere else.
    if (!isSame && isPadded[axis])
      return false;
    isPadded[axis] = isPadded[axis] || !isSame;
    indices[axis] = indices[axis] - *number;
  }
  tensor = op.getSource();
  return true;
}

bool ElementFollower::stepSlice(tensor::ExtractSliceOp op) {
  if (!op.hasUnitStride() || llvm::is_contained(isPadded, true))
    return false;
  Indices from;
  llvm::SmallBitVector dropped = op.getDroppedDims();
  auto next = indices.begin();
  for (auto [axis, offset] : llvm::enumerate(op.getMixedOffsets())) {
    std::optional<int64_t> number = getConstantIntValue(offset);
    if (!number)
      return false;
    from.push_back(dropped[axis]
                       ? getAffineConstantExpr(*number, op.getContext())
                       : *next++ + *number);
  }
  indices = from;
  isPadded.assign(indices.size(), false);
  tensor = op.getSource();
  return true;
}

bool ElementFollower::stepTranspose(linalg::TransposeOp op) {
  SmallVector<bool> padded(isPadded);
  for (auto [to, axis] : llvm::enumerate(op.getPermutation()))
    isPadded[axis] = padded[to];
  indices = getSourceIndices(op, indices);
  tensor = op.getInput();
  return true;
}

template <typename Reshape>
bool ElementFollower::stepReshape(Reshape op) {
  if (llvm::is_contained(isPadded, true))
    return false;
  indices = getSourceIndices(op, indices);
  isPadded.assign(indices.size(), false);
  tensor = op.getSrc();
  return true;
}

bool ElementFollower::step() {
  return llvm::TypeSwitch<Operation *, bool>(tensor.getDefiningOp())
      .Case([&](linalg::GenericOp op) { return stepGeneric(op); })
      .Case([&](linalg::TransposeOp op) { return stepTranspose(op); })
      .Case([&](tensor::PadOp op) { return stepPad(op); })
      .Case([&](tensor::ExtractSliceOp op) { return stepSlice(op); })
      .Case<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(
          [&](auto op) { return stepReshape(op); })
      .Default([](Operation *) { return false; });
}

bool ElementFollower::follow() {
  while (!isa<BlockArgument>(tensor))
    if (!tensor.getDefiningOp() || !step())
      return false;
  return true;
}

//===----------------------------------------------------------------------===//
// Dimensions
//===----------------------------------------------------------------------===//

namespace {
/// Of memory, from the outermost on.
struct Dimension {
  int64_t size;
  AffineExpr number;
  bool isPadded;
};
/// A number as a sum of multiples of loops.
struct LinearNumber {
  explicit LinearNumber(size_t loops) : factors(loops, 0) {}
  /// False where it is none.
  bool add(AffineExpr number, int64_t factor);

  SmallVector<int64_t> factors;
};
} // namespace

bool LinearNumber::add(AffineExpr number, int64_t factor) {
  if (isa<AffineConstantExpr>(number))
    return true;
  if (auto dim = dyn_cast<AffineDimExpr>(number)) {
    factors[dim.getPosition()] += factor;
    return true;
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(number);
  if (!binary)
    return false;
  if (binary.getKind() == AffineExprKind::Add)
    return add(binary.getLHS(), factor) && add(binary.getRHS(), factor);
  auto constant = dyn_cast<AffineConstantExpr>(binary.getRHS());
  return binary.getKind() == AffineExprKind::Mul && constant &&
         add(binary.getLHS(), factor * constant.getValue());
}

/// Without those of one element; of those that a reshape has cut one number is
/// taken together with the next one.
static std::optional<SmallVector<Dimension>>
findDimensions(const ElementFollower &element, unsigned loops) {
  SmallVector<Dimension> dimensions;
  for (auto [size, number, isPadded] :
       llvm::zip(getShape(element.tensor), element.indices, element.isPadded))
    if (size != 1 || isPadded)
      dimensions.push_back(
          {size, simplifyAffineExpr(number, loops, 0), isPadded});
  for (size_t axis = dimensions.size(); axis-- > 1;) {
    Dimension &inner = dimensions[axis], &outer = dimensions[axis - 1];
    if (inner.number.isPureAffine() && LinearNumber(loops).add(inner.number, 1))
      continue;
    if (inner.isPadded || outer.isPadded)
      return std::nullopt;
    outer.number =
        simplifyAffineExpr(outer.number * inner.size + inner.number, loops, 0);
    outer.size *= inner.size;
    dimensions.erase(dimensions.begin() + static_cast<ptrdiff_t>(axis));
  }
  return dimensions;
}

namespace {
/// Boxes' extents from the innermost dimension on.
class BoxBuilder {
public:
  BoxBuilder(TensorMap &map, ArrayRef<LoopRange> ranges)
      : map(map), ranges(ranges) {}

  bool add(const Dimension &dimension, const LinearNumber &number);
  /// Whether all ranges are in the box.
  bool isComplete() const { return next == ranges.size(); }

private:
  TensorMap &map;
  ArrayRef<LoopRange> ranges;
  size_t next = 0;
};
} // namespace

/// Of the ranges the next one alone may go along it.
bool BoxBuilder::add(const Dimension &dimension, const LinearNumber &number) {
  bool isInnermost = map.sizes.empty();
  int64_t stride =
      isInnermost ? map.elementBytes : map.strides.back() * map.sizes.back();
  int64_t box = 1, step = 1;
  for (auto [index, range] : llvm::enumerate(ranges)) {
    int64_t factor = number.factors[range.loop];
    if (factor == 0)
      continue;
    if (index != next || box > 1 || factor < 0)
      return false;
    step = factor;
    box = (range.count - 1) * factor + 1;
  }
  next += box > 1;
  bool isSound =
      box <= kMostBox && step <= kMostSteps && dimension.size < kMostSize &&
      (isInnermost ? step == 1 && box > 1 : stride % kStrideBytes == 0);
  if (!isSound || map.sizes.size() == TensorMap::kMostDimensions)
    return false;
  map.sizes.push_back(dimension.size);
  map.strides.push_back(stride);
  map.box.push_back(box);
  map.steps.push_back(step);
  map.begin.push_back(dimension.number);
  return true;
}

std::optional<TensorMap> TensorMap::find(OpOperand &operand,
                                         ArrayRef<LoopRange> ranges) {
  auto op = cast<linalg::GenericOp>(operand.getOwner());
  unsigned loops = op.getNumLoops();
  ElementFollower element(
      operand.get(), Indices(op.getMatchingIndexingMap(&operand).getResults()));
  if (!element.follow())
    return std::nullopt;
  std::optional<SmallVector<Dimension>> dimensions =
      findDimensions(element, loops);
  if (!dimensions)
    return std::nullopt;
  TensorMap map = {
      cast<BlockArgument>(element.tensor).getArgNumber(),
      getElementTypeOrSelf(element.tensor.getType()).getIntOrFloatBitWidth() /
          8,
      {},
      {},
      {},
      {},
      {}};
  BoxBuilder box(map, ranges);
  for (const Dimension &dimension : llvm::reverse(*dimensions)) {
    LinearNumber number(loops);
    if (!number.add(dimension.number, 1) || !box.add(dimension, number))
      return std::nullopt;
  }
  return box.isComplete() ? std::optional(map) : std::nullopt;
}

DictionaryAttr TensorMap::toAttribute(MLIRContext *context) const {
  Builder builder(context);
  auto numbers = [&](StringRef name, ArrayRef<int64_t> values) {
    return builder.getNamedAttr(name, builder.getDenseI64ArrayAttr(values));
  };
  return builder.getDictionaryAttr(
      {builder.getNamedAttr("argument", builder.getI64IntegerAttr(argument)),
       builder.getNamedAttr("element_bytes",
                            builder.getI64IntegerAttr(elementBytes)),
       numbers("sizes", sizes), numbers("strides", strides),
       numbers("box", box), numbers("steps", steps)});
}
