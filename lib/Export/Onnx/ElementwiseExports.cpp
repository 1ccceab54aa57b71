//===- ElementwiseExports.cpp - Elementwise ops in ONNX -------------------===//

#include "Handlers.h"

#include "Hfta/Dialect/Hfta/IR/OnnxNames.h"

namespace mlir::hfta::onnx_export {

namespace {
/// The common shape of elementwise operands as ONNX broadcasts them.
struct Joined {
  SmallVector<int64_t> shape;
  SmallVector<Scale> scales;
};
} // namespace

/// Returns the shape to which ONNX broadcasts the operands. An axis that
/// depends on the batch size in one operand must depend on it in the same way,
/// or have size 1, in all others; else the graph gets a fixed batch size.
static Joined join(GraphWriter &writer, ValueRange operands) {
  Joined joined;
  for (Value operand : operands) {
    const Tensor &tensor = writer.get(operand);
    size_t rank = tensor.shape.size();
    if (rank > joined.shape.size()) {
      size_t missing = rank - joined.shape.size();
      joined.shape.insert(joined.shape.begin(), missing, 1);
      joined.scales.insert(joined.scales.begin(), missing, Scale());
    }
    size_t offset = joined.shape.size() - rank;
    for (size_t axis = 0; axis < rank; ++axis) {
      int64_t &size = joined.shape[offset + axis];
      Scale &scale = joined.scales[offset + axis];
      bool bothVary = (size != 1 || scale) &&
                      (tensor.shape[axis] != 1 || tensor.scales[axis]);
      if (bothVary && scale != tensor.scales[axis])
        writer.requireFixedBatch();
      size = std::max(size, tensor.shape[axis]);
      if (tensor.shape[axis] == 0)
        size = 0;
      if (!scale)
        scale = tensor.scales[axis];
    }
  }
  return joined;
}

static SmallVector<std::string> getNames(GraphWriter &writer,
                                         ValueRange operands) {
  SmallVector<std::string> names;
  for (Value operand : operands)
    names.push_back(writer.get(operand).name);
  return names;
}

/// Adds a node that has the op's operands and defines its result.
static ::onnx::NodeProto *defineAs(GraphWriter &writer, Operation *op,
                                   StringRef type) {
  Joined joined = join(writer, op->getOperands());
  return writer.define(type, getNames(writer, op->getOperands()),
                       op->getResult(0), joined.shape, joined.scales);
}

/// Returns the name of the ONNX operator that has the same operands as the op,
/// or an empty string.
static StringRef getCounterpart(Operation *op) {
  static const std::pair<StringLiteral, StringLiteral> names[] = {
      {"hfta.abs", "Abs"},           {"hfta.acos", "Acos"},
      {"hfta.add", "Add"},           {"hfta.and", "And"},
      {"hfta.asin", "Asin"},         {"hfta.atan", "Atan"},
      {"hfta.ceil", "Ceil"},         {"hfta.cos", "Cos"},
      {"hfta.div", "Div"},           {"hfta.erf", "Erf"},
      {"hfta.exp", "Exp"},           {"hfta.floor", "Floor"},
      {"hfta.log", "Log"},           {"hfta.max", "Max"},
      {"hfta.min", "Min"},           {"hfta.mul", "Mul"},
      {"hfta.neg", "Neg"},           {"hfta.or", "Or"},
      {"hfta.pow", "Pow"},           {"hfta.relu", "Relu"},
      {"hfta.select", "Where"},      {"hfta.sigmoid", "Sigmoid"},
      {"hfta.sign", "Sign"},         {"hfta.sin", "Sin"},
      {"hfta.softplus", "Softplus"}, {"hfta.sub", "Sub"},
      {"hfta.tanh", "Tanh"},         {"hfta.xor", "Xor"},
  };
  for (const auto &[name, counterpart] : names)
    if (op->getName().getStringRef() == name)
      return counterpart;
  return "";
}

static void writeCounterpart(GraphWriter &writer, Operation *op) {
  defineAs(writer, op, getCounterpart(op));
}

static void writeRemainder(GraphWriter &writer, Operation *op) {
  setInt(defineAs(writer, op, "Mod"), "fmod", 1);
}

static void writeRsqrt(GraphWriter &writer, Operation *op) {
  const Tensor input = writer.get(op->getOperand(0));
  std::string root = writer.add("Sqrt", {input.name}, op->getLoc());
  writer.define("Reciprocal", {root}, op->getResult(0), input.shape,
                input.scales);
}

static void writeLog1p(GraphWriter &writer, Operation *op) {
  const Tensor input = writer.get(op->getOperand(0));
  Type type = getElementTypeOrSelf(op->getOperand(0).getType());
  std::string one = writer.addScalar(type, 1, op->getLoc());
  std::string sum = writer.add("Add", {input.name, one}, op->getLoc());
  writer.define("Log", {sum}, op->getResult(0), input.shape, input.scales);
}

static void writeCompare(GraphWriter &writer, Operation *op) {
  Joined joined = join(writer, op->getOperands());
  SmallVector<std::string> names = getNames(writer, op->getOperands());
  StringRef type;
  switch (cast<CompareOp>(op).getPredicate()) {
  case ComparePredicate::equal:
    type = "Equal";
    break;
  case ComparePredicate::not_equal:
    names = {writer.add("Equal", names, op->getLoc())};
    type = "Not";
    break;
  case ComparePredicate::less:
    type = "Less";
    break;
  case ComparePredicate::less_equal:
    type = "LessOrEqual";
    break;
  case ComparePredicate::greater:
    type = "Greater";
    break;
  case ComparePredicate::greater_equal:
    type = "GreaterOrEqual";
    break;
  }
  writer.define(type, names, op->getResult(0), joined.shape, joined.scales);
}

static LogicalResult checkCast(Operation *op, std::string &reason) {
  if (getElementTypeNumber(cast<CastOp>(op).getElementType()) != 0)
    return success();
  reason = "ONNX has no such element type";
  return failure();
}

static void writeCast(GraphWriter &writer, Operation *op) {
  ::onnx::NodeProto *node = defineAs(writer, op, "Cast");
  setInt(node, "to", getElementTypeNumber(cast<CastOp>(op).getElementType()));
}

static void writeStopGradient(GraphWriter &writer, Operation *op) {
  defineAs(writer, op, kOnnxStopGradient)->set_domain(kOnnxDomain.str());
}

//===----------------------------------------------------------------------===//
// The table of handlers
//===----------------------------------------------------------------------===//

llvm::ArrayRef<ExportHandler> getElementwiseExports() {
  static const ExportHandler handlers[] = {
      {"hfta.abs", nullptr, writeCounterpart},
      {"hfta.acos", nullptr, writeCounterpart},
      {"hfta.add", nullptr, writeCounterpart},
      {"hfta.and", nullptr, writeCounterpart},
      {"hfta.asin", nullptr, writeCounterpart},
      {"hfta.atan", nullptr, writeCounterpart},
      {"hfta.cast", checkCast, writeCast},
      {"hfta.ceil", nullptr, writeCounterpart},
      {"hfta.compare", nullptr, writeCompare},
      {"hfta.cos", nullptr, writeCounterpart},
      {"hfta.div", nullptr, writeCounterpart},
      {"hfta.erf", nullptr, writeCounterpart},
      {"hfta.exp", nullptr, writeCounterpart},
      {"hfta.floor", nullptr, writeCounterpart},
      {"hfta.log", nullptr, writeCounterpart},
      {"hfta.log1p", nullptr, writeLog1p},
      {"hfta.max", nullptr, writeCounterpart},
      {"hfta.min", nullptr, writeCounterpart},
      {"hfta.mul", nullptr, writeCounterpart},
      {"hfta.neg", nullptr, writeCounterpart},
      {"hfta.or", nullptr, writeCounterpart},
      {"hfta.pow", nullptr, writeCounterpart},
      {"hfta.relu", nullptr, writeCounterpart},
      {"hfta.remainder", nullptr, writeRemainder},
      {"hfta.rsqrt", nullptr, writeRsqrt},
      {"hfta.select", nullptr, writeCounterpart},
      {"hfta.sigmoid", nullptr, writeCounterpart},
      {"hfta.sign", nullptr, writeCounterpart},
      {"hfta.sin", nullptr, writeCounterpart},
      {"hfta.softplus", nullptr, writeCounterpart},
      {"hfta.stop_gradient", nullptr, writeStopGradient},
      {"hfta.sub", nullptr, writeCounterpart},
      {"hfta.tanh", nullptr, writeCounterpart},
      {"hfta.xor", nullptr, writeCounterpart},
  };
  return handlers;
}

} // namespace mlir::hfta::onnx_export
