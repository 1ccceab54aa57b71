//===- Activations.cpp - Activation functions and dropout -----------------===//

#include "Building/Node.h"
#include "Hfta/Dialect/Hfta/IR/HftaGradientOps.h"

#include "llvm/Support/Format.h"

namespace mlir::hfta::onnx_import {

/// Returns operand 0, or null after an error if it isn't of a float type.
static Value getFloatInput(Node &node) {
  Value input = node.getInput(0);
  return node.requireFloat(input) ? input : Value();
}

template <typename OpTy>
static void importActivation(Node &node) {
  node.setOutput(0, node.create<OpTy>(getFloatInput(node)));
}

/// Returns `negative` where x < 0, and x elsewhere.
static Value selectNegative(Node &node, Value x, Value negative) {
  Value isNegative =
      node.compare(ComparePredicate::less, x, node.splatLike(x, 0));
  return node.create<SelectOp>(isNegative, negative, x);
}

static void importLeakyRelu(Node &node) {
  Value x = getFloatInput(node);
  Value scaled = node.mul(x, node.splatLike(x, node.getFloat("alpha", 0.01)));
  node.setOutput(0, selectNegative(node, x, scaled));
}

static void importPRelu(Node &node) {
  Value x = getFloatInput(node), slope = node.getInput(1);
  if (!x || !slope)
    return;
  Value scaled = node.mul(x, node.broadcast(slope, getShape(x)));
  node.setOutput(0, selectNegative(node, x, scaled));
}

/// Returns alpha * (e^scale - 1), which the caller uses for negative x. The
/// exponent is at most 0, so that the derivative is finite also where x is
/// positive and the result isn't used.
static Value growNegative(Node &node, Value x, Value scale, double alpha) {
  Value bounded = node.min(scale, node.splatLike(x, 0));
  Value grown = node.sub(node.create<ExpOp>(bounded), node.splatLike(x, 1));
  return node.mul(grown, node.splatLike(x, alpha));
}

static void importElu(Node &node) {
  Value x = getFloatInput(node);
  Value negative = growNegative(node, x, x, node.getFloat("alpha", 1));
  node.setOutput(0, selectNegative(node, x, negative));
}

static void importCelu(Node &node) {
  Value x = getFloatInput(node);
  double alpha = node.getFloat("alpha", 1);
  Value scaled = node.div(x, node.splatLike(x, alpha));
  node.setOutput(0,
                 selectNegative(node, x, growNegative(node, x, scaled, alpha)));
}

static void importSelu(Node &node) {
  Value x = getFloatInput(node);
  double alpha = node.getFloat("alpha", 1.67326319217681884765625);
  double gamma = node.getFloat("gamma", 1.05070102214813232421875);
  Value unscaled = selectNegative(node, x, growNegative(node, x, x, alpha));
  node.setOutput(0, node.mul(unscaled, node.splatLike(x, gamma)));
}

static void importThresholdedRelu(Node &node) {
  Value x = getFloatInput(node);
  Value passes = node.compare(ComparePredicate::greater, x,
                              node.splatLike(x, node.getFloat("alpha", 1)));
  node.setOutput(0, node.create<SelectOp>(passes, x, node.splatLike(x, 0)));
}

static void importSoftsign(Node &node) {
  Value x = getFloatInput(node);
  Value bound = node.add(node.splatLike(x, 1), node.create<AbsOp>(x));
  node.setOutput(0, node.div(x, bound));
}

static void importMish(Node &node) {
  Value x = getFloatInput(node);
  Value bounded = node.create<TanhOp>(node.create<SoftplusOp>(x));
  node.setOutput(0, node.mul(x, bounded));
}

/// Computes max(0, min(1, alpha * x + beta)).
static Value hardSigmoid(Node &node, Value x, double alpha, double beta) {
  Value line =
      node.add(node.mul(x, node.splatLike(x, alpha)), node.splatLike(x, beta));
  return node.max(node.min(line, node.splatLike(x, 1)), node.splatLike(x, 0));
}

static void importHardSigmoid(Node &node) {
  Value x = getFloatInput(node);
  node.setOutput(0, hardSigmoid(node, x, node.getFloat("alpha", 0.2),
                                node.getFloat("beta", 0.5)));
}

static void importHardSwish(Node &node) {
  Value x = getFloatInput(node);
  node.setOutput(0, node.mul(x, hardSigmoid(node, x, 1.0 / 6, 0.5)));
}

static void importGelu(Node &node) {
  Value x = getFloatInput(node);
  std::string approximation = node.getString("approximate", "none");
  Value inner;
  if (approximation == "none") {
    Value scaled = node.mul(x, node.splatLike(x, 0.70710678118654752440));
    inner = node.create<ErfOp>(scaled);
  } else if (approximation == "tanh") {
    Value cube = node.mul(node.mul(x, x), x);
    Value sum = node.add(x, node.mul(cube, node.splatLike(x, 0.044715)));
    inner = node.create<TanhOp>(
        node.mul(sum, node.splatLike(x, 0.79788456080286535588)));
  } else {
    node.invalid("attribute 'approximate' must be 'none' or 'tanh'");
    return;
  }
  Value half = node.mul(x, node.splatLike(x, 0.5));
  node.setOutput(0, node.mul(half, node.add(inner, node.splatLike(x, 1))));
}

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

template <typename OpTy>
static void importSoftmax(Node &node) {
  Value input = getFloatInput(node);
  if (!input)
    return;
  int64_t rank = getType(input).getRank();
  int64_t axis = node.normalizeAxis(node.getInt("axis", -1), rank);
  node.setOutput(0, node.create<OpTy>(input, axis));
}

/// Imports Softmax or LogSoftmax before operator set 13, where all axes from
/// `axis` on are normalized together, as if they were one.
template <typename OpTy>
static void importFlatSoftmax(Node &node) {
  Value input = getFloatInput(node);
  if (!input)
    return;
  SmallVector<int64_t> shape(getShape(input));
  int64_t axis =
      node.normalizeAxis(node.getInt("axis", 1), getType(input).getRank());
  if (axis + 1 == getType(input).getRank()) {
    node.setOutput(0, node.create<OpTy>(input, axis));
    return;
  }
  SmallVector<int64_t> flat(ArrayRef<int64_t>(shape).take_front(axis));
  flat.push_back(
      ShapedType::getNumElements(ArrayRef<int64_t>(shape).drop_front(axis)));
  Value result = node.create<OpTy>(node.reshape(input, flat), axis);
  node.setOutput(0, node.reshape(result, shape));
}

//===----------------------------------------------------------------------===//
// Dropout
//===----------------------------------------------------------------------===//

/// Computes the FNV-1a hash of a name, of which 63 bits are kept. Source:
/// Fowler, Noll and Vo, IETF draft-eastlake-fnv.
static int64_t hashName(StringRef name) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (char c : name)
    hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3u;
  return static_cast<int64_t>(hash & 0x7fffffffffffffffu);
}

/// Draws uniform random numbers of the input's shape. If axis 0 holds whole
/// samples (one or several rows each), the numbers are keyed by the sample, so
/// that they don't depend on the micro-batch in which it is.
static Value drawLike(Node &node, Value input) {
  ModelBuilder &model = node.getModel();
  Location location = node.getLoc();
  SmallVector<Value> keys;
  for (Purpose purpose : {Purpose::seed, Purpose::step, Purpose::first_sample})
    keys.push_back(model.readVariable(model.getScalar(purpose), location));
  SmallVector<int64_t> shape(getShape(input));
  std::optional<int64_t> batch = model.getBatch();
  bool perSample = model.isBatched(input) && batch && !shape.empty() &&
                   shape[0] % *batch == 0;
  if (perSample && shape[0] != *batch) {
    shape[0] /= *batch;
    shape.insert(shape.begin(), *batch);
  }
  Value random = node.create<RandomUniformOp>(
      keys[0], keys[1], keys[2], ArrayRef<int64_t>(shape),
      hashName(node.getOutputName(0)), perSample, getElementType(input));
  return node.reshape(random, getShape(input));
}

static bool checkRate(Node &node, double rate) {
  if (rate >= 0 && rate < 1)
    return true;
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%g", rate);
  node.invalid("its ratio must lie in [0, 1), got " + text);
  return false;
}

/// Imports a dropout for a job. `training` is its mode in the file, if it has
/// one.
static void dropOut(Node &node, Value input, double rate,
                    std::optional<bool> training) {
  if (!input)
    return;
  if (node.isOutputUsed(1)) {
    node.unsupported("its mask is read, which a job does not support");
    return;
  }
  Value random = drawLike(node, input);
  Value result = node.create<DropoutOp>(
      input, node.splat({}, getElementType(input), rate), random,
      /*training=*/false);
  if (result && node.getModel().staysInEvaluation(node.getProto(),
                                                  ModalKind::dropout, training))
    result.getDefiningOp()->setAttr(kFrozenAttrName,
                                    node.getBuilder().getUnitAttr());
  node.setOutput(0, result);
}

/// Imports a dropout in inference mode: the result is the input, and the mask
/// keeps all elements.
static void passThrough(Node &node, Value input) {
  if (!input)
    return;
  node.setOutput(0, input);
  if (node.isOutputUsed(1))
    node.setOutput(
        1, node.splat(getShape(input), node.getBuilder().getI1Type(), 1));
}

static void importDropoutAttribute(Node &node) {
  Value input = getFloatInput(node);
  double rate = node.getFloat("ratio", 0.5);
  if (!checkRate(node, rate))
    return;
  if (node.getModel().getOptions().training)
    dropOut(node, input, rate, std::nullopt);
  else
    passThrough(node, input);
}

static void importDropout(Node &node) {
  Value input = getFloatInput(node);
  double rate = node.getNumber(1, "ratio").value_or(0.5);
  bool training = node.getNumber(2, "training_mode").value_or(0) != 0;
  if (!checkRate(node, rate))
    return;
  if (node.getModel().getOptions().training)
    dropOut(node, input, rate, training);
  else if (training && rate != 0)
    node.unsupported("training mode is not supported outside of a job");
  else
    passThrough(node, input);
}

//===----------------------------------------------------------------------===//
// The table of handlers
//===----------------------------------------------------------------------===//

llvm::ArrayRef<OpHandler> getActivationHandlers() {
  static const OpHandler handlers[] = {
      {"Celu", 12, importCelu},
      {"Dropout", 7, importDropoutAttribute},
      {"Dropout", 12, importDropout, 0b110, 3},
      {"Elu", 1, importElu},
      {"Gelu", 20, importGelu},
      {"HardSigmoid", 1, importHardSigmoid},
      {"HardSwish", 14, importHardSwish},
      {"LeakyRelu", 1, importLeakyRelu},
      {"LogSoftmax", 1, importFlatSoftmax<LogSoftmaxOp>},
      {"LogSoftmax", 13, importSoftmax<LogSoftmaxOp>},
      {"Mish", 18, importMish},
      {"PRelu", 7, importPRelu, 0, 2},
      {"Relu", 1, importActivation<ReluOp>},
      {"Selu", 1, importSelu},
      {"Sigmoid", 1, importActivation<SigmoidOp>},
      {"Softmax", 1, importFlatSoftmax<SoftmaxOp>},
      {"Softmax", 13, importSoftmax<SoftmaxOp>},
      {"Softplus", 1, importActivation<SoftplusOp>},
      {"Softsign", 1, importSoftsign},
      {"Tanh", 1, importActivation<TanhOp>},
      {"ThresholdedRelu", 10, importThresholdedRelu},
  };
  return handlers;
}

} // namespace mlir::hfta::onnx_import
