//===- CumSum.cpp - Prefix sums along an axis -----------------------------===//

#include "Movement/Movement.h"

namespace mlir::hfta::onnx_import {

/// Moves elements by `distance` along `axis`, to higher indices or, with
/// `reverse`, to lower ones. Zeros fill the gap, and elements that leave the
/// axis are lost.
static Value shift(Node &node, Value input, int64_t axis, int64_t distance,
                   bool reverse) {
  if (!input)
    return Value();
  int64_t size = getShape(input)[axis], rank = getType(input).getRank();
  Value kept =
      sliceAxis(node, input, axis, reverse ? distance : 0, size - distance);
  SmallVector<int64_t> low(rank, 0), high(rank, 0), interior(rank, 0);
  (reverse ? high : low)[axis] = distance;
  return node.create<PadOp>(
      kept, ArrayRef<int64_t>(low), ArrayRef<int64_t>(high),
      ArrayRef<int64_t>(interior),
      cast<TypedAttr>(node.getBuilder().getZeroAttr(getElementType(input))));
}

/// Imports a prefix sum. Unless there is an op for it, it is computed in steps,
/// each of which doubles the number of elements in a sum (Hillis and Steele,
/// "Data parallel algorithms", CACM 1986).
static void importCumSum(Node &node) {
  Value sum = node.getInput(0);
  std::optional<double> given = node.getNumber(1, "axis");
  if (!node.requireArithmetic(sum) || !given)
    return;
  int64_t axis = node.normalizeAxis(toInteger(*given), getType(sum).getRank());
  bool reverse = node.getInt("reverse", 0) != 0;
  bool exclusive = node.getInt("exclusive", 0) != 0;
  if (node.failed())
    return;
  // CumulativeSumOp is only for floats, and isn't evaluated at compile time. So
  // integers, and constants, on which shapes may depend, are summed in steps.
  if (isa<FloatType>(getElementType(sum)) && !getConstantValue(sum)) {
    node.setOutput(0,
                   node.create<CumulativeSumOp>(sum, axis, reverse, exclusive,
                                                /*falling=*/false));
    return;
  }
  int64_t size = getShape(sum)[axis];
  if (exclusive && size > 0)
    sum = shift(node, sum, axis, 1, reverse);
  for (int64_t count = 1; count < size; count *= 2)
    sum = node.add(sum, shift(node, sum, axis, count, reverse));
  node.setOutput(0, sum);
}

llvm::ArrayRef<OpHandler> getCumSumHandlers() {
  static const OpHandler handlers[] = {
      {"CumSum", 11, importCumSum, 0b10, 2},
  };
  return handlers;
}

} // namespace mlir::hfta::onnx_import
