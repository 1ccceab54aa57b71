//===- MomentToLinalg.cpp - Lowering of second moments --------------------===//

#include "Hfta/Conversion/HftaToLinalg.h"
#include "Hfta/Dialect/Hfta/IR/PackedTriangle.h"
#include "IndexMath.h"
#include "PatchSums.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::hfta;

template <typename OpTy, typename Adaptor>
static MomentScaling getScaling(OpTy op, Adaptor adaptor) {
  return {op.getAccumulate().value_or(getElementType(adaptor.getInput())),
          op.getScale().convertToDouble(), op.getOnes(), adaptor.getSum()};
}

/// Returns the input reshaped to [rows, blocks, rows, columns]. If the order of
/// its axes doesn't allow this, packs it as [blocks, rows, columns], with a
/// leading axis of one element.
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

/// Creates the moment of an empty input. Without `sum` all elements are zeros,
/// except the number of rows in the column of ones.
static Value createEmptyMoment(OpBuilder &builder, Location loc, int64_t blocks,
                               int64_t rows, int64_t columns, Type elementType,
                               const MomentScaling &scaling) {
  int64_t side = scaling.getBlockSide(columns);
  int64_t size = *getPackedSize(side), last = scaling.getSide(columns) - 1;
  int64_t ofEach = scaling.countBlocks(columns);
  blocks *= ofEach;
  LoopNest nest(builder, loc);
  Axes position = nest.addParallel({blocks, size});
  if (scaling.sum)
    nest.read(scaling.sum, position);
  nest.write(elementType, position);
  // Creates the condition that an element is the last one on its matrix's
  // diagonal. With a column of ones this element counts the rows.
  auto isLast = [&](OpBuilder &b, Location loc) -> Value {
    auto equals = [&](Value index, int64_t place) -> Value {
      return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, index,
                                   createIndex(b, loc, place));
    };
    Value isPlace = equals(getIterationIndex(b, loc, position[1]),
                           *getPackedSize(last % side + 1) - 1);
    if (ofEach == 1)
      return isPlace;
    Value number = IndexMath(b, loc).getRest(
        getIterationIndex(b, loc, position[0]), ofEach);
    return arith::AndIOp::create(b, loc, isPlace, equals(number, ofEach - 1));
  };
  return nest
      .build([&](OpBuilder &b, Location loc, ValueRange arguments) {
        Value zero = createZero(b, loc, scaling.accumulate), element = zero;
        if (scaling.ones)
          element =
              arith::SelectOp::create(b, loc, isLast(b, loc),
                                      createNumber(b, loc, scaling.accumulate,
                                                   static_cast<double>(rows)),
                                      zero);
        element = scaling.apply(b, loc, element,
                                scaling.sum ? arguments[0] : Value());
        return SmallVector<Value>{resize(b, loc, element, elementType)};
      })
      .front();
}

static bool isPointwise(const Window &window) {
  return llvm::all_of(window, [](const WindowAxis &axis) {
    return axis.kernel == 1 && axis.stride == 1 && axis.low == 0 &&
           axis.high == 0;
  });
}

/// Arranges an activation whose channels are the moment's columns and whose
/// groups are its blocks.
static Value arrangeChannels(OpBuilder &builder, Location loc,
                             const Activation &input, int64_t groups) {
  SmallVector<int64_t> shape(getShape(input.elements));
  auto channel = static_cast<int64_t>(input.getChannelAxis());
  int64_t channels = shape[channel] / groups;
  shape[channel] = groups;
  shape.insert(shape.begin() + channel + 1, channels);
  return arrangeInput(builder, loc,
                      createReshape(builder, loc, input.elements, shape),
                      channel, channel + 1);
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
    ArrayRef<int64_t> shape = getShape(input);
    Value result =
        llvm::is_contained(shape, 0)
            ? createEmptyMoment(rewriter, loc, shape[1], shape[0] * shape[2],
                                shape[3], getElementType(input), scaling)
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
    MomentScaling scaling = getScaling(op, adaptor);
    if (std::optional<uint64_t> columns = op.getBlockColumns())
      scaling.blockColumns = static_cast<int64_t>(*columns);
    Activation input = Activation::get(adaptor.getInput());
    int64_t groups = op.getGroups();
    Value result;
    if (llvm::is_contained(getShape(input.elements), 0))
      result = createEmpty(rewriter, op, input, window, scaling);
    else if (isPointwise(window) && !scaling.blockColumns)
      result = createTriangle(rewriter, loc,
                              arrangeChannels(rewriter, loc, input, groups),
                              scaling);
    else
      result =
          createPatchTriangle(rewriter, loc, input, window, groups, scaling);
    rewriter.replaceOp(op, result);
    return success();
  }

private:
  static Value createEmpty(OpBuilder &builder, PatchMomentOp op,
                           const Activation &input, const Window &window,
                           const MomentScaling &scaling) {
    ArrayRef<int64_t> shape = getShape(input.elements);
    int64_t columns = shape[input.getChannelAxis()] / op.getGroups();
    int64_t rows = shape.front();
    for (auto [axis, size] : llvm::zip(window, input.getSpace())) {
      columns *= axis.kernel;
      rows *=
          (size + axis.low + axis.high - axis.getExtent()) / axis.stride + 1;
    }
    return createEmptyMoment(builder, op.getLoc(), op.getGroups(), rows,
                             columns, getElementType(input.elements), scaling);
  }
};

struct UnpackSymmetricLowering : public OpConversionPattern<UnpackSymmetricOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(UnpackSymmetricOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    int64_t side = op.getResult().getType().getDimSize(1);
    rewriter.replaceOp(
        op, createUnpacked(rewriter, op.getLoc(), adaptor.getPacked(), side));
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
