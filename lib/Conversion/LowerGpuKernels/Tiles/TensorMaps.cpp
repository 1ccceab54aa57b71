//===- TensorMaps.cpp - Tensor maps of products' operands -----------------===//

#include "Tiles/TensorMaps.h"

#include "Hfta/Dialect/Hfta/IR/TensorTypes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::hfta;

/// Limits of the hardware: elements of a box along a dimension, steps between
/// them, and the bytes of which strides are multiples.
static constexpr int64_t kMostBox = 256, kMostSteps = 8, kStrideBytes = 16;
/// Exclusive limits of sizes, whose coordinates are signed 32-bit numbers, and
/// of strides in bytes.
static constexpr int64_t kSizeEnd = 1LL << 31, kStrideEnd = 1LL << 40;

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

namespace {
/// Follows an element of a tensor back to the memory from which it is read.
class ElementFollower {
public:
  ElementFollower(Value tensor, Indices indices)
      : tensor(tensor), indices(std::move(indices)),
        isPadded(this->indices.size(), false) {}

  /// Returns whether the element is read from memory, and all padding on the
  /// way consists of zeros beyond the memory's bounds, so that every access
  /// beyond the bounds may yield zero.
  bool follow();

  Value tensor;
  Indices indices;
  SmallVector<bool> isPadded; ///< whether each axis is padded

private:
  bool step();
  bool stepGeneric(linalg::GenericOp op);
  bool notePadding(ArrayRef<int64_t> inside);
  bool noteMove(Operation *op);
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

/// Returns whether the elements that an op adds around its source are zeros.
static bool isPaddedByZeros(Operation *op) {
  Value padding;
  if (auto pad = dyn_cast<tensor::PadOp>(op))
    padding = pad.getConstantPaddingValue();
  else if (auto fill = cast<tensor::InsertSliceOp>(op)
                           .getDest()
                           .getDefiningOp<linalg::FillOp>())
    padding = fill.getInputs().front();
  return padding && matchPattern(padding, m_PosZeroFloat());
}

/// Notes the axes along which an op pads. Returns false if an axis is padded
/// twice, as the inner padding wouldn't be at the memory's bounds.
bool ElementFollower::notePadding(ArrayRef<int64_t> inside) {
  for (auto [own, outer, isOne] :
       llvm::zip_equal(inside, getShape(tensor), isPadded)) {
    if (own != outer && isOne)
      return false;
    isOne = isOne || own != outer;
  }
  return true;
}

/// Notes which axes of an op's source are padded. Returns false if a padded
/// axis has no corresponding axis in the source.
bool ElementFollower::noteMove(Operation *op) {
  if (isa<tensor::PadOp, tensor::InsertSliceOp>(op))
    return isPaddedByZeros(op) && notePadding(getShape(op->getOperand(0)));
  if (auto transpose = dyn_cast<linalg::TransposeOp>(op)) {
    SmallVector<bool> padded(isPadded);
    for (auto [to, axis] : llvm::enumerate(transpose.getPermutation()))
      isPadded[axis] = padded[to];
    return true;
  }
  return !llvm::is_contained(isPadded, true);
}

bool ElementFollower::step() {
  Operation *op = tensor.getDefiningOp();
  if (auto generic = dyn_cast<linalg::GenericOp>(op))
    return stepGeneric(generic);
  std::optional<ElementPlace> moved = findMoved(op, indices);
  if (!moved || !noteMove(op))
    return false;
  std::tie(tensor, indices) = std::tie(moved->tensor, moved->indices);
  isPadded.resize(indices.size(), false);
  return true;
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
/// A dimension of memory; lists have the outermost dimension first. Loops that
/// run through neighbouring dimensions as through a single one are joined into
/// one loop, which gets a number after all of the op's loops.
struct Dimension {
  int64_t size;
  AffineExpr number; ///< the dimension's index as an expression of joined loops
  AffineExpr begin;  ///< the first index as an expression of the op's loops
  bool isPadded;
};

/// An index as a sum of multiples of loop indices, without its constant term.
struct LinearNumber {
  explicit LinearNumber(size_t loops) : factors(loops, 0) {}
  /// Adds `factor` times `number`. Returns false if `number` isn't such a sum.
  bool add(AffineExpr number, int64_t factor);

  SmallVector<int64_t> factors;
};

/// `count` consecutive iterations of a loop.
struct LoopRange {
  unsigned loop;
  int64_t count;
};

/// Finds a box in the dimensions of an operand's memory.
class BoxFinder {
public:
  BoxFinder(linalg::GenericOp op, ArrayRef<Dimension> dimensions)
      : dimensions(dimensions), sizes(op.getStaticLoopRanges()) {}

  /// Adds the dimensions and the box to `map`. Returns false if the elements
  /// are no box.
  bool find(LoopPart inner, LoopPart rows, TensorMap &map);

private:
  SmallVector<unsigned> join(ArrayRef<unsigned> loops);
  bool joinTwo(unsigned outer, unsigned inner);
  std::optional<SmallVector<LoopRange>> cut(ArrayRef<unsigned> loops,
                                            int64_t count) const;
  bool endsWith(ArrayRef<unsigned> loops) const;
  bool add(const Dimension &dimension, TensorMap &map);

  SmallVector<Dimension> dimensions;
  SmallVector<int64_t> sizes;
  SmallVector<unsigned>
      partLoops; ///< the op's loops over rows and inside of rows
  SmallVector<LoopRange> ranges;
  size_t next =
      0; ///< the range that the next dimension may use; 0 is the innermost
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

/// Returns the dimensions of memory, without those of one element. If a reshape
/// has split an index, both dimensions are joined into one. Returns nothing if
/// one of these is padded.
static std::optional<SmallVector<Dimension>>
findDimensions(const ElementFollower &element, linalg::GenericOp op) {
  unsigned loops = op.getNumLoops();
  // The index of a loop of one iteration is always 0.
  SmallVector<AffineExpr> known;
  for (auto [loop, size] : llvm::enumerate(op.getStaticLoopRanges()))
    known.push_back(size == 1 ? getAffineConstantExpr(0, op.getContext())
                              : getAffineDimExpr(loop, op.getContext()));
  SmallVector<Dimension> dimensions;
  for (auto [size, number, isPadded] :
       llvm::zip(getShape(element.tensor), element.indices, element.isPadded))
    dimensions.push_back(
        {size,
         simplifyAffineExpr(number.replaceDims(known), loops, 0),
         {},
         isPadded});
  for (size_t axis = dimensions.size(); axis-- > 1;) {
    Dimension &inner = dimensions[axis], &outer = dimensions[axis - 1];
    if (LinearNumber(loops).add(inner.number, 1))
      continue;
    if (inner.isPadded || outer.isPadded)
      return std::nullopt;
    outer.number =
        simplifyAffineExpr(outer.number * inner.size + inner.number, loops, 0);
    outer.size *= inner.size;
    dimensions.erase(dimensions.begin() + static_cast<ptrdiff_t>(axis));
  }
  llvm::erase_if(dimensions, [](const Dimension &dimension) {
    return dimension.size == 1 && !dimension.isPadded;
  });
  for (Dimension &dimension : dimensions)
    dimension.begin = dimension.number;
  return dimensions;
}

/// Replaces the loops `outer` and `inner` by one loop, if they run through
/// neighbouring dimensions and `inner` covers the whole of its dimension.
/// Returns whether it did.
bool BoxFinder::joinTwo(unsigned outer, unsigned inner) {
  for (size_t axis = 0; axis + 1 < dimensions.size(); ++axis) {
    Dimension &first = dimensions[axis], &second = dimensions[axis + 1];
    MLIRContext *context = first.number.getContext();
    AffineExpr loop = getAffineDimExpr(outer, context);
    LinearNumber number(sizes.size());
    // Other loops of the box have to remain dimensions of their own.
    bool isAlone = number.add(first.number, 1) && number.factors[outer] == 1 &&
                   llvm::none_of(partLoops, [&](unsigned other) {
                     return other != outer && number.factors[other] != 0;
                   });
    bool goOn = isAlone && second.number == getAffineDimExpr(inner, context) &&
                second.size == sizes[inner] && !first.isPadded &&
                !second.isPadded;
    if (!goOn)
      continue;
    AffineExpr others =
        first.number.replace(loop, getAffineConstantExpr(0, context));
    first.begin = first.begin * second.size + second.begin;
    first.number = simplifyAffineExpr(
        others * second.size + getAffineDimExpr(sizes.size(), context),
        sizes.size() + 1, 0);
    first.size *= second.size;
    sizes.push_back(sizes[outer] * sizes[inner]);
    dimensions.erase(dimensions.begin() + static_cast<ptrdiff_t>(axis) + 1);
    return true;
  }
  return false;
}

/// Joins loops as far as possible, and drops loops of one iteration.
SmallVector<unsigned> BoxFinder::join(ArrayRef<unsigned> loops) {
  SmallVector<unsigned> joined;
  for (unsigned loop : loops) {
    if (sizes[loop] == 1)
      continue;
    if (!joined.empty() && joinTwo(joined.back(), loop))
      joined.back() = sizes.size() - 1;
    else
      joined.push_back(loop);
  }
  return joined;
}

/// Returns the first `count` iterations of a nest as ranges, the innermost
/// first: all iterations of the inner loops, and some of one loop around them.
/// Returns nothing if they don't have this form.
std::optional<SmallVector<LoopRange>> BoxFinder::cut(ArrayRef<unsigned> loops,
                                                     int64_t count) const {
  SmallVector<LoopRange> cut;
  for (auto [number, loop] : llvm::enumerate(llvm::reverse(loops))) {
    bool isOutermost = number + 1 == loops.size();
    int64_t size = sizes[loop];
    int64_t own = isOutermost ? count : std::min(count, size);
    // The next `count` iterations have to begin where these end, or in another
    // row.
    if (!isOutermost && (count % own != 0 || size % own != 0))
      return std::nullopt;
    if (own > 1)
      cut.push_back({loop, own});
    count /= own;
  }
  return count == 1 ? std::optional(cut) : std::nullopt;
}

/// Returns whether there is a single loop, which runs through a whole
/// dimension.
bool BoxFinder::endsWith(ArrayRef<unsigned> loops) const {
  return loops.size() == 1 &&
         llvm::any_of(dimensions, [&](const Dimension &dimension) {
           auto loop = dyn_cast<AffineDimExpr>(dimension.number);
           return loop && loop.getPosition() == loops.front() &&
                  dimension.size == sizes[loops.front()];
         });
}

/// Adds a dimension to the map. Returns false if hardware doesn't support it,
/// or if any range but the next one moves along it.
bool BoxFinder::add(const Dimension &dimension, TensorMap &map) {
  LinearNumber number(sizes.size());
  if (!number.add(dimension.number, 1))
    return false;
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
    box = range.count * factor;
  }
  next += box > 1;
  bool isSound =
      box <= kMostBox && step <= kMostSteps && dimension.size < kSizeEnd &&
      stride < kStrideEnd &&
      (isInnermost ? step == 1 && box > 1 : stride % kStrideBytes == 0);
  if (!isSound || map.sizes.size() == TensorMap::kMostDimensions)
    return false;
  map.sizes.push_back(dimension.size);
  map.strides.push_back(stride);
  map.box.push_back(box);
  map.steps.push_back(step);
  map.begin.push_back(dimension.begin);
  return true;
}

bool BoxFinder::find(LoopPart inner, LoopPart rows, TensorMap &map) {
  for (ArrayRef<unsigned> loops : {inner.loops, rows.loops})
    llvm::append_range(partLoops, loops);
  SmallVector<unsigned> innerLoops = join(inner.loops);
  SmallVector<unsigned> rowLoops = join(rows.loops);
  std::optional<SmallVector<LoopRange>> inRow = cut(innerLoops, inner.count);
  std::optional<SmallVector<LoopRange>> others = cut(rowLoops, rows.count);
  if (!inRow || inRow->size() != 1 || !others)
    return false;
  ranges = *inRow;
  llvm::append_range(ranges, *others);
  for (const Dimension &dimension : llvm::reverse(dimensions))
    if (!add(dimension, map))
      return false;
  map.endsWithInner = endsWith(innerLoops);
  map.endsWithRows = endsWith(rowLoops);
  return next == ranges.size();
}

std::optional<TensorMap> TensorMap::find(OpOperand &operand, LoopPart inner,
                                         LoopPart rows) {
  auto op = cast<linalg::GenericOp>(operand.getOwner());
  ElementFollower element(
      operand.get(), Indices(op.getMatchingIndexingMap(&operand).getResults()));
  if (!element.follow())
    return std::nullopt;
  std::optional<SmallVector<Dimension>> dimensions =
      findDimensions(element, op);
  if (!dimensions)
    return std::nullopt;
  TensorMap map = {};
  map.argument = cast<BlockArgument>(element.tensor).getArgNumber();
  map.elementBytes =
      getElementTypeOrSelf(element.tensor.getType()).getIntOrFloatBitWidth() /
      8;
  bool isBox = BoxFinder(op, *dimensions).find(inner, rows, map);
  return isBox ? std::optional(map) : std::nullopt;
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
