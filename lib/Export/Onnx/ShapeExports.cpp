//===- ShapeExports.cpp - Ops that move elements in ONNX ------------------===//

#include "Handlers.h"
#include "Hfta/Dialect/Hfta/IR/Norms.h"

namespace mlir::hfta::onnx_export {

static void writeReshape(GraphWriter &writer, Operation *op) {
  Tensor input = writer.getFull(op->getOperand(0));
  Value result = op->getResult(0);
  writer.set(result,
             writer.reshape(input, getShape(result), op->getLoc(), result));
}

static void writeTranspose(GraphWriter &writer, Operation *op) {
  Tensor input = writer.getFull(op->getOperand(0));
  ArrayRef<int64_t> permutation = cast<TransposeOp>(op).getPermutation();
  SmallVector<Scale> scales;
  for (int64_t axis : permutation)
    scales.push_back(input.scales[axis]);
  ::onnx::NodeProto *node =
      writer.define("Transpose", {input.name}, op->getResult(0),
                    getShape(op->getResult(0)), scales);
  setInts(node, "perm", permutation);
}

/// Writes a broadcast as a mere alignment of axes: elementwise users broadcast
/// implicitly, and other users request the full shape (`getFull`).
static void writeBroadcast(GraphWriter &writer, Operation *op) {
  auto broadcast = cast<BroadcastOp>(op);
  Tensor input = writer.getFull(broadcast.getInput());
  ArrayRef<int64_t> shape = broadcast.getShape();
  SmallVector<int64_t> aligned(shape.size(), 1);
  SmallVector<Scale> scales(shape.size());
  for (auto [axis, dimension] : llvm::enumerate(broadcast.getDimensions())) {
    aligned[dimension] = input.shape[axis];
    scales[dimension] = input.scales[axis];
    if (input.scales[axis] && input.shape[axis] != shape[dimension])
      writer.requireFixedBatch();
  }
  // When ONNX broadcasts, leading axes of size 1 are implicit.
  size_t leading = 0;
  while (leading < aligned.size() && aligned[leading] == 1 &&
         !scales[leading] && aligned.size() - leading > input.shape.size())
    ++leading;
  ArrayRef<int64_t> wanted = ArrayRef<int64_t>(aligned).drop_front(leading);
  Tensor result = input;
  if (wanted != ArrayRef<int64_t>(input.shape)) {
    result = writer.reshape(input, wanted, op->getLoc());
    result.scales =
        SmallVector<Scale>(ArrayRef<Scale>(scales).drop_front(leading));
  }
  writer.set(op->getResult(0), result);
}

static void writeSlice(GraphWriter &writer, Operation *op) {
  auto slice = cast<SliceOp>(op);
  Tensor input = writer.getFull(slice.getInput());
  SmallVector<int64_t> starts, ends, axes, steps;
  for (size_t axis = 0; axis < input.shape.size(); ++axis) {
    int64_t offset = slice.getOffsets()[axis], size = slice.getSizes()[axis];
    int64_t step = slice.getStrides()[axis];
    if (offset == 0 && step == 1 && size == input.shape[axis])
      continue;
    if (input.scales[axis])
      writer.requireFixedBatch();
    int64_t last = offset + (size - 1) * step;
    starts.push_back(size == 0 ? 0 : offset);
    // A negative end counts from the axis' end: the position before the first
    // element needs a number below that range.
    int64_t end = step > 0 ? last + 1 : last - 1;
    ends.push_back(size == 0 ? 0 : end < 0 ? -(input.shape[axis] + 1) : end);
    axes.push_back(axis);
    steps.push_back(size == 0 ? 1 : step);
  }
  SmallVector<std::string> names = {input.name};
  for (const SmallVector<int64_t> &list : {starts, ends, axes, steps})
    names.push_back(writer.addIntegers(list, op->getLoc()));
  writer.define("Slice", names, op->getResult(0), getShape(op->getResult(0)),
                input.scales);
}

static LogicalResult checkPad(Operation *op, std::string &reason) {
  if (llvm::all_of(cast<PadOp>(op).getInterior(),
                   [](int64_t gap) { return gap == 0; }))
    return success();
  reason = "ONNX does not pad between elements";
  return failure();
}

static void writePad(GraphWriter &writer, Operation *op) {
  auto pad = cast<PadOp>(op);
  Tensor input = writer.getFull(pad.getInput());
  SmallVector<int64_t> pads(pad.getLow());
  llvm::append_range(pads, pad.getHigh());
  for (size_t axis = 0; axis < input.shape.size(); ++axis)
    if (input.scales[axis] &&
        (pad.getLow()[axis] != 0 || pad.getHigh()[axis] != 0))
      writer.requireFixedBatch();
  Attribute value = pad.getValueAttr();
  double number = 0;
  if (auto real = dyn_cast<FloatAttr>(value))
    number = real.getValueAsDouble();
  else if (auto integer = dyn_cast<IntegerAttr>(value))
    number = static_cast<double>(integer.getInt());
  Type type = cast<RankedTensorType>(pad.getInput().getType()).getElementType();
  writer.define("Pad",
                {input.name, writer.addIntegers(pads, op->getLoc()),
                 writer.addScalar(type, number, op->getLoc())},
                op->getResult(0), getShape(op->getResult(0)), input.scales);
}

static void writeConcat(GraphWriter &writer, Operation *op) {
  auto concat = cast<ConcatOp>(op);
  int64_t axis = concat.getAxis();
  SmallVector<std::string> names;
  SmallVector<Scale> scales;
  for (Value value : concat.getInputs()) {
    Tensor input = writer.getFull(value);
    names.push_back(input.name);
    bool agree = scales.empty() || scales == input.scales;
    if (!agree || input.scales[axis])
      writer.requireFixedBatch();
    scales = input.scales;
  }
  ::onnx::NodeProto *node = writer.define("Concat", names, op->getResult(0),
                                          getShape(op->getResult(0)), scales);
  setInt(node, "axis", axis);
}

/// Adds a node that defines `result` by reducing `operand` over the axes of
/// `reduce`. `operand` has the shape of the input of `reduce`.
static void defineReduction(GraphWriter &writer, StringRef type,
                            ReduceOp reduce, Value operand, Value result) {
  Tensor input = writer.getFull(operand);
  SmallVector<Scale> scales;
  for (size_t axis = 0; axis < input.shape.size(); ++axis) {
    if (!llvm::is_contained(reduce.getAxes(), static_cast<int64_t>(axis)))
      scales.push_back(input.scales[axis]);
    else if (input.scales[axis])
      writer.requireFixedBatch();
  }
  // In opset 17, only ReduceSum has its axes as an operand.
  bool hasOperand = type == "ReduceSum";
  SmallVector<std::string> names = {input.name};
  if (hasOperand)
    names.push_back(writer.addIntegers(reduce.getAxes(), reduce.getLoc()));
  ::onnx::NodeProto *node =
      writer.define(type, names, result, getShape(result), scales);
  if (!hasOperand)
    setInts(node, "axes", reduce.getAxes());
  setInt(node, "keepdims", 0);
}

static void writeReduce(GraphWriter &writer, Operation *op) {
  auto reduce = cast<ReduceOp>(op);
  StringRef type = reduce.getKind() == ReduceKind::sum   ? "ReduceSum"
                   : reduce.getKind() == ReduceKind::max ? "ReduceMax"
                   : reduce.getKind() == ReduceKind::min ? "ReduceMin"
                                                         : "ReduceProd";
  defineReduction(writer, type, reduce, reduce.getInput(), reduce.getResult());
}

/// Writes a norm that isn't the root of a sum of squares. Both the root's
/// operand and its result are replaced where the operand is zero, so that no
/// gradient flows through the root there.
static void writeOtherNorm(GraphWriter &writer, SqrtOp root) {
  const Tensor input = writer.get(root.getInput());
  Location loc = root.getLoc();
  Type type = getElementTypeOrSelf(root.getInput().getType());
  std::string zero = writer.addScalar(type, 0, loc);
  std::string isZero = writer.add("Equal", {input.name, zero}, loc);
  std::string positive = writer.add(
      "Where", {isZero, writer.addScalar(type, 1, loc), input.name}, loc);
  writer.define("Where", {isZero, zero, writer.add("Sqrt", {positive}, loc)},
                root.getResult(), input.shape, input.scales);
}

/// Writes a square root. The root of a sum of squares that is marked as a norm
/// becomes a ReduceL2, so that a later import recognizes the norm.
static void writeRoot(GraphWriter &writer, Operation *op) {
  auto root = cast<SqrtOp>(op);
  auto sum = root.getInput().getDefiningOp<ReduceOp>();
  auto square = sum && sum.getKind() == ReduceKind::sum
                    ? sum.getInput().getDefiningOp<MulOp>()
                    : MulOp();
  if (op->hasAttr(kNormAttrName) && square &&
      square.getLhs() == square.getRhs())
    return defineReduction(writer, "ReduceL2", sum, square.getLhs(),
                           root.getResult());
  if (op->hasAttr(kNormAttrName))
    return writeOtherNorm(writer, root);
  const Tensor input = writer.get(root.getInput());
  writer.define("Sqrt", {input.name}, root.getResult(), input.shape,
                input.scales);
}

static void writeGather(GraphWriter &writer, Operation *op) {
  auto gather = cast<GatherOp>(op);
  Tensor input = writer.getFull(gather.getInput());
  Tensor indices = writer.getFull(gather.getIndices());
  int64_t axis = gather.getAxis();
  if (input.scales[axis] ||
      (input.getBatchAxis() >= 0 && indices.getBatchAxis() >= 0))
    writer.requireFixedBatch();
  SmallVector<Scale> scales(input.scales.begin(), input.scales.begin() + axis);
  llvm::append_range(scales, indices.scales);
  scales.append(input.scales.begin() + axis + 1, input.scales.end());
  ::onnx::NodeProto *node =
      writer.define("Gather", {input.name, indices.name}, op->getResult(0),
                    getShape(op->getResult(0)), scales);
  setInt(node, "axis", axis);
}

/// Returns the permutation that moves `count` axes, beginning with `from`, to
/// the front. With `back`, returns its inverse.
static SmallVector<int64_t> moveToFront(int64_t rank, int64_t from,
                                        int64_t count, bool back) {
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  if (back)
    std::rotate(order.begin(), order.begin() + count,
                order.begin() + count + from);
  else
    std::rotate(order.begin(), order.begin() + from,
                order.begin() + from + count);
  return order;
}

template <typename Entry>
static SmallVector<Entry> permute(ArrayRef<Entry> entries,
                                  ArrayRef<int64_t> order) {
  return llvm::map_to_vector(order,
                             [&](int64_t index) { return entries[index]; });
}

/// Writes an op as a ScatterND with this reduction into `input`, or into zeros
/// if `input` is null. ScatterND scatters along the first axis, so another
/// `axis` is moved to the front and the result's back.
static void writeScatter(GraphWriter &writer, Operation *op,
                         const Tensor &updates, const Tensor &indices,
                         int64_t axis, Value input, StringRef reduction) {
  Location loc = op->getLoc();
  Value result = op->getResult(0);
  int64_t depth = indices.shape.size(), size = getShape(result)[axis];
  // If the scattered axis' size is a multiple of the batch size, its positions
  // may be numbered across all samples, so that the indices are only correct
  // for one batch size.
  bool mayCountSamples =
      indices.getBatchAxis() >= 0 && size % writer.getBatch() == 0;
  if (mayCountSamples || ArrayRef<Scale>(updates.scales).slice(axis, depth) !=
                             ArrayRef<Scale>(indices.scales))
    writer.requireFixedBatch();
  SmallVector<int64_t> order =
      moveToFront(updates.shape.size(), axis, depth, /*back=*/false);
  auto transpose = [&](const std::string &name, ArrayRef<int64_t> order) {
    ::onnx::NodeProto *node = nullptr;
    std::string moved = writer.add("Transpose", {name}, loc, &node);
    setInts(node, "perm", order);
    return moved;
  };
  SmallVector<int64_t> shape = permute<int64_t>(updates.shape, order);
  SmallVector<Scale> scales = permute<Scale>(updates.scales, order);
  shape.erase(shape.begin(), shape.begin() + depth);
  scales.erase(scales.begin(), scales.begin() + depth);
  shape.insert(shape.begin(), size);
  scales.insert(scales.begin(), Scale());
  auto makeInput = [&] {
    if (!input) {
      std::string zero =
          writer.addScalar(getElementTypeOrSelf(result.getType()), 0, loc);
      return writer.add("Expand", {zero, writer.addShape(shape, scales, loc)},
                        loc);
    }
    Tensor full = writer.getFull(input);
    SmallVector<int64_t> front =
        moveToFront(shape.size(), axis, 1, /*back=*/false);
    if (permute<Scale>(full.scales, front) != scales)
      writer.requireFixedBatch();
    return axis == 0 ? full.name : transpose(full.name, front);
  };
  SmallVector<std::string> operands = {
      makeInput(),
      writer.add("Unsqueeze", {indices.name, writer.addIntegers({-1}, loc)},
                 loc),
      axis == 0 ? updates.name : transpose(updates.name, order)};
  ::onnx::NodeProto *node = nullptr;
  if (axis == 0) {
    node = writer.define("ScatterND", operands, result, shape, scales);
    setString(node, "reduction", reduction);
    return;
  }
  std::string sums = writer.add("ScatterND", operands, loc, &node);
  setString(node, "reduction", reduction);
  SmallVector<int64_t> back = moveToFront(shape.size(), axis, 1, /*back=*/true);
  node = writer.define("Transpose", {sums}, result, getShape(result),
                       permute<Scale>(scales, back));
  setInts(node, "perm", back);
}

static void writeScatterAdd(GraphWriter &writer, Operation *op) {
  auto scatter = cast<ScatterAddOp>(op);
  writeScatter(writer, op, writer.getFull(scatter.getUpdates()),
               writer.getFull(scatter.getIndices()), scatter.getAxis(),
               /*input=*/Value(), "add");
}

static LogicalResult checkScatterReduce(Operation *op, std::string &reason) {
  if (cast<ScatterReduceOp>(op).getKind() == ReduceKind::product)
    return success();
  reason = "its operator set has no scattered extrema";
  return failure();
}

static void writeScatterReduce(GraphWriter &writer, Operation *op) {
  auto scatter = cast<ScatterReduceOp>(op);
  writeScatter(writer, op, writer.getFull(scatter.getUpdates()),
               writer.getFull(scatter.getIndices()), scatter.getAxis(),
               scatter.getInput(), "mul");
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

/// Returns whether all rows along axis 0 are equal.
static bool hasEqualRows(DenseElementsAttr elements) {
  auto type = cast<RankedTensorType>(elements.getType());
  int64_t rows = type.getDimSize(0);
  int64_t length = rows == 0 ? 0 : type.getNumElements() / rows;
  auto check = [&](auto values) {
    for (int64_t index = length; index < type.getNumElements(); ++index)
      if (values[index] != values[index % length])
        return false;
    return true;
  };
  if (isa<FloatType>(type.getElementType())) {
    auto values = elements.getValues<APFloat>();
    SmallVector<APInt> bits;
    for (const APFloat &value : values)
      bits.push_back(value.bitcastToAPInt());
    return check(ArrayRef<APInt>(bits));
  }
  return check(elements.getValues<APInt>());
}

static void writeConstant(GraphWriter &writer, Operation *op) {
  ElementsAttr elements = cast<ConstantOp>(op).getValue();
  SmallVector<int64_t> shape(getShape(op->getResult(0)));
  auto dense = dyn_cast<DenseElementsAttr>(elements);
  bool isSplat = dense && dense.isSplat() && dense.getNumElements() > 0;
  // Equal rows for all samples are written as one row that broadcasts.
  bool isRepeated = dense && !isSplat && !shape.empty() && shape[0] > 1 &&
                    shape[0] == writer.getBatch() && hasEqualRows(dense);
  if (isSplat) {
    auto scalar = RankedTensorType::get({}, dense.getElementType());
    elements = DenseElementsAttr::get(scalar, dense.getSplatValue<Attribute>());
    shape.clear();
  } else if (isRepeated) {
    shape[0] = 1;
  }
  Tensor tensor;
  tensor.name = writer.addConstant(elements, shape, op->getLoc());
  tensor.shape = shape;
  tensor.scales.assign(shape.size(), Scale());
  writer.set(op->getResult(0), tensor);
}

/// Adds a tensor with the numbers 0, 1, 2, … in row-major order, in `iota`'s
/// element type. Returns its name. A small tensor is a constant; a large one is
/// computed at run time, which keeps the file small.
static std::string addCount(GraphWriter &writer, IotaOp iota,
                            ArrayRef<int64_t> shape) {
  constexpr int64_t kMostInline = 4096;
  Location loc = iota.getLoc();
  Type type = iota.getElementType();
  Builder builder(iota.getContext());
  int64_t size = ShapedType::getNumElements(shape);
  if (size <= kMostInline) {
    SmallVector<Attribute> values;
    for (int64_t index = 0; index < size; ++index)
      values.push_back(isa<FloatType>(type)
                           ? Attribute(builder.getFloatAttr(
                                 type, static_cast<double>(index)))
                           : Attribute(builder.getIntegerAttr(type, index)));
    auto constant = RankedTensorType::get(shape, type);
    return writer.addConstant(DenseElementsAttr::get(constant, values), loc);
  }
  SmallVector<std::string> bounds;
  for (int64_t bound : {int64_t(0), size, int64_t(1)})
    bounds.push_back(writer.addScalar(builder.getI64Type(), bound, loc));
  ::onnx::NodeProto *node = nullptr;
  std::string name =
      writer.add("Cast", {writer.add("Range", bounds, loc)}, loc, &node);
  setInt(node, "to", getElementTypeNumber(type));
  return writer.add("Reshape", {name, writer.addIntegers(shape, loc)}, loc);
}

static void writeIota(GraphWriter &writer, Operation *op) {
  auto iota = cast<IotaOp>(op);
  ArrayRef<int64_t> shape = iota.getShape();
  int64_t axis = iota.getAxis(), size = shape[axis];
  if (axis == 0 && size == writer.getBatch())
    writer.requireFixedBatch();
  Tensor tensor;
  tensor.shape.assign(shape.size() - axis, 1);
  tensor.shape[0] = size;
  tensor.scales.assign(tensor.shape.size(), Scale());
  tensor.name = addCount(writer, iota, tensor.shape);
  writer.set(op->getResult(0), tensor);
}

//===----------------------------------------------------------------------===//
// The table of handlers
//===----------------------------------------------------------------------===//

llvm::ArrayRef<ExportHandler> getShapeExports() {
  static const ExportHandler handlers[] = {
      {"hfta.broadcast", nullptr, writeBroadcast},
      {"hfta.concat", nullptr, writeConcat},
      {"hfta.constant", nullptr, writeConstant},
      {"hfta.gather", nullptr, writeGather},
      {"hfta.iota", nullptr, writeIota},
      {"hfta.pad", checkPad, writePad},
      {"hfta.reduce", nullptr, writeReduce},
      {"hfta.reshape", nullptr, writeReshape},
      {"hfta.scatter_add", nullptr, writeScatterAdd},
      {"hfta.scatter_reduce", checkScatterReduce, writeScatterReduce},
      {"hfta.slice", nullptr, writeSlice},
      {"hfta.sqrt", nullptr, writeRoot},
      {"hfta.transpose", nullptr, writeTranspose},
  };
  return handlers;
}

} // namespace mlir::hfta::onnx_export
