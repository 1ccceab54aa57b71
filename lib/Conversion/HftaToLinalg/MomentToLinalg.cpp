//===- MomentToLinalg.cpp - Lowering of second moments --------------------===//

#include "Hfta/Conversion/HftaToLinalg.h"
#include "Hfta/Dialect/Hfta/IR/PackedTriangle.h"
#include "TriangleSums.h"
#include "Windows.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::hfta;

namespace {

/// The loops over rows and columns of an input.
struct MomentSpace {
  Value input;
  SmallVector<int64_t> blocks, rows, columns;
  /// Where the input is read.
  llvm::function_ref<Axes(ArrayRef<Axis> blocks, ArrayRef<Axis> rows,
                          ArrayRef<Axis> columns)>
      getPosition;

  int64_t getBlocks() const { return llvm::product_of(blocks); }
  int64_t getRows() const { return llvm::product_of(rows); }
  int64_t getColumns() const { return llvm::product_of(columns); }
};

} // namespace

/// The sums of products of all pairs of columns, [blocks, columns, columns].
static Value sumProducts(OpBuilder &builder, Location loc,
                         const MomentSpace &space, Type accumulate) {
  LoopNest nest(builder, loc);
  Axes blocks = nest.addParallel(space.blocks);
  Axes first = nest.addParallel(space.columns);
  Axes rows = nest.addReduction(space.rows);
  Axes second = nest.addParallel(space.columns);
  nest.read(space.input, space.getPosition(blocks, rows, first));
  nest.read(space.input, space.getPosition(blocks, rows, second));
  Axes result(blocks);
  result.append(first);
  result.append(second);
  nest.accumulate(createZero(builder, loc, accumulate), result);
  int64_t columns = space.getColumns();
  return createReshape(builder, loc, nest.build(multiplyAdd).front(),
                       {space.getBlocks(), columns, columns});
}

/// The sums of the columns, [blocks, columns].
static Value sumColumns(OpBuilder &builder, Location loc,
                        const MomentSpace &space, Type accumulate) {
  LoopNest nest(builder, loc);
  Axes blocks = nest.addParallel(space.blocks);
  Axes rows = nest.addReduction(space.rows);
  Axes columns = nest.addParallel(space.columns);
  nest.read(space.input, space.getPosition(blocks, rows, columns));
  Axes result(blocks);
  result.append(columns);
  nest.accumulate(createZero(builder, loc, accumulate), result);
  Value sums = nest.build([](OpBuilder &b, Location loc, ValueRange arguments) {
                     Value term =
                         resize(b, loc, arguments[0], arguments[1].getType());
                     return SmallVector<Value>{
                         arith::AddFOp::create(b, loc, arguments[1], term)};
                   })
                   .front();
  return createReshape(builder, loc, sums,
                       {space.getBlocks(), space.getColumns()});
}

/// Row and column of a packed element. The root is exact enough by far: where
/// it should be whole it is, and numbers of less than 2^53 are told apart.
static std::pair<Value, Value> createPlace(OpBuilder &builder, Location loc,
                                           Value packed) {
  Type f64 = builder.getF64Type(), i64 = builder.getI64Type();
  auto constant = [&](double value) {
    return createNumber(builder, loc, f64, value);
  };
  Value number = arith::SIToFPOp::create(
      builder, loc, f64, arith::IndexCastOp::create(builder, loc, i64, packed));
  Value root = math::SqrtOp::create(
      builder, loc,
      math::FmaOp::create(builder, loc, number, constant(8), constant(1)));
  Value side = arith::MulFOp::create(
      builder, loc, arith::SubFOp::create(builder, loc, root, constant(1)),
      constant(0.5));
  Value row = arith::IndexCastOp::create(
      builder, loc, builder.getIndexType(),
      arith::FPToSIOp::create(builder, loc, i64, side));
  Value next =
      arith::AddIOp::create(builder, loc, row, createIndex(builder, loc, 1));
  Value before = arith::DivUIOp::create(
      builder, loc, arith::MulIOp::create(builder, loc, row, next),
      createIndex(builder, loc, 2));
  return {row, arith::SubIOp::create(builder, loc, packed, before)};
}

/// An element of the whole moment, ones included.
static Value createElement(OpBuilder &builder, Location loc,
                           const MomentSpace &space, Type accumulate,
                           Value products, Value sums, Value block, Value row,
                           Value column) {
  if (!sums)
    return createExtract(builder, loc, products, {block, row, column});
  int64_t columns = space.getColumns();
  Value last = createIndex(builder, loc, std::max<int64_t>(columns - 1, 0));
  auto isInside = [&](Value index) {
    return createIsInside(builder, loc, index, columns);
  };
  auto clamp = [&](Value index) -> Value {
    return arith::MinUIOp::create(builder, loc, index, last);
  };
  Value count = createNumber(builder, loc, accumulate,
                             static_cast<double>(space.getRows()));
  if (columns == 0)
    return count;
  Value product =
      createExtract(builder, loc, products, {block, clamp(row), clamp(column)});
  Value sum = createExtract(builder, loc, sums, {block, clamp(column)});
  Value below =
      arith::SelectOp::create(builder, loc, isInside(column), sum, count);
  return arith::SelectOp::create(builder, loc, isInside(row), product, below);
}

static Value createMoment(OpBuilder &builder, Location loc,
                          const MomentSpace &space,
                          const MomentScaling &scaling) {
  Value products = sumProducts(builder, loc, space, scaling.accumulate), sums;
  if (scaling.ones)
    sums = sumColumns(builder, loc, space, scaling.accumulate);
  int64_t side = space.getColumns() + (scaling.ones ? 1 : 0);
  Type elementType = getElementType(space.input);
  LoopNest nest(builder, loc);
  Axes position = nest.addParallel({space.getBlocks(), *getPackedSize(side)});
  if (scaling.sum)
    nest.read(scaling.sum, position);
  nest.write(elementType, position);
  return nest
      .build([&](OpBuilder &b, Location loc, ValueRange arguments) {
        auto [row, column] =
            createPlace(b, loc, getIterationIndex(b, loc, position[1]));
        Value block = getIterationIndex(b, loc, position[0]);
        Value element = createElement(b, loc, space, scaling.accumulate,
                                      products, sums, block, row, column);
        element = scaling.apply(b, loc, element,
                                scaling.sum ? arguments[0] : Value());
        return SmallVector<Value>{resize(b, loc, element, elementType)};
      })
      .front();
}

template <typename OpTy, typename Adaptor>
static MomentScaling getScaling(OpTy op, Adaptor adaptor) {
  return {op.getAccumulate().value_or(getElementType(adaptor.getInput())),
          op.getScale().convertToDouble(), op.getOnes(), adaptor.getSum()};
}

/// The input as [rows, blocks, rows, columns]: as it is stored if its axes
/// allow for that, else packed as [blocks, rows, columns].
static Value arrangeInput(OpBuilder &builder, Location loc, Value input,
                          ArrayRef<int64_t> blocks, ArrayRef<int64_t> columns) {
  SmallVector<int64_t> blockAxes(blocks), columnAxes(columns);
  if (std::optional<Transposition> stored = getTransposition(input)) {
    input = stored->source;
    for (int64_t &axis : blockAxes)
      axis = stored->permutation[axis];
    for (int64_t &axis : columnAxes)
      axis = stored->permutation[axis];
  }
  SmallVector<int64_t> shape(getShape(input));
  int64_t rank = shape.size(), columnsBegin = rank - columnAxes.size();
  int64_t blocksBegin = blockAxes.empty() ? 0 : blockAxes.front();
  int64_t blocksEnd = blocksBegin + blockAxes.size();
  if (!llvm::equal(columnAxes, llvm::seq(columnsBegin, rank)) ||
      !llvm::equal(blockAxes, llvm::seq(blocksBegin, blocksEnd))) {
    SmallVector<int64_t> order(blockAxes);
    for (int64_t axis = 0; axis < rank; ++axis)
      if (!llvm::is_contained(blockAxes, axis) &&
          !llvm::is_contained(columnAxes, axis))
        order.push_back(axis);
    llvm::append_range(order, columnAxes);
    input = pack(builder, loc, input, order);
    shape.assign(getShape(input).begin(), getShape(input).end());
    blocksBegin = 0;
    blocksEnd = blockAxes.size();
  }
  auto count = [&](int64_t begin, int64_t end) {
    return llvm::product_of(ArrayRef(shape).slice(begin, end - begin));
  };
  return createReshape(builder, loc, input,
                       {count(0, blocksBegin), count(blocksBegin, blocksEnd),
                        count(blocksEnd, columnsBegin),
                        count(columnsBegin, rank)});
}

/// A moment of no rows, or of no columns but the ones.
static Value createEmptyMoment(OpBuilder &builder, Location loc, Value input,
                               const MomentScaling &scaling) {
  ArrayRef<int64_t> shape = getShape(input);
  Type elementType = getElementType(input);
  LoopNest nest(builder, loc);
  Axes position =
      nest.addParallel({shape[1], *getPackedSize(scaling.getSide(shape[3]))});
  if (scaling.sum)
    nest.read(scaling.sum, position);
  nest.write(elementType, position);
  return nest
      .build([&](OpBuilder &b, Location loc, ValueRange arguments) {
        Value rows = createNumber(b, loc, scaling.accumulate,
                                  static_cast<double>(shape[0] * shape[2]));
        Value element =
            scaling.apply(b, loc, rows, scaling.sum ? arguments[0] : Value());
        return SmallVector<Value>{resize(b, loc, element, elementType)};
      })
      .front();
}

namespace {

struct SecondMomentLowering : public OpConversionPattern<SecondMomentOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(SecondMomentOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    MomentScaling scaling = getScaling(op, adaptor);
    Value input = arrangeInput(rewriter, loc, adaptor.getInput(),
                               op.getBlocks(), op.getColumns());
    Value result = llvm::is_contained(getShape(input), 0)
                       ? createEmptyMoment(rewriter, loc, input, scaling)
                       : createTriangle(rewriter, loc, input, scaling);
    rewriter.replaceOp(op, result);
    return success();
  }
};

struct PatchMomentLowering : public OpConversionPattern<PatchMomentOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(PatchMomentOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Window window = getWindow(op, op.getKernel());
    Activation input = Activation::get(adaptor.getInput());
    int64_t groups = op.getGroups();
    int64_t batch = getShape(adaptor.getInput())[0];
    int64_t channels = getShape(adaptor.getInput())[1];
    SmallVector<int64_t> rows = {batch}, columns = {channels / groups};
    for (auto [axis, size] : llvm::zip(window, input.getSpace()))
      rows.push_back(
          (size + axis.low + axis.high - axis.getExtent()) / axis.stride + 1);
    llvm::append_range(columns, op.getKernel());
    Value zero = createZero(rewriter, loc, getElementType(input.elements));
    Activation padded = padSpace(rewriter, loc, input, window, zero);
    SmallVector<int64_t> shape(getShape(padded.elements));
    shape[padded.getChannelAxis()] = groups;
    shape.insert(shape.begin() + padded.getChannelAxis() + 1,
                 channels / groups);
    Value elements = createReshape(rewriter, loc, padded.elements, shape);
    auto getPosition = [&](ArrayRef<Axis> block, ArrayRef<Axis> row,
                           ArrayRef<Axis> column) {
      Axes space =
          getTapPositions(window, row.drop_front(), column.drop_front());
      Axes position = {row.front()}, ofChannel = {block[0], column[0]};
      position.append(padded.channelsLast ? space : ofChannel);
      position.append(padded.channelsLast ? ofChannel : space);
      return position;
    };
    MomentSpace space{elements, {groups}, rows, columns, getPosition};
    rewriter.replaceOp(
        op, createMoment(rewriter, loc, space, getScaling(op, adaptor)));
    return success();
  }
};

/// Each element is read where its row and column, or they exchanged, are.
struct UnpackSymmetricLowering : public OpConversionPattern<UnpackSymmetricOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(UnpackSymmetricOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Value packed = adaptor.getPacked();
    LoopNest nest(rewriter, op.getLoc());
    Axes position = nest.addParallel(op.getResult().getType().getShape());
    nest.write(getElementType(packed), position);
    rewriter.replaceOp(
        op, nest.build([&](OpBuilder &b, Location loc, ValueRange) {
          Value row = getIterationIndex(b, loc, position[1]);
          Value column = getIterationIndex(b, loc, position[2]);
          Value larger = arith::MaxUIOp::create(b, loc, row, column);
          Value smaller = arith::MinUIOp::create(b, loc, row, column);
          Value next =
              arith::AddIOp::create(b, loc, larger, createIndex(b, loc, 1));
          Value before = arith::DivUIOp::create(
              b, loc, arith::MulIOp::create(b, loc, larger, next),
              createIndex(b, loc, 2));
          Value element =
              createExtract(b, loc, packed,
                            {getIterationIndex(b, loc, position[0]),
                             arith::AddIOp::create(b, loc, before, smaller)});
          return SmallVector<Value>{element};
        }));
    return success();
  }
};

} // namespace

void hfta::populateMomentToLinalgPatterns(const TypeConverter &converter,
                                          RewritePatternSet &patterns) {
  patterns
      .add<SecondMomentLowering, PatchMomentLowering, UnpackSymmetricLowering>(
          converter, patterns.getContext());
}
