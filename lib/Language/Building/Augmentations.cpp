//===- Augmentations.cpp - Changes of training samples at random ----------===//
//
// Numbers that are drawn for a sample depend on nothing but the job's seed, the
// call, the epoch, and the sample's index in the data set.
//===----------------------------------------------------------------------===//

#include "Building/Rectangles.h"

#include <cmath>

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::language;

static constexpr int64_t kMostPixels = 1 << 20;

std::string language::needImages(const std::vector<int64_t> &shape) {
  return shape.size() >= 2
             ? ""
             : "samples need two axes, the last of which are height and width";
}

std::string language::keepImages(const FieldCall &,
                                 std::vector<int64_t> &shape) {
  return needImages(shape);
}

//===----------------------------------------------------------------------===//
// Crop
//===----------------------------------------------------------------------===//

/// Returns the height and width of a crop of samples.
static std::pair<int64_t, int64_t> getCropSize(const FieldCall &call,
                                               ArrayRef<int64_t> shape) {
  ArrayRef<double> size = call.getNumbers("size");
  if (size.empty())
    return {shape[shape.size() - 2], shape[shape.size() - 1]};
  return {static_cast<int64_t>(size[0]), static_cast<int64_t>(size[1])};
}

static std::string reshapeCrop(const FieldCall &call,
                               std::vector<int64_t> &shape) {
  if (std::string wrong = needImages(shape); !wrong.empty())
    return wrong;
  auto padding = static_cast<int64_t>(call.getNumber("padding"));
  auto [height, width] = getCropSize(call, shape);
  int64_t &oldHeight = shape[shape.size() - 2], &oldWidth = shape.back();
  if (height > oldHeight + 2 * padding || width > oldWidth + 2 * padding)
    return "a crop of [" + std::to_string(height) + ", " +
           std::to_string(width) +
           "] is larger than padded samples: take a "
           "smaller 'size' or more 'padding'";
  oldHeight = height;
  oldWidth = width;
  return "";
}

/// Builds the rows or columns of a crop for each sample, which begin at random
/// from -padding on.
static Value drawPlaces(SampleBuilder &samples, const FieldCall &call,
                        StringRef what, Value x, int64_t axis, int64_t size) {
  TensorBuilder &tensors = samples.getTensors();
  auto padding = static_cast<int64_t>(call.getNumber("padding"));
  int64_t count = getShape(x).front(), from = getShape(x)[axis];
  Value first = samples.scaleToIndex(samples.draw(call, what, count),
                                     from + 2 * padding - size + 1,
                                     samples.getIndexType(x));
  first = tensors.binary<SubOp>(first, static_cast<double>(padding));
  Value steps = tensors.create<IotaOp>(ArrayRef<int64_t>{count, size}, 1,
                                       samples.getIndexType(x));
  return tensors.binary<AddOp>(samples.spread(first, steps), steps);
}

static Value buildCrop(SampleBuilder &samples, const FieldCall &call,
                       Value value) {
  auto [height, width] = getCropSize(call, getShape(value).drop_front());
  int64_t rank = static_cast<int64_t>(getShape(value).size());
  return samples.takePlaces(
      value, drawPlaces(samples, call, "top", value, rank - 2, height),
      drawPlaces(samples, call, "left", value, rank - 1, width));
}

/// Builds the middle of samples, which zeros surround where the crop is larger.
static Value buildMiddle(SampleBuilder &samples, const FieldCall &call,
                         Value value) {
  TensorBuilder &tensors = samples.getTensors();
  auto [height, width] = getCropSize(call, getShape(value).drop_front());
  SmallVector<int64_t> sizes(getShape(value));
  size_t rank = sizes.size();
  SmallVector<int64_t> zeros(rank, 0), ones(rank, 1);
  SmallVector<int64_t> offsets(zeros), low(zeros), high(zeros);
  for (auto [axis, size] :
       {std::pair(rank - 2, height), std::pair(rank - 1, width)}) {
    int64_t surplus = sizes[axis] - size;
    if (surplus >= 0) {
      offsets[axis] = surplus / 2;
      sizes[axis] = size;
    } else {
      low[axis] = -surplus / 2;
      high[axis] = -surplus - low[axis];
    }
  }
  if (sizes != getShape(value))
    value = tensors.create<SliceOp>(value, offsets, sizes, ones);
  if (low != zeros || high != zeros)
    value = tensors.create<PadOp>(
        value, low, high, zeros,
        tensors.getBuilder().getZeroAttr(getElementType(value)));
  return value;
}

//===----------------------------------------------------------------------===//
// Flip
//===----------------------------------------------------------------------===//

/// Returns the axis of a batch along which samples of `rank` axes are flipped;
/// nothing if there is no such axis.
static std::optional<int64_t> getFlipAxis(const FieldCall &call, int64_t rank) {
  auto axis = static_cast<int64_t>(call.getNumber("axis"));
  if (axis < -rank || axis >= rank)
    return std::nullopt;
  return 1 + (axis < 0 ? axis + rank : axis);
}

static std::string reshapeFlip(const FieldCall &call,
                               std::vector<int64_t> &shape) {
  if (getFlipAxis(call, static_cast<int64_t>(shape.size())))
    return "";
  return "'axis' counts the axes of a sample from 0, or from the end with "
         "negative numbers";
}

static Value buildFlip(SampleBuilder &samples, const FieldCall &call,
                       Value value) {
  TensorBuilder &tensors = samples.getTensors();
  ArrayRef<int64_t> shape = getShape(value);
  size_t rank = shape.size();
  int64_t axis = *getFlipAxis(call, static_cast<int64_t>(rank) - 1);
  SmallVector<int64_t> offsets(rank, 0), strides(rank, 1);
  offsets[axis] = shape[axis] - 1;
  strides[axis] = -1;
  Value flipped = tensors.create<SliceOp>(value, offsets, shape, strides);
  Value isChosen = samples.drawChoice(call, shape.front());
  return tensors.select(samples.spread(isChosen, value), flipped, value);
}

//===----------------------------------------------------------------------===//
// Noise
//===----------------------------------------------------------------------===//

static std::string keepShape(const FieldCall &, std::vector<int64_t> &) {
  return "";
}

/// Adds normal numbers. Each field has noise of its own.
static Value buildNoise(SampleBuilder &samples, const FieldCall &call,
                        Value value) {
  TensorBuilder &tensors = samples.getTensors();
  ArrayRef<int64_t> shape = getShape(value);
  auto draw = [&](StringRef what) {
    return samples.draw(call, what + "/" + samples.getField(), shape.front(),
                        shape.drop_front());
  };
  Value normal = tensors.makeNormal(draw("radius"), draw("angle"));
  Value noise = tensors.binary<MulOp>(normal, std::sqrt(2.0) *
                                                  call.getNumber("deviation"));
  return tensors.binary<AddOp>(value, noise);
}

//===----------------------------------------------------------------------===//
// Erase
//===----------------------------------------------------------------------===//

/// Builds samples with a number at the elements that are in boxes.
static Value fillBoxes(SampleBuilder &samples, const FieldCall &call,
                       const Box &box, Value value) {
  TensorBuilder &tensors = samples.getTensors();
  Value isChosen =
      samples.spread(samples.drawChoice(call, getShape(value).front()), value);
  Value isErased =
      tensors.create<AndOp>(isChosen, samples.findInside(box, value));
  return tensors.select(
      isErased, tensors.splatLike(value, call.getNumber("value")), value);
}

/// Erases a rectangle of random area and proportions, which is inside of the
/// sample. After ten tries that don't fit, nothing is erased.
static Value buildErase(SampleBuilder &samples, const FieldCall &call,
                        Value value) {
  return fillBoxes(samples, call,
                   drawRectangles(samples, call, value, /*mayTouch=*/false),
                   value);
}

/// Erases a rectangle around a random place, of which a part may be outside of
/// the sample. Source: DeVries and Taylor, "Improved regularization of
/// convolutional neural networks with cutout", 2017.
static Value buildCutout(SampleBuilder &samples, const FieldCall &call,
                         Value value) {
  ArrayRef<double> size = call.getNumbers("size");
  auto repeat = [&](double number) {
    return samples.getTensors().splat({getShape(value).front()},
                                      samples.getPlaceType(), number);
  };
  return fillBoxes(
      samples, call,
      drawAround(samples, call, value, repeat(size[0]), repeat(size[1])),
      value);
}

//===----------------------------------------------------------------------===//
// Resized crop
//===----------------------------------------------------------------------===//

static std::string reshapeResizedCrop(const FieldCall &call,
                                      std::vector<int64_t> &shape) {
  if (std::string wrong = needImages(shape); !wrong.empty())
    return wrong;
  auto [height, width] = getCropSize(call, shape);
  shape[shape.size() - 2] = height;
  shape.back() = width;
  return "";
}

/// The two rows or columns next to each one of a resized crop, and how far it
/// is from the first to the second.
struct Neighbours {
  Value first, second, distance;
};

/// Finds the neighbours of `size` equally distant places between `begin` and
/// `end`, so that the outer ones are half a step inside.
static Neighbours findNeighbours(SampleBuilder &samples, Value begin, Value end,
                                 int64_t size, Type indexType) {
  TensorBuilder &tensors = samples.getTensors();
  Type type = tensors.getFloatType();
  SmallVector<int64_t> shape = {getShape(begin).front(), size};
  Value length = tensors.cast(tensors.binary<SubOp>(end, begin), type);
  Value index = tensors.create<IotaOp>(shape, 1, type);
  Value step = tensors.binary<MulOp>(length, 1.0 / static_cast<double>(size));
  Value place = tensors.binary<SubOp>(
      tensors.binary<MulOp>(tensors.binary<AddOp>(index, 0.5),
                            tensors.broadcast(step, shape, 0)),
      0.5);
  Value last = tensors.broadcast(tensors.binary<SubOp>(length, 1.0), shape, 0);
  place = tensors.binary<MinOp>(
      tensors.binary<MaxOp>(place, tensors.splatLike(place, 0)), last);
  Value floor = tensors.unary<FloorOp>(place);
  Value next = tensors.binary<MinOp>(tensors.binary<AddOp>(floor, 1.0), last);
  Value offset = tensors.broadcast(tensors.cast(begin, indexType), shape, 0);
  auto getPlace = [&](Value from) {
    return tensors.binary<AddOp>(tensors.cast(from, indexType), offset);
  };
  return {getPlace(floor), getPlace(next), tensors.binary<SubOp>(place, floor)};
}

/// Builds a rectangle of each sample, scaled to the size of the crop by
/// bilinear interpolation.
static Value buildResizedCrop(SampleBuilder &samples, const FieldCall &call,
                              Value value) {
  TensorBuilder &tensors = samples.getTensors();
  auto [height, width] = getCropSize(call, getShape(value).drop_front());
  Box box = drawRectangles(samples, call, value, /*mayTouch=*/true);
  Type type = samples.getIndexType(value);
  Neighbours rows = findNeighbours(samples, box.top, box.bottom, height, type);
  Neighbours columns =
      findNeighbours(samples, box.left, box.right, width, type);
  int64_t rank = static_cast<int64_t>(getShape(value).size());
  auto mix = [&](Value first, Value second, Value distance, int64_t axis) {
    Value share = tensors.broadcast(distance, getShape(first), {0, axis});
    return tensors.binary<AddOp>(
        first,
        tensors.binary<MulOp>(tensors.binary<SubOp>(second, first), share));
  };
  auto mixColumns = [&](Value row) {
    return mix(samples.takePlaces(value, row, columns.first),
               samples.takePlaces(value, row, columns.second), columns.distance,
               rank - 1);
  };
  return mix(mixColumns(rows.first), mixColumns(rows.second), rows.distance,
             rank - 2);
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

llvm::ArrayRef<FieldFunction> language::getAugmentations() {
  using Form = FieldParameter::Form;
  static const NumberRange pixels = NumberRange::whole(1, kMostPixels);
  static const FieldParameter probability = {"p", NumberRange::unit(), {0.5}};
  static const FieldParameter value = {
      "value",           NumberRange::any(), {0}, false, Form::number,
      /*isElement=*/true};
  static const FieldParameter size = {"size", pixels, {}, false, Form::sides};
  auto share = [](double least, double most) -> FieldParameter {
    return {"area", {0, 1, false}, {least, most}, false, Form::interval};
  };
  auto ratio = [](double least, double most) -> FieldParameter {
    return {
        "ratio", NumberRange::positive(), {least, most}, false, Form::interval};
  };
  static const FieldFunction functions[] = {
      {"crop",
       {size, {"padding", NumberRange::whole(0, kMostPixels), {0}}},
       /*isRandom=*/true,
       /*givesFloats=*/false,
       reshapeCrop,
       buildCrop,
       buildMiddle},
      {"flip",
       {probability, {"axis", NumberRange::anyWhole(), {-1}}},
       /*isRandom=*/true,
       /*givesFloats=*/false,
       reshapeFlip,
       buildFlip},
      {"noise",
       {{"deviation", NumberRange::nonNegative(), {}, /*required=*/true}},
       /*isRandom=*/true,
       /*givesFloats=*/true,
       keepShape,
       buildNoise},
      {"erase",
       {probability, share(0.02, 0.33), ratio(0.3, 3.3), value},
       /*isRandom=*/true,
       /*givesFloats=*/false,
       keepImages,
       buildErase},
      {"cutout",
       {{"size", pixels, {}, /*required=*/true, Form::sides},
        {"p", NumberRange::unit(), {1}},
        value},
       /*isRandom=*/true,
       /*givesFloats=*/false,
       keepImages,
       buildCutout},
      {"resized_crop",
       {size, share(0.08, 1), ratio(3.0 / 4, 4.0 / 3)},
       /*isRandom=*/true,
       /*givesFloats=*/true,
       reshapeResizedCrop,
       buildResizedCrop,
       buildMiddle},
  };
  return functions;
}
