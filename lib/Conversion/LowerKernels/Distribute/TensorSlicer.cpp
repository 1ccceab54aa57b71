//===- TensorSlicer.cpp - Compute a part of a tensor ----------------------===//

#include "Distribute/TensorSlicer.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::hfta;

using Ranges = std::optional<SmallVector<PartRange>>;

//===----------------------------------------------------------------------===//
// Parts of operands
//===----------------------------------------------------------------------===//

/// Adds the factors of each axis in `factor * expression` to `factors`; the
/// last element is the constant term. Fails unless the expression is linear.
static LogicalResult addTerms(AffineExpr expression, int64_t factor,
                              MutableArrayRef<int64_t> factors) {
  if (auto axis = dyn_cast<AffineDimExpr>(expression)) {
    factors[axis.getPosition()] += factor;
    return success();
  }
  if (auto constant = dyn_cast<AffineConstantExpr>(expression)) {
    factors.back() += factor * constant.getValue();
    return success();
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expression);
  if (!binary)
    return failure();
  if (expression.getKind() == AffineExprKind::Add)
    return failure(failed(addTerms(binary.getLHS(), factor, factors)) ||
                   failed(addTerms(binary.getRHS(), factor, factors)));
  auto constant = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (expression.getKind() != AffineExprKind::Mul || !constant)
    return failure();
  return addTerms(binary.getLHS(), factor * constant.getValue(), factors);
}

/// Returns the parallel iteration axis whose index is the index along `axis` of
/// the op's result; nothing if there is none.
static std::optional<unsigned> getIterationAxis(linalg::LinalgOp op,
                                                unsigned result, int64_t axis) {
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(result));
  auto position = dyn_cast<AffineDimExpr>(map.getResult(axis));
  if (!position || op.getIteratorTypesArray()[position.getPosition()] !=
                       utils::IteratorType::parallel)
    return std::nullopt;
  return position.getPosition();
}

static Ranges getLinalgRanges(linalg::LinalgOp op, unsigned result,
                              int64_t axis) {
  std::optional<unsigned> iteration = getIterationAxis(op, result, axis);
  if (!iteration)
    return std::nullopt;
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  SmallVector<PartRange> ranges;
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    bool found = false;
    for (auto [place, expression] : llvm::enumerate(map.getResults())) {
      if (!expression.isFunctionOfDim(*iteration))
        continue;
      SmallVector<int64_t> factors(sizes.size() + 1, 0);
      if (failed(addTerms(expression, 1, factors)) || factors[*iteration] < 0)
        return std::nullopt;
      int64_t window = 1 + factors.back(), least = factors.back();
      for (unsigned other = 0; other < sizes.size(); ++other) {
        int64_t most =
            other == *iteration ? 0 : factors[other] * (sizes[other] - 1);
        window += std::max<int64_t>(most, 0);
        least += std::min<int64_t>(most, 0);
      }
      if (least < 0)
        return std::nullopt;
      ranges.push_back({operand.getOperandNumber(), static_cast<int64_t>(place),
                        factors[*iteration], 0, window});
      found = true;
    }
    // The op can't be cut if it has a result without this axis: every item
    // would write that whole result.
    if (!found && op.isDpsInit(&operand))
      return std::nullopt;
  }
  return ranges;
}

/// Returns the axis that corresponds to `axis` under a reshape between `fine`,
/// whose axes `groups` lists, and a coarser shape. `fromFine`: `axis` belongs
/// to `fine`. Returns nothing unless the axis has all elements of its group.
static std::optional<int64_t>
getReshapedAxis(ArrayRef<ReassociationIndices> groups, ArrayRef<int64_t> fine,
                int64_t axis, bool fromFine) {
  for (auto [coarse, group] : llvm::enumerate(groups)) {
    if (fromFine ? !llvm::is_contained(group, axis)
                 : static_cast<int64_t>(coarse) != axis)
      continue;
    std::optional<int64_t> sole;
    for (int64_t member : group) {
      if (fine[member] == 1)
        continue;
      if (sole)
        return std::nullopt;
      sole = member;
    }
    if (!sole || (fromFine && *sole != axis))
      return std::nullopt;
    return fromFine ? static_cast<int64_t>(coarse) : *sole;
  }
  return std::nullopt;
}

/// Returns the axis of a slice's larger tensor that corresponds to `axis` of
/// the smaller one.
template <typename OpTy>
static int64_t getLargeAxis(OpTy op, int64_t axis) {
  llvm::SmallBitVector dropped = op.getDroppedDims();
  for (int64_t large = 0; large < static_cast<int64_t>(dropped.size()); ++large)
    if (!dropped[large] && axis-- == 0)
      return large;
  llvm_unreachable("axis out of range");
}

static Ranges getExtractRanges(tensor::ExtractSliceOp op, int64_t axis) {
  int64_t large = getLargeAxis(op, axis);
  int64_t offset = op.getStaticOffsets()[large];
  int64_t stride = op.getStaticStrides()[large];
  if (ShapedType::isDynamic(offset) || ShapedType::isDynamic(stride))
    return std::nullopt;
  return {{{0, large, stride, offset, 1}}};
}

static Ranges getInsertRanges(tensor::InsertSliceOp op, int64_t axis) {
  int64_t offset = op.getStaticOffsets()[axis];
  if (offset != 0 || op.getStaticStrides()[axis] != 1 ||
      op.getStaticSizes()[axis] != op.getDestType().getDimSize(axis) ||
      op.getDroppedDims()[axis])
    return std::nullopt;
  llvm::SmallBitVector dropped = op.getDroppedDims();
  int64_t small = axis;
  for (int64_t before = 0; before < axis; ++before)
    small -= dropped[before];
  return {{{0, small, 1, 0, 1}, {1, axis, 1, 0, 1}}};
}

Ranges hfta::getPartRanges(OpResult result, int64_t axis) {
  Operation *op = result.getOwner();
  if (auto linalg = dyn_cast<linalg::LinalgOp>(op))
    return getLinalgRanges(linalg, result.getResultNumber(), axis);
  if (isa<tensor::EmptyOp>(op))
    return SmallVector<PartRange>();
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    if (isa<SplatElementsAttr>(constant.getValue()))
      return SmallVector<PartRange>();
    return std::nullopt;
  }
  if (auto pad = dyn_cast<tensor::PadOp>(op)) {
    if (!isZeroInteger(pad.getMixedLowPad()[axis]) ||
        !isZeroInteger(pad.getMixedHighPad()[axis]) ||
        !pad.getConstantPaddingValue())
      return std::nullopt;
    return {{{0, axis, 1, 0, 1}}};
  }
  std::optional<int64_t> source;
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
    source = getReshapedAxis(expand.getReassociationIndices(),
                             expand.getResultType().getShape(), axis,
                             /*fromFine=*/true);
  else if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op))
    source = getReshapedAxis(collapse.getReassociationIndices(),
                             collapse.getSrcType().getShape(), axis,
                             /*fromFine=*/false);
  else if (auto extract = dyn_cast<tensor::ExtractSliceOp>(op))
    return getExtractRanges(extract, axis);
  else if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
    return getInsertRanges(insert, axis);
  if (!source)
    return std::nullopt;
  return {{{0, *source, 1, 0, 1}}};
}

void SlicedOps::add(Value tensor, int64_t axis) {
  auto result = dyn_cast<OpResult>(tensor);
  if (!result)
    return;
  Ranges ranges = getPartRanges(result, axis);
  if (!ranges || ops.contains(result.getOwner()))
    return;
  std::optional<unsigned> iteration;
  if (auto op = dyn_cast<linalg::LinalgOp>(result.getOwner()))
    iteration = getIterationAxis(op, result.getResultNumber(), axis);
  ops[result.getOwner()] = iteration;
  for (const PartRange &range : *ranges) {
    OpOperand &operand = result.getOwner()->getOpOperand(range.operand);
    operands.insert(&operand);
    add(operand.get(), range.axis);
  }
}

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

static RankedTensorType withSize(RankedTensorType type, int64_t axis,
                                 int64_t size) {
  SmallVector<int64_t> shape(type.getShape());
  shape[axis] = size;
  return type.clone(shape);
}

Value TensorSlicer::getOffset(Location loc, Range range) {
  Value offset = begin;
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(rewriter, loc, value);
  };
  if (range.scale != 1)
    offset =
        arith::MulIOp::create(rewriter, loc, offset, constant(range.scale));
  if (range.shift != 0)
    offset =
        arith::AddIOp::create(rewriter, loc, offset, constant(range.shift));
  return offset;
}

Value TensorSlicer::extract(Value tensor, Range range) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<OpFoldResult> offsets(type.getRank(), rewriter.getIndexAttr(0));
  SmallVector<OpFoldResult> strides(type.getRank(), rewriter.getIndexAttr(1));
  SmallVector<OpFoldResult> sizes =
      getAsIndexOpFoldResult(rewriter.getContext(), type.getShape());
  offsets[range.axis] = getOffset(tensor.getLoc(), range);
  sizes[range.axis] = rewriter.getIndexAttr(range.size);
  return tensor::ExtractSliceOp::create(rewriter, tensor.getLoc(), tensor,
                                        offsets, sizes, strides);
}

void hfta::shiftIndices(RewriterBase &rewriter, Operation *op, unsigned axis,
                        Value offset) {
  OpBuilder::InsertionGuard guard(rewriter);
  op->walk([&](linalg::IndexOp index) {
    if (index.getDim() != axis)
      return;
    rewriter.setInsertionPointAfter(index);
    Value shifted =
        arith::AddIOp::create(rewriter, index.getLoc(), index, offset);
    rewriter.replaceAllUsesExcept(index, shifted, shifted.getDefiningOp());
  });
}

/// Creates a smaller clone of an op without operands: `tensor.empty` or a splat
/// constant.
static Value createLeaf(RewriterBase &rewriter, Operation *op,
                        RankedTensorType type) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return arith::ConstantOp::create(
        rewriter, op->getLoc(), type,
        cast<SplatElementsAttr>(constant.getValue()).resizeSplat(type));
  return tensor::EmptyOp::create(rewriter, op->getLoc(), type.getShape(),
                                 type.getElementType());
}

/// Creates a slice of `tensor`. If `tensor` is a slice itself, creates a slice
/// of its source where possible: bufferization finds that a slice of an
/// argument is read and written in place, but doesn't for a slice of a slice.
static Value createSlice(RewriterBase &rewriter, Location loc,
                         RankedTensorType type, Value tensor,
                         SmallVector<OpFoldResult> offsets,
                         ArrayRef<OpFoldResult> sizes,
                         ArrayRef<OpFoldResult> strides) {
  auto outer = tensor.getDefiningOp<tensor::ExtractSliceOp>();
  if (outer && outer.hasUnitStride() && outer.getDroppedDims().none()) {
    SmallVector<OpFoldResult> before = outer.getMixedOffsets();
    bool isEither = llvm::all_of(llvm::zip(offsets, before), [](auto pair) {
      return isZeroInteger(std::get<0>(pair)) ||
             isZeroInteger(std::get<1>(pair));
    });
    if (isEither) {
      for (auto [offset, other] : llvm::zip(offsets, before))
        if (isZeroInteger(offset))
          offset = other;
      tensor = outer.getSource();
    }
  }
  return tensor::ExtractSliceOp::create(rewriter, loc, type, tensor, offsets,
                                        sizes, strides);
}

/// Clones an op that moves elements, so that it computes only the range of
/// `axis` that `type` has.
static Value createMoved(RewriterBase &rewriter, Operation *op,
                         RankedTensorType type, ValueRange operands,
                         int64_t axis) {
  Location loc = op->getLoc();
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
    return tensor::ExpandShapeOp::create(rewriter, loc, type, operands[0],
                                         expand.getReassociationIndices());
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op))
    return tensor::CollapseShapeOp::create(rewriter, loc, type, operands[0],
                                           collapse.getReassociationIndices());
  OpFoldResult size = rewriter.getIndexAttr(type.getDimSize(axis));
  if (auto extract = dyn_cast<tensor::ExtractSliceOp>(op)) {
    SmallVector<OpFoldResult> offsets = extract.getMixedOffsets();
    SmallVector<OpFoldResult> sizes = extract.getMixedSizes();
    int64_t large = getLargeAxis(extract, axis);
    offsets[large] = rewriter.getIndexAttr(0);
    sizes[large] = size;
    return createSlice(rewriter, loc, type, operands[0], offsets, sizes,
                       extract.getMixedStrides());
  }
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op)) {
    SmallVector<OpFoldResult> sizes = insert.getMixedSizes();
    sizes[axis] = size;
    return tensor::InsertSliceOp::create(rewriter, loc, operands[0],
                                         operands[1], insert.getMixedOffsets(),
                                         sizes, insert.getMixedStrides());
  }
  Operation *clone = rewriter.clone(*op);
  clone->setOperand(0, operands[0]);
  clone->getResult(0).setType(type);
  return clone->getResult(0);
}

void TensorSlicer::cloneSliced(OpResult result, Range range,
                               ArrayRef<PartRange> operandRanges) {
  Operation *op = result.getOwner();
  SmallVector<Value> operands(op->getOperands());
  for (const PartRange &part : operandRanges)
    operands[part.operand] =
        slice(operands[part.operand],
              Range{part.axis, range.scale * part.scale,
                    range.shift * part.scale + part.shift,
                    (range.size - 1) * part.scale + part.window});
  auto remember = [&](Value whole, int64_t axis, Value part) {
    known[{whole.getAsOpaquePointer(), axis, range.scale, range.shift,
           range.size}] = part;
  };
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp) {
    RankedTensorType type = withSize(cast<RankedTensorType>(result.getType()),
                                     range.axis, range.size);
    Value part = op->getNumOperands() == 0
                     ? createLeaf(rewriter, op, type)
                     : createMoved(rewriter, op, type, operands, range.axis);
    return remember(result, range.axis, part);
  }
  unsigned inputs = linalgOp.getNumDpsInputs();
  SmallVector<Type> types = llvm::to_vector(
      ValueRange(ArrayRef(operands).drop_front(inputs)).getTypes());
  Value offset =
      linalgOp.hasIndexSemantics() ? getOffset(op->getLoc(), range) : Value();
  Operation *clone = mlir::clone(rewriter, op, types, operands);
  if (offset)
    shiftIndices(
        rewriter, clone,
        *getIterationAxis(linalgOp, result.getResultNumber(), range.axis),
        offset);
  AffineExpr axis = linalgOp
                        .getMatchingIndexingMap(linalgOp.getDpsInitOperand(
                            result.getResultNumber()))
                        .getResult(range.axis);
  for (auto [whole, part] : llvm::zip(op->getResults(), clone->getResults())) {
    AffineMap map = linalgOp.getMatchingIndexingMap(
        linalgOp.getDpsInitOperand(whole.getResultNumber()));
    for (auto [place, expression] : llvm::enumerate(map.getResults()))
      if (expression == axis)
        remember(whole, place, part);
  }
}

Value TensorSlicer::slice(Value tensor, Range range) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (type.getDimSize(range.axis) == range.size)
    return tensor;
  auto key = std::make_tuple(tensor.getAsOpaquePointer(), range.axis,
                             range.scale, range.shift, range.size);
  if (Value part = known[key])
    return part;
  auto result = dyn_cast<OpResult>(tensor);
  if (result) {
    if (Ranges operands = getPartRanges(result, range.axis)) {
      cloneSliced(result, range, *operands);
      return known[key];
    }
  }
  Value part = extract(tensor, range);
  known[key] = part;
  return part;
}
