//===- Rectangles.cpp - Parts of images that are drawn --------------------===//

#include "Building/Rectangles.h"

#include <cmath>

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::language;

static constexpr int64_t kTries = 10;

namespace {
/// Draws the height and width of a rectangle for each sample, as floats.
class RectangleDrawer {
public:
  RectangleDrawer(SampleBuilder &samples, const FieldCall &call, Value value,
                  bool mayTouch)
      : samples(samples), tensors(samples.getTensors()), call(call),
        mayTouch(mayTouch) {
    ArrayRef<int64_t> shape = getShape(value);
    count = shape.front();
    height = shape[shape.size() - 2];
    width = shape.back();
  }

  Box draw();

private:
  /// The height and width of the rectangle that is taken if no try fits.
  std::pair<int64_t, int64_t> getLast() const;
  Value drawBetween(StringRef what, double least, double most);
  Value round(Value sizes) {
    return tensors.unary<FloorOp>(tensors.binary<AddOp>(sizes, 0.5));
  }
  Value isWithin(Value sizes, int64_t limit);
  Value takeFirst(Value first, Value sizes, int64_t last);
  Value drawFirst(StringRef what, Value isFound, Value size, int64_t limit);

  SampleBuilder &samples;
  TensorBuilder &tensors;
  const FieldCall &call;
  bool mayTouch;
  int64_t count, height, width;
};
} // namespace

std::pair<int64_t, int64_t> RectangleDrawer::getLast() const {
  if (!mayTouch)
    return {0, 0};
  ArrayRef<double> ratio = call.getNumbers("ratio");
  auto scale = [](int64_t size, double by) {
    return std::max<int64_t>(std::llround(static_cast<double>(size) * by), 1);
  };
  double own = static_cast<double>(width) / static_cast<double>(height);
  if (own < ratio[0])
    return {scale(width, 1 / ratio[0]), width};
  if (own > ratio[1])
    return {height, scale(height, ratio[1])};
  return {height, width};
}

/// Draws uniform numbers for all tries.
Value RectangleDrawer::drawBetween(StringRef what, double least, double most) {
  Value uniform = samples.draw(call, what, count, {kTries});
  return tensors.binary<AddOp>(tensors.binary<MulOp>(uniform, most - least),
                               least);
}

Value RectangleDrawer::isWithin(Value sizes, int64_t limit) {
  return tensors.create<AndOp>(
      tensors.compare(ComparePredicate::greater_equal, sizes, 1.0),
      tensors.compare(mayTouch ? ComparePredicate::less_equal
                               : ComparePredicate::less,
                      sizes, static_cast<double>(limit)));
}

/// Takes the size of each sample's first try that fits, or else `last`.
Value RectangleDrawer::takeFirst(Value first, Value sizes, int64_t last) {
  Value index =
      tensors.create<IotaOp>(getShape(sizes), 1, samples.getPlaceType());
  Value isFirst = tensors.compare(ComparePredicate::equal, index,
                                  tensors.repeat(first, 1, kTries));
  Value taken = tensors.reduce(
      ReduceKind::sum,
      tensors.select(isFirst, sizes, tensors.splatLike(sizes, 0)), {1});
  Value isFound = tensors.compare(ComparePredicate::less, first,
                                  static_cast<double>(kTries));
  return tensors.select(isFound, taken,
                        tensors.splatLike(taken, static_cast<double>(last)));
}

/// Draws the first row or column of a rectangle of this size, or takes the one
/// of a rectangle in the middle.
Value RectangleDrawer::drawFirst(StringRef what, Value isFound, Value size,
                                 int64_t limit) {
  Value free = tensors.binary<SubOp>(
      tensors.splatLike(size, static_cast<double>(limit)), size);
  Value drawn = tensors.unary<FloorOp>(tensors.binary<MulOp>(
      samples.draw(call, what, count), tensors.binary<AddOp>(free, 1.0)));
  Value middle = tensors.unary<FloorOp>(tensors.binary<MulOp>(free, 0.5));
  return tensors.select(isFound, drawn, middle);
}

Box RectangleDrawer::draw() {
  ArrayRef<double> shares = call.getNumbers("area"),
                   ratios = call.getNumbers("ratio");
  double all = static_cast<double>(height) * static_cast<double>(width);
  Value area = drawBetween("area", shares[0] * all, shares[1] * all);
  Value ratio = tensors.unary<ExpOp>(
      drawBetween("ratio", std::log(ratios[0]), std::log(ratios[1])));
  Value heights =
      round(tensors.unary<SqrtOp>(tensors.binary<DivOp>(area, ratio)));
  Value widths =
      round(tensors.unary<SqrtOp>(tensors.binary<MulOp>(area, ratio)));
  Value fits =
      tensors.create<AndOp>(isWithin(heights, height), isWithin(widths, width));
  Value index = tensors.create<IotaOp>(ArrayRef<int64_t>{count, kTries}, 1,
                                       samples.getPlaceType());
  Value first = tensors.reduce(
      ReduceKind::min,
      tensors.select(fits, index,
                     tensors.splatLike(index, static_cast<double>(kTries))),
      {1});
  auto [lastHeight, lastWidth] = getLast();
  Value ownHeight = takeFirst(first, heights, lastHeight);
  Value ownWidth = takeFirst(first, widths, lastWidth);
  Value isFound = tensors.compare(ComparePredicate::less, first,
                                  static_cast<double>(kTries));
  Value top = drawFirst("top", isFound, ownHeight, height);
  Value left = drawFirst("left", isFound, ownWidth, width);
  auto toPlaces = [&](Value values) {
    return tensors.cast(values, samples.getPlaceType());
  };
  return {toPlaces(top), toPlaces(left),
          toPlaces(tensors.binary<AddOp>(top, ownHeight)),
          toPlaces(tensors.binary<AddOp>(left, ownWidth))};
}

Box language::drawRectangles(SampleBuilder &samples, const FieldCall &call,
                             Value value, bool mayTouch) {
  return RectangleDrawer(samples, call, value, mayTouch).draw();
}

Box language::drawAround(SampleBuilder &samples, const FieldCall &call,
                         Value value, Value height, Value width) {
  TensorBuilder &tensors = samples.getTensors();
  ArrayRef<int64_t> shape = getShape(value);
  auto drawFirst = [&](StringRef what, int64_t limit, Value size) {
    Value middle = samples.scaleToIndex(samples.draw(call, what, shape.front()),
                                        limit, samples.getPlaceType());
    return tensors.binary<SubOp>(middle, tensors.binary<DivOp>(size, 2.0));
  };
  Value top = drawFirst("row", shape[shape.size() - 2], height);
  Value left = drawFirst("column", shape.back(), width);
  return {top, left, tensors.binary<AddOp>(top, height),
          tensors.binary<AddOp>(left, width)};
}
