//===- LoweringUtils.cpp - Helpers of the lowerings -----------------------===//

#include "LoweringUtils.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APInt.h"
#include "llvm/ADT/bit.h"

using namespace mlir;
using namespace mlir::hfta;

Type hfta::getSignlessType(Type elementType) {
  auto integer = dyn_cast<IntegerType>(elementType);
  if (!integer || integer.isSignless())
    return elementType;
  return IntegerType::get(elementType.getContext(), integer.getWidth());
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

Value hfta::createZero(OpBuilder &builder, Location loc, Type type) {
  return arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
}

Value hfta::createNumber(OpBuilder &builder, Location loc, Type type,
                         double value) {
  TypedAttr attribute;
  if (isa<FloatType>(type))
    attribute = builder.getFloatAttr(type, value);
  else
    attribute = builder.getIntegerAttr(type, static_cast<int64_t>(value));
  return arith::ConstantOp::create(builder, loc, attribute);
}

Value hfta::createIndex(OpBuilder &builder, Location loc, int64_t value) {
  return arith::ConstantIndexOp::create(builder, loc, value);
}

static Value createExtreme(OpBuilder &builder, Location loc, Type type,
                           bool greatest) {
  if (auto floating = dyn_cast<FloatType>(type))
    return arith::ConstantOp::create(
        builder, loc,
        builder.getFloatAttr(type, APFloat::getInf(floating.getFloatSemantics(),
                                                   /*Negative=*/!greatest)));
  unsigned width = type.getIntOrFloatBitWidth();
  return arith::ConstantOp::create(
      builder, loc,
      builder.getIntegerAttr(type, greatest ? APInt::getSignedMaxValue(width)
                                            : APInt::getSignedMinValue(width)));
}

Value hfta::createLowest(OpBuilder &builder, Location loc, Type type) {
  return createExtreme(builder, loc, type, /*greatest=*/false);
}

Value hfta::createHighest(OpBuilder &builder, Location loc, Type type) {
  return createExtreme(builder, loc, type, /*greatest=*/true);
}

Value hfta::resize(OpBuilder &builder, Location loc, Value scalar, Type type) {
  Type from = scalar.getType();
  if (from == type)
    return scalar;
  bool wider = type.getIntOrFloatBitWidth() > from.getIntOrFloatBitWidth();
  if (isa<FloatType>(from)) {
    if (wider)
      return arith::ExtFOp::create(builder, loc, type, scalar);
    return arith::TruncFOp::create(builder, loc, type, scalar);
  }
  if (wider)
    return arith::ExtSIOp::create(builder, loc, type, scalar);
  return arith::TruncIOp::create(builder, loc, type, scalar);
}

template <typename FloatOp, typename IntegerOp>
static Value createEither(OpBuilder &builder, Location loc, Value lhs,
                          Value rhs) {
  if (isa<FloatType>(lhs.getType()))
    return FloatOp::create(builder, loc, lhs, rhs);
  return IntegerOp::create(builder, loc, lhs, rhs);
}

Value hfta::combine(OpBuilder &builder, Location loc, ReduceKind kind,
                    Value running, Value next) {
  switch (kind) {
  case ReduceKind::sum:
    return createEither<arith::AddFOp, arith::AddIOp>(builder, loc, running,
                                                      next);
  case ReduceKind::product:
    return createEither<arith::MulFOp, arith::MulIOp>(builder, loc, running,
                                                      next);
  case ReduceKind::max:
    return createEither<arith::MaximumFOp, arith::MaxSIOp>(builder, loc,
                                                           running, next);
  case ReduceKind::min:
    return createEither<arith::MinimumFOp, arith::MinSIOp>(builder, loc,
                                                           running, next);
  }
  llvm_unreachable("unknown reduction");
}

SmallVector<Value> hfta::multiplyAdd(OpBuilder &builder, Location loc,
                                     ValueRange arguments) {
  Value sum = arguments[2];
  if (isa<IntegerType>(arguments[0].getType()))
    return {
        MultiplyPairsOp::create(builder, loc, arguments[0], arguments[1], sum)};
  Value lhs = resize(builder, loc, arguments[0], sum.getType());
  Value rhs = resize(builder, loc, arguments[1], sum.getType());
  return {math::FmaOp::create(builder, loc, lhs, rhs, sum)};
}

SmallVector<Value> hfta::copyFirst(OpBuilder &, Location,
                                   ValueRange arguments) {
  return {arguments.front()};
}

Value hfta::getIterationIndex(OpBuilder &builder, Location loc, Axis axis) {
  return linalg::IndexOp::create(builder, loc,
                                 cast<AffineDimExpr>(axis).getPosition());
}

Value hfta::createLinearIndex(OpBuilder &builder, Location loc,
                              ArrayRef<std::pair<Axis, int64_t>> terms,
                              int64_t constant) {
  Value sum;
  auto add = [&](Value value) {
    sum = sum ? Value(arith::AddIOp::create(builder, loc, sum, value)) : value;
  };
  for (auto [axis, factor] : terms) {
    Value index = getIterationIndex(builder, loc, axis);
    if (factor != 1)
      index = arith::MulIOp::create(builder, loc, index,
                                    createIndex(builder, loc, factor));
    add(index);
  }
  if (constant != 0 || !sum)
    add(createIndex(builder, loc, constant));
  return sum;
}

Value hfta::createFlatIndex(OpBuilder &builder, Location loc,
                            ValueRange indices, ArrayRef<int64_t> shape) {
  if (indices.empty())
    return createIndex(builder, loc, 0);
  Value flat = indices.front();
  for (auto [index, size] :
       llvm::zip(indices.drop_front(), shape.drop_front())) {
    flat = arith::MulIOp::create(builder, loc, flat,
                                 createIndex(builder, loc, size));
    flat = arith::AddIOp::create(builder, loc, flat, index);
  }
  return flat;
}

Value hfta::createIsInside(OpBuilder &builder, Location loc, Value index,
                           int64_t size) {
  // A negative index, taken as unsigned, is larger than any size.
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, index,
                               createIndex(builder, loc, size));
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

Value hfta::createFilled(OpBuilder &builder, Location loc,
                         ArrayRef<int64_t> shape, Value scalar) {
  Value empty = tensor::EmptyOp::create(builder, loc, shape, scalar.getType());
  return linalg::FillOp::create(builder, loc, scalar, empty).getResult(0);
}

Value hfta::resizeElements(OpBuilder &builder, Location loc, Value tensor,
                           Type elementType) {
  if (getElementType(tensor) == elementType)
    return tensor;
  LoopNest nest(builder, loc);
  Axes axes = nest.addParallel(getShape(tensor));
  nest.read(tensor, axes);
  nest.write(elementType, axes);
  return nest
      .build([&](OpBuilder &b, Location loc, ValueRange arguments) {
        return SmallVector<Value>{
            resize(b, loc, arguments.front(), elementType)};
      })
      .front();
}

/// Returns the finest shape that both shapes can be collapsed to.
static SmallVector<int64_t> getCommonCollapse(ArrayRef<int64_t> from,
                                              ArrayRef<int64_t> to) {
  SmallVector<int64_t> common;
  size_t i = 0, j = 0;
  while (i < from.size() && j < to.size()) {
    int64_t left = from[i++], right = to[j++];
    while (left != right) {
      if (left < right)
        left *= from[i++];
      else
        right *= to[j++];
    }
    common.push_back(left);
  }
  return common;
}

/// Collapses `tensor` to `shape`, or expands it to `shape` if `expand`.
static Value regroup(OpBuilder &builder, Location loc, Value tensor,
                     ArrayRef<int64_t> shape, bool expand) {
  RankedTensorType from = getTensorType(tensor);
  auto to = RankedTensorType::get(shape, from.getElementType());
  if (from == to)
    return tensor;
  std::optional<SmallVector<ReassociationIndices>> groups;
  if (shape.empty() || from.getRank() == 0)
    groups.emplace();
  else
    groups = getReassociationIndicesForReshape(from, to);
  if (expand)
    return tensor::ExpandShapeOp::create(builder, loc, to, tensor, *groups);
  return tensor::CollapseShapeOp::create(builder, loc, to, tensor, *groups);
}

Value hfta::createReshape(OpBuilder &builder, Location loc, Value tensor,
                          ArrayRef<int64_t> shape) {
  SmallVector<int64_t> from(getShape(tensor));
  if (llvm::is_contained(from, 0)) {
    Type elementType = getElementType(tensor);
    return tensor::EmptyOp::create(builder, loc, shape, elementType);
  }
  SmallVector<int64_t> common = getCommonCollapse(from, shape);
  Value collapsed = regroup(builder, loc, tensor, common, /*expand=*/false);
  return regroup(builder, loc, collapsed, shape, /*expand=*/true);
}

/// Returns the permutation from `from` to `to`: element i is the index in
/// `from` of the axis `to[i]`.
static SmallVector<int64_t> getPermutation(ArrayRef<Axis> from,
                                           ArrayRef<Axis> to) {
  assert(from.size() == to.size());
  return llvm::map_to_vector(to, [&](Axis axis) -> int64_t {
    return llvm::find(from, axis) - from.begin();
  });
}

static bool isIdentity(ArrayRef<int64_t> permutation) {
  return llvm::equal(permutation, llvm::seq<int64_t>(0, permutation.size()));
}

Value hfta::pack(OpBuilder &builder, Location loc, Value tensor,
                 ArrayRef<Axis> from, ArrayRef<Axis> to) {
  return pack(builder, loc, tensor, getPermutation(from, to));
}

Value hfta::pack(OpBuilder &builder, Location loc, Value tensor,
                 ArrayRef<int64_t> permutation) {
  if (isIdentity(permutation))
    return tensor;
  Value empty = tensor::EmptyOp::create(builder, loc,
                                        permute(getShape(tensor), permutation),
                                        getElementType(tensor));
  return linalg::TransposeOp::create(builder, loc, tensor, empty, permutation)
      ->getResult(0);
}

std::optional<Transposition> hfta::getTransposition(Value tensor) {
  auto op = tensor.getDefiningOp<linalg::GenericOp>();
  if (!op || op.getNumDpsInputs() != 1 || op.getNumDpsInits() != 1)
    return std::nullopt;
  auto yield = cast<linalg::YieldOp>(op.getBody()->getTerminator());
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  if (yield.getOperand(0) != op.getBody()->getArgument(0) ||
      !maps[0].isPermutation() || !maps[1].isIdentity())
    return std::nullopt;
  SmallVector<int64_t> permutation(maps[0].getNumResults());
  for (auto [source, axis] : llvm::enumerate(maps[0].getResults()))
    permutation[cast<AffineDimExpr>(axis).getPosition()] = source;
  return Transposition{op.getDpsInputOperand(0)->get(), permutation};
}

Value hfta::transpose(OpBuilder &builder, Location loc, Value tensor,
                      ArrayRef<int64_t> permutation) {
  if (isIdentity(permutation))
    return tensor;
  if (std::optional<Transposition> inner = getTransposition(tensor))
    return transpose(builder, loc, inner->source,
                     permute(inner->permutation, permutation));
  LoopNest nest(builder, loc);
  Axes axes = nest.addParallel(permute(getShape(tensor), permutation));
  Axes position(axes.size());
  for (auto [axis, source] : llvm::zip(axes, permutation))
    position[source] = axis;
  nest.read(tensor, position);
  nest.write(getElementType(tensor), axes);
  return nest.build(copyFirst).front();
}

Value hfta::unpack(OpBuilder &builder, Location loc, Value tensor,
                   ArrayRef<Axis> from, ArrayRef<Axis> to) {
  return transpose(builder, loc, tensor, getPermutation(from, to));
}

static SmallVector<OpFoldResult> getIndexAttributes(OpBuilder &builder,
                                                    ArrayRef<int64_t> values) {
  return getAsIndexOpFoldResult(builder.getContext(), values);
}

Value hfta::createSlice(OpBuilder &builder, Location loc, Value tensor,
                        ArrayRef<int64_t> offsets, ArrayRef<int64_t> sizes) {
  if (getShape(tensor) == sizes)
    return tensor;
  SmallVector<int64_t> strides(offsets.size(), 1);
  return tensor::ExtractSliceOp::create(
      builder, loc, tensor, getIndexAttributes(builder, offsets),
      getIndexAttributes(builder, sizes), getIndexAttributes(builder, strides));
}

Value hfta::createPad(OpBuilder &builder, Location loc, Value tensor,
                      ArrayRef<int64_t> low, ArrayRef<int64_t> high,
                      Value scalar) {
  SmallVector<int64_t> offsets, kept, lowPad, highPad, result;
  for (auto [size, before, after] : llvm::zip(getShape(tensor), low, high)) {
    // If a negative amount cuts off more than the whole axis, nothing but
    // padding remains.
    int64_t begin = std::clamp<int64_t>(-before, 0, size);
    int64_t end = std::clamp<int64_t>(size + after, begin, size);
    offsets.push_back(begin);
    kept.push_back(end - begin);
    result.push_back(size + before + after);
    lowPad.push_back(std::clamp<int64_t>(before, 0, result.back()));
    highPad.push_back(result.back() - lowPad.back() - kept.back());
  }
  if (llvm::is_contained(kept, 0))
    return createFilled(builder, loc, result, scalar);
  Value inner = createSlice(builder, loc, tensor, offsets, kept);
  if (getShape(inner) == ArrayRef<int64_t>(result))
    return inner;
  auto type = RankedTensorType::get(result, getElementType(tensor));
  return tensor::PadOp::create(builder, loc, type, inner,
                               getIndexAttributes(builder, lowPad),
                               getIndexAttributes(builder, highPad), scalar);
}

Value hfta::padFrom(OpBuilder &builder, Location loc, Value tensor,
                    size_t first, ArrayRef<int64_t> low, ArrayRef<int64_t> high,
                    Value scalar) {
  size_t rank = getTensorType(tensor).getRank();
  SmallVector<int64_t> allLow(rank, 0), allHigh(rank, 0);
  llvm::copy(low, allLow.begin() + first);
  llvm::copy(high, allHigh.begin() + first);
  return createPad(builder, loc, tensor, allLow, allHigh, scalar);
}

Value hfta::createInsert(OpBuilder &builder, Location loc, Value tensor,
                         Value destination, ArrayRef<int64_t> offsets,
                         ArrayRef<int64_t> strides) {
  // An offset at the end of an axis is out of bounds even if the inserted
  // tensor is empty.
  if (llvm::is_contained(getShape(tensor), 0))
    return destination;
  return tensor::InsertSliceOp::create(
      builder, loc, tensor, destination, getIndexAttributes(builder, offsets),
      getIndexAttributes(builder, getShape(tensor)),
      getIndexAttributes(builder, strides));
}

Value hfta::createExtract(OpBuilder &builder, Location loc, Value tensor,
                          ValueRange indices) {
  return tensor::ExtractOp::create(builder, loc, tensor, indices);
}
