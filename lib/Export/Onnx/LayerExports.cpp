//===- LayerExports.cpp - Layers in ONNX ----------------------------------===//

#include "Handlers.h"

namespace mlir::hfta::onnx_export {

//===----------------------------------------------------------------------===//
// Biases
//===----------------------------------------------------------------------===//

/// If the only use of `result` adds a variable to it along `axis`, returns that
/// op and sets `bias` to the variable's value; otherwise returns null. Gemm and
/// Conv have an operand for such a bias.
static AddOp findBias(Value result, int64_t axis, Value &bias) {
  if (!result.hasOneUse())
    return AddOp();
  auto add = dyn_cast<AddOp>(*result.user_begin());
  if (!add)
    return AddOp();
  Value other = add.getLhs() == result ? add.getRhs() : add.getLhs();
  auto broadcast = other.getDefiningOp<BroadcastOp>();
  if (!broadcast || broadcast.getDimensions() != ArrayRef<int64_t>(axis) ||
      !broadcast.getInput().getDefiningOp<ReadOp>() ||
      getShape(broadcast.getInput())[0] != getShape(result)[axis])
    return AddOp();
  bias = broadcast.getInput();
  return add;
}

/// Adds a node that defines `result`. If a bias is added to the result, the
/// node gets the bias as its last operand and defines the sum.
static ::onnx::NodeProto *defineWithBias(GraphWriter &writer, StringRef type,
                                         SmallVector<std::string> inputs,
                                         Value result, ArrayRef<Scale> scales) {
  Value bias;
  if (AddOp add = findBias(result, 1, bias)) {
    VariableOp variable = SymbolTable::lookupNearestSymbolFrom<VariableOp>(
        add, bias.getDefiningOp<ReadOp>().getVariableAttr());
    inputs.push_back(variable.getOwnName());
    writer.markDone(add);
    result = add.getResult();
  }
  return writer.define(type, inputs, result, getShape(result), scales);
}

//===----------------------------------------------------------------------===//
// Contractions
//===----------------------------------------------------------------------===//

namespace {
/// The iteration axes to which the axes of the operands and the result belong.
struct ContractionAxes {
  SmallVector<unsigned> lhs, rhs, result;
};
} // namespace

static ContractionAxes readAxes(ContractOp op) {
  ContractionAxes axes;
  SmallVectorImpl<unsigned> *lists[] = {&axes.lhs, &axes.rhs, &axes.result};
  for (auto [map, list] :
       llvm::zip(op.getIndexingMaps().getAsValueRange<AffineMapAttr>(), lists))
    for (AffineExpr expression : map.getResults())
      list->push_back(cast<AffineDimExpr>(expression).getPosition());
  return axes;
}

static LogicalResult checkContract(Operation *op, std::string &reason) {
  constexpr unsigned kMostLetters = 26;
  auto maps = cast<ContractOp>(op).getIndexingMaps();
  if (cast<AffineMapAttr>(maps[0]).getValue().getNumDims() <= kMostLetters)
    return success();
  reason = "it has more axes than Einsum has letters";
  return failure();
}

/// Returns the scales of a contraction's result. A sum over the batch fixes the
/// batch size.
static SmallVector<Scale> contractScales(GraphWriter &writer,
                                         const ContractionAxes &axes,
                                         const Tensor &lhs, const Tensor &rhs) {
  llvm::SmallDenseMap<unsigned, Scale> scaleOf;
  for (auto [list, tensor] :
       {std::make_pair(&axes.lhs, &lhs), std::make_pair(&axes.rhs, &rhs)})
    for (auto [axis, scale] : llvm::zip(*list, tensor->scales)) {
      auto [entry, isNew] = scaleOf.try_emplace(axis, scale);
      if (!isNew && entry->second != scale)
        writer.requireFixedBatch();
      if (scale && !llvm::is_contained(axes.result, axis))
        writer.requireFixedBatch();
    }
  SmallVector<Scale> scales;
  for (unsigned axis : axes.result)
    scales.push_back(scaleOf.lookup(axis));
  return scales;
}

/// Returns Gemm's attributes transA and transB if the contraction is the
/// product of two matrices.
static std::optional<std::pair<bool, bool>>
matchGemm(const ContractionAxes &axes) {
  if (axes.lhs.size() != 2 || axes.rhs.size() != 2 || axes.result.size() != 2)
    return std::nullopt;
  unsigned row = axes.result[0], column = axes.result[1];
  bool transA = axes.lhs[1] == row, transB = axes.rhs[0] == column;
  unsigned summed = transA ? axes.lhs[0] : axes.lhs[1];
  bool fits = (transA ? axes.lhs[1] : axes.lhs[0]) == row &&
              (transB ? axes.rhs[0] : axes.rhs[1]) == column &&
              (transB ? axes.rhs[1] : axes.rhs[0]) == summed && summed != row &&
              summed != column;
  if (!fits)
    return std::nullopt;
  return std::make_pair(transA, transB);
}

/// Returns whether the contraction is a product of lhs [batch…, m, k] and rhs
/// [k, n] or [batch…, k, n].
static bool isMatMul(const ContractionAxes &axes) {
  size_t rank = axes.result.size();
  if (rank < 2 || axes.lhs.size() != rank ||
      (axes.rhs.size() != 2 && axes.rhs.size() != rank))
    return false;
  ArrayRef<unsigned> lhs = axes.lhs, rhs = axes.rhs, result = axes.result;
  unsigned summed = lhs.back();
  return lhs.drop_back() == result.drop_back() &&
         !llvm::is_contained(result, summed) && rhs.back() == result.back() &&
         rhs[rhs.size() - 2] == summed &&
         (rhs.size() == 2 || rhs.drop_back(2) == result.drop_back(2));
}

static std::string formatEinsum(const ContractionAxes &axes) {
  std::string equation;
  auto append = [&](ArrayRef<unsigned> list) {
    for (unsigned axis : list)
      equation += static_cast<char>('a' + axis);
  };
  append(axes.lhs);
  equation += ",";
  append(axes.rhs);
  equation += "->";
  append(axes.result);
  return equation;
}

static void writeContract(GraphWriter &writer, Operation *op) {
  auto contract = cast<ContractOp>(op);
  ContractionAxes axes = readAxes(contract);
  Tensor lhs = writer.getFull(contract.getLhs());
  Tensor rhs = writer.getFull(contract.getRhs());
  SmallVector<Scale> scales = contractScales(writer, axes, lhs, rhs);
  SmallVector<std::string> inputs = {lhs.name, rhs.name};
  Value result = op->getResult(0);
  if (std::optional<std::pair<bool, bool>> transposed = matchGemm(axes)) {
    ::onnx::NodeProto *node =
        defineWithBias(writer, "Gemm", inputs, result, scales);
    setInt(node, "transA", transposed->first);
    setInt(node, "transB", transposed->second);
    return;
  }
  if (isMatMul(axes)) {
    writer.define("MatMul", inputs, result, getShape(result), scales);
    return;
  }
  ::onnx::NodeProto *node =
      writer.define("Einsum", inputs, result, getShape(result), scales);
  setString(node, "equation", formatEinsum(axes));
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

/// Returns how the sizes of the result's axes depend on the batch size, for an
/// op that keeps axis 0 and changes all others. If the batch is on another
/// axis, the graph gets a fixed batch size.
static SmallVector<Scale> keepBatch(GraphWriter &writer, const Tensor &input) {
  if (input.getBatchAxis() > 0)
    writer.requireFixedBatch();
  return input.scales;
}

static void writeConv(GraphWriter &writer, Operation *op) {
  auto conv = cast<ConvOp>(op);
  Tensor input = writer.getFull(conv.getInput());
  Tensor weight = writer.getFull(conv.getWeight());
  if (weight.getBatchAxis() >= 0)
    writer.requireFixedBatch();
  ::onnx::NodeProto *node =
      defineWithBias(writer, "Conv", {input.name, weight.name},
                     op->getResult(0), keepBatch(writer, input));
  setInts(node, "kernel_shape", ArrayRef<int64_t>(weight.shape).drop_front(2));
  setInts(node, "strides", conv.getStrides());
  setInts(node, "dilations", conv.getDilations());
  setInts(node, "pads", conv.getPadding());
  setInt(node, "group", conv.getGroups());
}

static void writeConvTranspose(GraphWriter &writer, Operation *op) {
  auto conv = cast<ConvInputGradientOp>(op);
  Tensor input = writer.getFull(conv.getGradient());
  Tensor weight = writer.getFull(conv.getWeight());
  if (weight.getBatchAxis() >= 0)
    writer.requireFixedBatch();
  ::onnx::NodeProto *node =
      defineWithBias(writer, "ConvTranspose", {input.name, weight.name},
                     op->getResult(0), keepBatch(writer, input));
  ArrayRef<int64_t> kernel = ArrayRef<int64_t>(weight.shape).drop_front(2);
  SmallVector<int64_t> extra;
  for (size_t axis = 0; axis < kernel.size(); ++axis) {
    int64_t size = (input.shape[axis + 2] - 1) * conv.getStrides()[axis] +
                   (kernel[axis] - 1) * conv.getDilations()[axis] + 1 -
                   conv.getPadding()[axis] -
                   conv.getPadding()[kernel.size() + axis];
    extra.push_back(conv.getInputShape()[axis + 2] - size);
  }
  setInts(node, "kernel_shape", kernel);
  setInts(node, "strides", conv.getStrides());
  setInts(node, "dilations", conv.getDilations());
  setInts(node, "pads", conv.getPadding());
  setInts(node, "output_padding", extra);
  setInt(node, "group", conv.getGroups());
}

//===----------------------------------------------------------------------===//
// Pooling
//===----------------------------------------------------------------------===//

/// Returns the padding, whose high part is reduced to the elements that windows
/// reach: ONNX requires less padding than the kernel's size.
static SmallVector<int64_t>
trimPadding(ArrayRef<int64_t> padding, ArrayRef<int64_t> kernel,
            ArrayRef<int64_t> strides, ArrayRef<int64_t> dilations,
            ArrayRef<int64_t> input, ArrayRef<int64_t> result) {
  SmallVector<int64_t> trimmed(padding);
  size_t rank = kernel.size();
  for (size_t axis = 0; axis < rank; ++axis) {
    int64_t reached = (result[axis + 2] - 1) * strides[axis] +
                      (kernel[axis] - 1) * dilations[axis] + 1;
    int64_t needed = reached - input[axis + 2] - padding[axis];
    trimmed[rank + axis] = std::max<int64_t>(needed, 0);
  }
  return trimmed;
}

static void writeMaxPool(GraphWriter &writer, Operation *op) {
  auto pool = cast<MaxPoolOp>(op);
  Tensor input = writer.getFull(pool.getInput());
  ArrayRef<int64_t> shape = getShape(pool.getResult());
  SmallVector<Scale> scales = keepBatch(writer, input);
  ::onnx::NodeProto *node =
      writer.define("MaxPool", {input.name}, pool.getResult(), shape, scales);
  setInts(node, "kernel_shape", pool.getKernel());
  setInts(node, "strides", pool.getStrides());
  setInts(node, "dilations", pool.getDilations());
  setInts(node, "pads",
          trimPadding(pool.getPadding(), pool.getKernel(), pool.getStrides(),
                      pool.getDilations(), input.shape, shape));
  if (!writer.isLive(pool.getIndices()))
    return;
  // ONNX's indices count positions in the whole tensor, Hfta's positions in one
  // channel of one sample.
  std::string positions =
      writer.makeName(writer.get(pool.getResult()).name + "_indices");
  node->add_output(positions);
  int64_t plane =
      ShapedType::getNumElements(ArrayRef<int64_t>(input.shape).drop_front(2));
  Type wide = IntegerType::get(op->getContext(), 64);
  std::string inPlane = writer.add(
      "Mod", {positions, writer.addScalar(wide, plane, op->getLoc())},
      op->getLoc());
  ::onnx::NodeProto *cast =
      writer.define("Cast", {inPlane}, pool.getIndices(), shape, scales);
  setInt(
      cast, "to",
      getElementTypeNumber(getElementTypeOrSelf(pool.getIndices().getType())));
}

static LogicalResult checkAveragePool(Operation *op, std::string &reason) {
  if (llvm::all_of(cast<AveragePoolOp>(op).getDilations(),
                   [](int64_t dilation) { return dilation == 1; }))
    return success();
  reason = "its operator set has no dilated average";
  return failure();
}

static void writeAveragePool(GraphWriter &writer, Operation *op) {
  auto pool = cast<AveragePoolOp>(op);
  Tensor input = writer.getFull(pool.getInput());
  ::onnx::NodeProto *node =
      writer.define("AveragePool", {input.name}, op->getResult(0),
                    getShape(op->getResult(0)), keepBatch(writer, input));
  SmallVector<int64_t> padding(pool.getPadding());
  size_t rank = pool.getKernel().size();
  bool roundsUp = false;
  for (size_t axis = 0; axis < rank; ++axis) {
    padding[rank + axis] -= pool.getCeilPadding()[axis];
    roundsUp |= pool.getCeilPadding()[axis] != 0;
  }
  setInts(node, "kernel_shape", pool.getKernel());
  setInts(node, "strides", pool.getStrides());
  setInts(node, "pads", padding);
  setInt(node, "ceil_mode", roundsUp);
  setInt(node, "count_include_pad", pool.getIncludePadding());
}

//===----------------------------------------------------------------------===//
// Normalization, softmax, dropout
//===----------------------------------------------------------------------===//

static void writeBatchNorm(GraphWriter &writer, Operation *op) {
  auto norm = cast<BatchNormOp>(op);
  // In inference, running statistics don't change.
  writer.set(norm.getNewMean(), writer.get(norm.getRunningMean()));
  writer.set(norm.getNewVariance(), writer.get(norm.getRunningVariance()));
  if (!writer.isLive(norm.getResult()))
    return;
  SmallVector<std::string> inputs;
  for (Value operand : op->getOperands())
    inputs.push_back(writer.getFull(operand).name);
  Tensor input = writer.getFull(norm.getInput());
  ::onnx::NodeProto *node =
      writer.define("BatchNormalization", inputs, norm.getResult(),
                    getShape(norm.getResult()), keepBatch(writer, input));
  setFloat(node, "epsilon", norm.getEpsilon().convertToDouble());
}

static LogicalResult checkBatchNorm(Operation *op, std::string &reason) {
  auto norm = cast<BatchNormOp>(op);
  if (norm.getSavedMean().use_empty() &&
      norm.getSavedInverseDeviation().use_empty())
    return success();
  reason = "the batch's statistics are used";
  return failure();
}

static void writeSoftmax(GraphWriter &writer, Operation *op) {
  bool isLog = isa<LogSoftmaxOp>(op);
  int64_t axis =
      isLog ? cast<LogSoftmaxOp>(op).getAxis() : cast<SoftmaxOp>(op).getAxis();
  Tensor input = writer.getFull(op->getOperand(0));
  if (input.scales[axis])
    writer.requireFixedBatch();
  ::onnx::NodeProto *node =
      writer.define(isLog ? "LogSoftmax" : "Softmax", {input.name},
                    op->getResult(0), input.shape, input.scales);
  setInt(node, "axis", axis);
}

static void writeDropout(GraphWriter &writer, Operation *op) {
  writer.set(op->getResult(0), writer.get(cast<DropoutOp>(op).getInput()));
}

static SmallVector<Value> getDropoutInput(Operation *op) {
  return {cast<DropoutOp>(op).getInput()};
}

//===----------------------------------------------------------------------===//
// The table of handlers
//===----------------------------------------------------------------------===//

llvm::ArrayRef<ExportHandler> getLayerExports() {
  static const ExportHandler handlers[] = {
      {"hfta.average_pool", checkAveragePool, writeAveragePool},
      {"hfta.batch_norm", checkBatchNorm, writeBatchNorm},
      {"hfta.contract", checkContract, writeContract},
      {"hfta.conv", nullptr, writeConv},
      {"hfta.conv_input_gradient", nullptr, writeConvTranspose},
      {"hfta.dropout", nullptr, writeDropout, getDropoutInput},
      {"hfta.log_softmax", nullptr, writeSoftmax},
      {"hfta.max_pool", nullptr, writeMaxPool},
      {"hfta.softmax", nullptr, writeSoftmax},
  };
  return handlers;
}

} // namespace mlir::hfta::onnx_export
