//===- TopK.cpp - The largest or smallest elements of an axis -------------===//

#include "Movement/Indexing.h"

namespace mlir::hfta::onnx_import {

namespace {
/// Selects the first elements along an axis, in the order of values (descending
/// if `largest`), and equal values in the order of indices.
class Selection {
public:
  Selection(Node &node, Value input, int64_t axis, bool largest)
      : node(node), input(input), shape(getShape(input)), axis(axis),
        largest(largest),
        places(node.create<IotaOp>(ArrayRef<int64_t>(shape), axis,
                                   Type(node.getBuilder().getI64Type()))) {}

  /// Returns the indices of the first `count` elements, as i64. The result has
  /// size `count` along the axis.
  Value find(int64_t count);

private:
  Value isBefore(Value value, Value place, Value other, Value otherPlace);
  Value findNext(Value &value, Value &place);
  Value findOneByOne(int64_t count);
  Value findByRank(int64_t count);

  Node &node;
  Value input;
  SmallVector<int64_t> shape;
  int64_t axis;
  bool largest;
  Value places; ///< each element's index
};
} // namespace

/// Returns whether one element (a value and its index) precedes another.
Value Selection::isBefore(Value value, Value place, Value other,
                          Value otherPlace) {
  ComparePredicate order =
      largest ? ComparePredicate::greater : ComparePredicate::less;
  Value equal = node.create<AndOp>(
      node.compare(ComparePredicate::equal, value, other),
      node.compare(ComparePredicate::less, place, otherPlace));
  return node.create<OrOp>(node.compare(order, value, other), equal);
}

/// Returns the index of the first element after the one with the given value
/// and index, and replaces both by those of the element found. Null values ask
/// for the first element of all.
Value Selection::findNext(Value &value, Value &place) {
  auto repeat = [&](Value one) { return repeatAlong(node, one, shape, axis); };
  ReduceKind best = largest ? ReduceKind::max : ReduceKind::min;
  Value after;
  Value candidates = input;
  if (value) {
    after = isBefore(repeat(value), repeat(place), input, places);
    // Other elements get a value that is no better than any candidate's.
    ReduceKind worst = largest ? ReduceKind::min : ReduceKind::max;
    candidates = node.create<SelectOp>(after, input,
                                       repeat(node.reduce(worst, input, axis)));
  }
  value = node.reduce(best, candidates, axis);
  Value hit = node.compare(ComparePredicate::equal, input, repeat(value));
  if (after)
    hit = node.create<AndOp>(hit, after);
  // If the value is NaN, no element equals it. Then the last index is used,
  // since every index must be valid.
  Value none = node.splatLike(places, shape[axis] - 1);
  place = node.reduce(ReduceKind::min, node.create<SelectOp>(hit, places, none),
                      axis);
  return place;
}

Value Selection::findOneByOne(int64_t count) {
  SmallVector<int64_t> one(shape);
  one[axis] = 1;
  SmallVector<Value> found;
  Value value, place;
  for (int64_t i = 0; i < count; ++i)
    found.push_back(node.reshape(findNext(value, place), one));
  return found.size() == 1 ? found.front() : node.create<ConcatOp>(found, axis);
}

/// Selects elements by their ranks. An element's rank is the number of elements
/// that precede it.
Value Selection::findByRank(int64_t count) {
  int64_t rank = shape.size();
  SmallVector<int64_t> order, back, own, others;
  for (int64_t i = 0; i < rank; ++i) {
    order.push_back(i < axis ? i : i + 1 < rank ? i + 1 : axis);
    back.push_back(i < axis ? i : i == axis ? rank - 1 : i - 1);
    own.push_back(i);
    others.push_back(i + 1 < rank ? i : rank);
  }
  Value values = node.transpose(input, order);
  Value indices = node.transpose(places, order);
  if (!values || !indices)
    return Value();
  // Shape [..., n, n] pairs each element with all elements of its axis.
  SmallVector<int64_t> pairs(getShape(values));
  pairs.push_back(pairs.back());
  auto pair = [&](Value value, ArrayRef<int64_t> axes) {
    return node.broadcastAlong(value, pairs, axes);
  };
  Value before = isBefore(pair(values, others), pair(indices, others),
                          pair(values, own), pair(indices, own));
  Value ranks = node.reduce(ReduceKind::sum,
                            node.cast(before, getElementType(places)), rank);
  // Shape [..., n, k] pairs each element with all wanted ranks.
  pairs.back() = count;
  Value wanted = node.create<IotaOp>(ArrayRef<int64_t>(pairs), rank,
                                     getElementType(places));
  Value hit = node.compare(ComparePredicate::equal, pair(ranks, own), wanted);
  Value found =
      node.create<SelectOp>(hit, pair(indices, own), node.splatLike(wanted, 0));
  return node.transpose(node.reduce(ReduceKind::max, found, rank - 1), back);
}

Value Selection::find(int64_t count) {
  // findOneByOne() makes a pass over the elements for each selected one;
  // findByRank() compares all pairs of elements, in two kernels.
  constexpr int64_t kMostPasses = 32;
  return count <= kMostPasses ? findOneByOne(count) : findByRank(count);
}

static void selectFirst(Node &node, int64_t count) {
  Value input = node.getInput(0);
  bool largest = node.getInt("largest", 1) != 0;
  if (!node.requireArithmetic(input))
    return;
  SmallVector<int64_t> shape(getShape(input));
  int64_t axis = node.normalizeAxis(node.getInt("axis", -1), shape.size());
  if (node.failed())
    return;
  if (count < 0 || count > shape[axis]) {
    node.invalid("K is " + Twine(count) + " for axis " + Twine(axis) + " of " +
                 formatShape(shape));
    return;
  }
  Value indices;
  if (count > 0) {
    indices = Selection(node, input, axis, largest).find(count);
  } else {
    shape[axis] = 0;
    indices = node.splat(shape, node.getBuilder().getI64Type(), 0);
  }
  node.setOutput(0, gatherAlong(node, input, indices, axis));
  node.setOutput(1, indices);
}

static void importTopKAttribute(Node &node) {
  selectFirst(node, node.getInt("k", 0));
}

static void importTopK(Node &node) {
  std::optional<SmallVector<int64_t>> count = node.getIntegers(1, "K");
  if (!count)
    return;
  if (count->size() != 1) {
    node.invalid("K must be one number");
    return;
  }
  selectFirst(node, count->front());
}

llvm::ArrayRef<OpHandler> getTopKHandlers() {
  static const OpHandler handlers[] = {
      {"TopK", 1, importTopKAttribute},
      {"TopK", 10, importTopK, 0b10, 2},
  };
  return handlers;
}

} // namespace mlir::hfta::onnx_import
