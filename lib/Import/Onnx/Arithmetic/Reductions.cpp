//===- Reductions.cpp - Sums, means and extrema over axes -----------------===//

#include "Building/Node.h"
#include "Hfta/Dialect/Hfta/IR/ElementCounts.h"
#include "Hfta/Dialect/Hfta/IR/Norms.h"

namespace mlir::hfta::onnx_import {

/// Returns the axes to reduce, from operand 1 (`asOperand`) or from an
/// attribute. By default, these are all axes. Returns nothing after an error.
static std::optional<SmallVector<int64_t>> readAxes(Node &node, Value input,
                                                    bool asOperand) {
  int64_t rank = getType(input).getRank();
  std::optional<SmallVector<int64_t>> axes =
      asOperand ? node.getIntegers(1, "axes") : node.getInts("axes");
  bool isNoop = node.getInt("noop_with_empty_axes", 0) != 0;
  if (node.failed())
    return std::nullopt;
  if (!axes || axes->empty())
    axes = isNoop ? SmallVector<int64_t>()
                  : llvm::to_vector(llvm::seq<int64_t>(0, rank));
  SmallVector<int64_t> normalized = node.normalizeAxes(*axes, rank);
  return node.failed() ? std::nullopt
                       : std::optional<SmallVector<int64_t>>(normalized);
}

namespace {
/// A kind of reduction: how it combines elements, and the functions that are
/// applied before and after that.
struct Reduction {
  ReduceKind kind = ReduceKind::sum;
  bool needsFloat = false;
  Value (*before)(Node &, Value) = nullptr;
  Value (*after)(Node &, Value, int64_t count) = nullptr;
};
} // namespace

static void importReduction(Node &node, const Reduction &reduction,
                            bool axesAsOperand) {
  Value input = node.getInput(0);
  bool good = reduction.needsFloat ? node.requireFloat(input)
                                   : node.requireArithmetic(input);
  std::optional<SmallVector<int64_t>> axes;
  if (good)
    axes = readAxes(node, input, axesAsOperand);
  if (!axes)
    return;
  SmallVector<int64_t> shape(getShape(input));
  int64_t count = countAlong(shape, *axes);
  for (int64_t axis : *axes)
    shape[axis] = 1;
  if (node.getModel().isBatched(input) && llvm::is_contained(*axes, 0))
    node.getModel().followBatch();
  Value value = reduction.before ? reduction.before(node, input) : input;
  value = node.reduce(reduction.kind, value, *axes);
  if (reduction.after && value)
    value = reduction.after(node, value, count);
  if (node.getInt("keepdims", 1) != 0)
    value = node.reshape(value, shape);
  node.setOutput(0, value);
}

static Value divideByCount(Node &node, Value value, int64_t count) {
  return node.div(value, node.splatLike(value, count));
}
static Value takeSquare(Node &node, Value value) {
  return node.mul(value, value);
}
static Value takeMagnitude(Node &node, Value value) {
  return node.create<AbsOp>(value);
}
static Value takeNorm(Node &node, Value value, int64_t) {
  return markNorm(node.create<SqrtOp>(value));
}
static Value takeLogarithm(Node &node, Value value, int64_t) {
  return node.create<LogOp>(value);
}

template <bool axesAsOperand>
static void importSum(Node &node) {
  importReduction(node, {}, axesAsOperand);
}
template <bool axesAsOperand>
static void importMean(Node &node) {
  importReduction(node, {ReduceKind::sum, false, nullptr, divideByCount},
                  axesAsOperand);
}
template <bool axesAsOperand>
static void importMax(Node &node) {
  importReduction(node, {ReduceKind::max}, axesAsOperand);
}
template <bool axesAsOperand>
static void importMin(Node &node) {
  importReduction(node, {ReduceKind::min}, axesAsOperand);
}
template <bool axesAsOperand>
static void importProduct(Node &node) {
  importReduction(node, {ReduceKind::product}, axesAsOperand);
}
template <bool axesAsOperand>
static void importL1(Node &node) {
  importReduction(node, {ReduceKind::sum, false, takeMagnitude}, axesAsOperand);
}
template <bool axesAsOperand>
static void importL2(Node &node) {
  importReduction(node, {ReduceKind::sum, true, takeSquare, takeNorm},
                  axesAsOperand);
}
template <bool axesAsOperand>
static void importSumSquare(Node &node) {
  importReduction(node, {ReduceKind::sum, false, takeSquare}, axesAsOperand);
}
template <bool axesAsOperand>
static void importLogSum(Node &node) {
  importReduction(node, {ReduceKind::sum, true, nullptr, takeLogarithm},
                  axesAsOperand);
}

/// Imports log(sum(e^x)), computed as max + log(sum(e^(x - max))), which
/// doesn't overflow.
template <bool axesAsOperand>
static void importLogSumExp(Node &node) {
  Value input = node.getInput(0);
  if (!node.requireFloat(input))
    return;
  std::optional<SmallVector<int64_t>> axes =
      readAxes(node, input, axesAsOperand);
  if (!axes)
    return;
  SmallVector<int64_t> shape(getShape(input)), kept = shape;
  for (int64_t axis : *axes)
    kept[axis] = 1;
  Value largest =
      node.reshape(node.reduce(ReduceKind::max, input, *axes), kept);
  Value shifted = node.sub(input, node.broadcast(largest, shape));
  Value sum = node.reduce(ReduceKind::sum, node.create<ExpOp>(shifted), *axes);
  Value result = node.add(node.create<LogOp>(node.reshape(sum, kept)), largest);
  if (node.getInt("keepdims", 1) == 0) {
    SmallVector<int64_t> dropped;
    for (auto [axis, size] : llvm::enumerate(shape))
      if (!llvm::is_contained(*axes, static_cast<int64_t>(axis)))
        dropped.push_back(size);
    result = node.reshape(result, dropped);
  }
  node.setOutput(0, result);
}

//===----------------------------------------------------------------------===//
// The table of handlers
//===----------------------------------------------------------------------===//

llvm::ArrayRef<OpHandler> getReductionHandlers() {
  static const OpHandler handlers[] = {
      {"ReduceL1", 1, importL1<false>},
      {"ReduceL1", 18, importL1<true>, 0b10, 2},
      {"ReduceL2", 1, importL2<false>},
      {"ReduceL2", 18, importL2<true>, 0b10, 2},
      {"ReduceLogSum", 1, importLogSum<false>},
      {"ReduceLogSum", 18, importLogSum<true>, 0b10, 2},
      {"ReduceLogSumExp", 1, importLogSumExp<false>},
      {"ReduceLogSumExp", 18, importLogSumExp<true>, 0b10, 2},
      {"ReduceMax", 1, importMax<false>},
      {"ReduceMax", 18, importMax<true>, 0b10, 2},
      {"ReduceMean", 1, importMean<false>},
      {"ReduceMean", 18, importMean<true>, 0b10, 2},
      {"ReduceMin", 1, importMin<false>},
      {"ReduceMin", 18, importMin<true>, 0b10, 2},
      {"ReduceProd", 1, importProduct<false>},
      {"ReduceProd", 18, importProduct<true>, 0b10, 2},
      {"ReduceSum", 1, importSum<false>},
      {"ReduceSum", 13, importSum<true>, 0b10, 2},
      {"ReduceSumSquare", 1, importSumSquare<false>},
      {"ReduceSumSquare", 18, importSumSquare<true>, 0b10, 2},
  };
  return handlers;
}

} // namespace mlir::hfta::onnx_import
