//===- Resize.cpp - Resampling along axes ---------------------------------===//
//
// Resizing works axis by axis: an output element is a weighted sum of input
// elements along the axis, with weights that are known at compile time. If each
// sum has one term, the sums are a gather. Otherwise they are a product with
// the matrix of weights or, for long axes, one gather per term.
//===----------------------------------------------------------------------===//

#include "Building/Node.h"
#include "Reading/Registry.h"
#include "Reading/Tensors.h"

#include <cmath>

namespace mlir::hfta::onnx_import {

/// The most elements of an axis, and of the matrix of its weights.
static constexpr double kLargestAxis = 1 << 22;
static constexpr int64_t kLargestMatrix = 1 << 20;
/// The most terms of an output element for which elements are gathered instead
/// of multiplied by a matrix. Interpolation has at most 4 terms, antialiasing
/// filters may have more.
static constexpr int64_t kMostTerms = 16;

namespace {

/// How output positions map to input positions, and which input elements, with
/// which weights, make an output element. The members are attributes of Resize.
struct Sampling {
  std::string coordinates = "half_pixel";
  std::string mode = "nearest";
  std::string rounding = "round_prefer_floor";
  double cubic = -0.75; ///< the kernel's coefficient a
  bool excludesOutside = false;
  /// Whether to filter out what a shorter axis can't represent (antialiasing):
  /// the kernel becomes wider by the factor by which the axis becomes shorter.
  bool filters = false;
  double extrapolation = 0;
};

/// An axis whose size changes.
struct ResizedAxis {
  int64_t axis, in, out;
  double scale;              ///< as given, though `out` is rounded
  double start = 0, end = 1; ///< fractions of tf_crop_and_resize
};

/// A term of an output element: input index and weight.
using Term = std::pair<int64_t, double>;

} // namespace

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

static double getInputPlace(const Sampling &sampling, const ResizedAxis &axis,
                            int64_t out) {
  StringRef mode = sampling.coordinates;
  auto in = static_cast<double>(axis.in), place = static_cast<double>(out);
  if (mode == "asymmetric")
    return place / axis.scale;
  // ONNX's own tests use the output length before it is rounded.
  if (mode == "align_corners")
    return axis.out == 1 ? 0 : place * (in - 1) / (axis.scale * in - 1);
  if (mode == "tf_half_pixel_for_nn")
    return (place + 0.5) / axis.scale;
  if (mode == "pytorch_half_pixel" && axis.out == 1)
    return 0;
  if (mode == "tf_crop_and_resize") {
    if (axis.out == 1)
      return 0.5 * (axis.start + axis.end) * (in - 1);
    return axis.start * (in - 1) + place * (axis.end - axis.start) * (in - 1) /
                                       static_cast<double>(axis.out - 1);
  }
  double offset = 0;
  if (mode == "half_pixel_symmetric")
    offset = in / 2 * (1 - static_cast<double>(axis.out) / (axis.scale * in));
  return offset + (place + 0.5) / axis.scale - 0.5;
}

static double roundPlace(StringRef rounding, double place) {
  if (rounding == "floor")
    return std::floor(place);
  if (rounding == "ceil")
    return std::ceil(place);
  return rounding == "round_prefer_ceil" ? std::floor(place + 0.5)
                                         : std::ceil(place - 0.5);
}

/// Returns the weight of an element at distance x >= 0, with the kernel's
/// coefficient a. Source: Keys, "Cubic convolution interpolation for digital
/// image processing", 1981.
static double getCubicWeight(double a, double x) {
  if (x >= 2)
    return 0;
  return x <= 1 ? ((a + 2) * x - (a + 3)) * x * x + 1
                : ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
}

/// Returns the factor by which antialiasing widens the interpolation kernel, or
/// 1 without antialiasing.
static double getWidening(const Sampling &sampling, const ResizedAxis &axis) {
  // An output axis without elements may have an arbitrarily small scale, and 1
  // / scale could overflow.
  bool isWider = sampling.filters && axis.scale < 1 && axis.out > 0;
  return isWider ? 1 / axis.scale : 1;
}

/// Returns the largest distance of an output element's position from its terms,
/// in input elements.
static int64_t getReach(const Sampling &sampling, const ResizedAxis &axis) {
  double reach = sampling.mode == "linear" ? 1 : 2;
  return static_cast<int64_t>(std::ceil(reach * getWidening(sampling, axis)));
}

/// Divides the weights by their sum.
static void normalize(MutableArrayRef<Term> terms) {
  double sum = 0;
  for (const Term &term : terms)
    sum += term.second;
  for (Term &term : terms)
    term.second /= sum;
}

static SmallVector<Term> getTerms(const Sampling &sampling,
                                  const ResizedAxis &axis, int64_t out) {
  double place = getInputPlace(sampling, axis, out);
  auto clamp = [&](double index) {
    return static_cast<int64_t>(
        std::clamp(index, 0.0, static_cast<double>(axis.in - 1)));
  };
  if (sampling.mode == "nearest")
    return {{clamp(roundPlace(sampling.rounding, place)), 1}};
  double floor = std::floor(place), fraction = place - floor;
  bool isLinear = sampling.mode == "linear";
  double widening = getWidening(sampling, axis);
  if (isLinear && widening == 1)
    return {{clamp(floor), 1 - fraction}, {clamp(floor + 1), fraction}};
  int64_t reach = getReach(sampling, axis);
  SmallVector<Term> terms;
  for (int64_t offset = 1 - reach; offset <= reach; ++offset) {
    double index = floor + static_cast<double>(offset);
    bool isOutside = index < 0 || index > static_cast<double>(axis.in - 1);
    if (isOutside && sampling.excludesOutside)
      continue;
    double distance =
        std::fabs(static_cast<double>(offset) - fraction) / widening;
    terms.emplace_back(clamp(index),
                       isLinear ? std::max(1 - distance, 0.0)
                                : getCubicWeight(sampling.cubic, distance));
  }
  if (sampling.excludesOutside || widening > 1)
    normalize(terms);
  return terms;
}

//===----------------------------------------------------------------------===//
// One axis
//===----------------------------------------------------------------------===//

static Value gatherAxis(Node &node, Value input, int64_t axis,
                        ArrayRef<int64_t> places) {
  return node.create<GatherOp>(input, node.integers(places), axis);
}

/// Makes a constant of `elementType` from numbers in f64.
static Value makeWeights(Node &node, ArrayRef<double> weights,
                         ArrayRef<int64_t> shape, Type elementType) {
  ArrayRef<char> bytes(reinterpret_cast<const char *>(weights.data()),
                       weights.size() * sizeof(double));
  FileTensor doubles{
      RankedTensorType::get(shape, node.getBuilder().getF64Type()), bytes,
      nullptr};
  return node.getModel().createConstant(
      makeDense(convertFloats(doubles, cast<FloatType>(elementType))),
      node.getLoc(), makeDense(doubles));
}

/// Multiplies the axis by a matrix that has a row of weights for each output
/// element.
static Value multiplyAxis(Node &node, Value input, const Sampling &sampling,
                          const ResizedAxis &axis) {
  std::vector<double> matrix(axis.in * axis.out, 0);
  for (int64_t out = 0; out < axis.out; ++out)
    for (auto [index, weight] : getTerms(sampling, axis, out))
      matrix[out * axis.in + index] += weight;
  Value weights =
      makeWeights(node, matrix, {axis.out, axis.in}, getElementType(input));
  OpBuilder &builder = node.getBuilder();
  int64_t rank = getType(input).getRank();
  // The iteration axes are the result's axes, followed by the summed one.
  auto inputAxes = llvm::to_vector(llvm::seq<unsigned>(0, rank));
  SmallVector<unsigned> resultAxes = inputAxes;
  inputAxes[axis.axis] = rank;
  SmallVector<unsigned> weightAxes = {static_cast<unsigned>(axis.axis),
                                      static_cast<unsigned>(rank)};
  SmallVector<AffineMap> maps;
  for (ArrayRef<unsigned> axes :
       {ArrayRef<unsigned>(inputAxes), ArrayRef<unsigned>(weightAxes),
        ArrayRef<unsigned>(resultAxes)})
    maps.push_back(AffineMap::getMultiDimMapWithTargets(rank + 1, axes,
                                                        builder.getContext()));
  return node.create<ContractOp>(
      input, weights, builder.getAffineMapArrayAttr(maps), TypeAttr());
}

/// Gathers the elements for each term of the output elements, and adds them up,
/// multiplied by their weights.
static Value gatherTerms(Node &node, Value input, const Sampling &sampling,
                         const ResizedAxis &axis) {
  // There is one list per term. Outputs with fewer terms get weights of 0.
  size_t most = 2 * getReach(sampling, axis);
  SmallVector<SmallVector<int64_t>> places(most);
  SmallVector<SmallVector<double>> weights(most);
  for (int64_t out = 0; out < axis.out; ++out) {
    SmallVector<Term> terms = getTerms(sampling, axis, out);
    terms.resize(most, Term(0, 0));
    for (auto [number, term] : llvm::enumerate(terms)) {
      places[number].push_back(term.first);
      weights[number].push_back(term.second);
    }
  }
  Value sum;
  for (size_t number = 0; number < most; ++number) {
    Value part = gatherAxis(node, input, axis.axis, places[number]);
    if (!part)
      return {};
    Value factor =
        makeWeights(node, weights[number], {axis.out}, getElementType(input));
    part = node.mul(part,
                    node.broadcastAlong(factor, getShape(part), {axis.axis}));
    sum = sum ? node.add(sum, part) : part;
  }
  return sum;
}

static Value resizeAxis(Node &node, Value input, const Sampling &sampling,
                        const ResizedAxis &axis) {
  bool isNearest = sampling.mode == "nearest";
  int64_t terms = isNearest ? 1 : 2 * getReach(sampling, axis);
  bool isMatrix = !isNearest &&
                  (axis.in * axis.out <= kLargestMatrix || terms > kMostTerms);
  if (!node.getModel().takeElements(isMatrix ? axis.in * axis.out
                                             : terms * axis.out))
    return node.unsupported("resizing " + Twine(axis.in) + " elements to " +
                            Twine(axis.out) +
                            " takes more constants than a model may have");
  if (isNearest) {
    SmallVector<int64_t> places;
    for (int64_t out = 0; out < axis.out; ++out)
      places.push_back(getTerms(sampling, axis, out).front().first);
    return gatherAxis(node, input, axis.axis, places);
  }
  if (!node.requireFloat(input))
    return {};
  return isMatrix ? multiplyAxis(node, input, sampling, axis)
                  : gatherTerms(node, input, sampling, axis);
}

/// Sets output elements whose position along the axis is outside of the input
/// to the extrapolation value.
static Value extrapolate(Node &node, Value result, const Sampling &sampling,
                         const ResizedAxis &axis) {
  SmallVector<bool> outside;
  for (int64_t out = 0; out < axis.out; ++out) {
    double place = getInputPlace(sampling, axis, out);
    outside.push_back(place < 0 || place > static_cast<double>(axis.in - 1));
  }
  if (!result || !llvm::is_contained(outside, true))
    return result;
  auto type = RankedTensorType::get({axis.out}, node.getBuilder().getI1Type());
  Value mask = node.getModel().createConstant(
      DenseElementsAttr::get(type, ArrayRef<bool>(outside)), node.getLoc());
  return node.create<SelectOp>(
      node.broadcastAlong(mask, getShape(result), {axis.axis}),
      node.splatLike(result, sampling.extrapolation), result);
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

/// Returns the numbers of a constant operand, or an empty list if the operand
/// is absent, empty, or not a constant.
static SmallVector<double> getNumbers(Node &node, unsigned index,
                                      StringRef what) {
  SmallVector<double> numbers;
  std::optional<DenseElementsAttr> constant = node.getConstant(index, what);
  if (!constant)
    return numbers;
  if (isa<FloatType>(constant->getElementType()))
    for (const APFloat &value : constant->getValues<APFloat>())
      numbers.push_back(value.convertToDouble());
  else if (isa<IntegerType>(constant->getElementType()))
    for (const APInt &value : constant->getValues<APInt>())
      numbers.push_back(static_cast<double>(value.getSExtValue()));
  return numbers;
}

static bool checkSampling(Node &node, const Sampling &sampling) {
  static constexpr StringLiteral coordinates[] = {
      "half_pixel",          "asymmetric",           "align_corners",
      "pytorch_half_pixel",  "tf_half_pixel_for_nn", "tf_crop_and_resize",
      "half_pixel_symmetric"};
  static constexpr StringLiteral modes[] = {"nearest", "linear", "cubic"};
  static constexpr StringLiteral roundings[] = {
      "round_prefer_floor", "round_prefer_ceil", "floor", "ceil"};
  auto check = [&](StringRef name, ArrayRef<StringLiteral> known,
                   StringRef value) {
    if (!llvm::is_contained(known, value))
      node.invalid("attribute '" + name + "' is '" + value + "'");
  };
  check("coordinate_transformation_mode", coordinates, sampling.coordinates);
  check("mode", modes, sampling.mode);
  check("nearest_mode", roundings, sampling.rounding);
  return !node.failed();
}

/// Changes `sizes` to a common scale if attribute keep_aspect_ratio_policy asks
/// for it.
static void keepProportions(Node &node, ArrayRef<int64_t> shape,
                            ArrayRef<int64_t> axes,
                            SmallVectorImpl<double> &sizes) {
  std::string policy = node.getString("keep_aspect_ratio_policy", "stretch");
  if (policy == "stretch")
    return;
  if (policy != "not_larger" && policy != "not_smaller") {
    node.invalid("attribute 'keep_aspect_ratio_policy' is '" + policy + "'");
    return;
  }
  bool isLarger = policy == "not_larger";
  double scale = isLarger ? INFINITY : 0;
  for (auto [axis, size] : llvm::zip(axes, sizes)) {
    double own = size / static_cast<double>(shape[axis]);
    scale = isLarger ? std::min(scale, own) : std::max(scale, own);
  }
  for (auto [axis, size] : llvm::zip(axes, sizes))
    size = std::floor(scale * static_cast<double>(shape[axis]) + 0.5);
}

/// Returns the axes whose size changes. `numbers` has a scale or, with
/// `areSizes`, a size for each of `axes`. Reports invalid numbers.
static SmallVector<ResizedAxis>
getResizedAxes(Node &node, ArrayRef<int64_t> shape, ArrayRef<int64_t> axes,
               ArrayRef<double> numbers, bool areSizes) {
  SmallVector<ResizedAxis> resized;
  if (numbers.size() != axes.size()) {
    node.invalid("expected " + Twine(axes.size()) + " scales or sizes, got " +
                 Twine(numbers.size()));
    return resized;
  }
  for (auto [axis, number] : llvm::zip(axes, numbers)) {
    auto in = static_cast<double>(shape[axis]);
    double out = areSizes ? number : std::floor(in * number);
    if (!(number > 0) || !(out >= 0) || !(out <= kLargestAxis) ||
        !(in <= kLargestAxis)) {
      node.invalid("axis " + Twine(axis) + " of " + Twine(shape[axis]) +
                   " elements can't be resized by " +
                   (areSizes ? "size " : "scale ") + std::to_string(number));
      return resized;
    }
    if (shape[axis] == 0 && out > 0) {
      node.invalid("axis " + Twine(axis) + " has no elements to resize");
      return resized;
    }
    if (number != (areSizes ? in : 1.0))
      resized.push_back({axis, shape[axis], static_cast<int64_t>(out),
                         areSizes ? out / in : number});
  }
  return resized;
}

static void resize(Node &node, const Sampling &sampling, Value input,
                   ArrayRef<ResizedAxis> axes) {
  Value result = input;
  for (const ResizedAxis &axis : axes)
    result = resizeAxis(node, result, sampling, axis);
  if (sampling.coordinates == "tf_crop_and_resize")
    for (const ResizedAxis &axis : axes)
      result = extrapolate(node, result, sampling, axis);
  node.setOutput(0, result);
}

static void importResize(Node &node) {
  Value input = node.getInput(0);
  SmallVector<double> scales = getNumbers(node, 2, "scales");
  SmallVector<double> sizes = getNumbers(node, 3, "sizes");
  if (!input || node.failed())
    return;
  Sampling sampling;
  sampling.coordinates =
      node.getString("coordinate_transformation_mode", sampling.coordinates);
  sampling.mode = node.getString("mode", sampling.mode);
  sampling.rounding = node.getString("nearest_mode", sampling.rounding);
  sampling.cubic = node.getFloat("cubic_coeff_a", sampling.cubic);
  sampling.excludesOutside = node.getInt("exclude_outside", 0) != 0;
  sampling.filters = node.getInt("antialias", 0) != 0;
  sampling.extrapolation = node.getFloat("extrapolation_value", 0);
  if (!checkSampling(node, sampling))
    return;
  if (scales.empty() == sizes.empty()) {
    node.invalid("expected either scales or sizes");
    return;
  }
  ArrayRef<int64_t> shape = getShape(input);
  int64_t rank = shape.size();
  auto axes = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  if (std::optional<SmallVector<int64_t>> given = node.getInts("axes")) {
    axes.clear();
    for (int64_t axis : *given)
      axes.push_back(node.normalizeAxis(axis, rank));
  }
  if (node.failed())
    return;
  if (sizes.size() == axes.size())
    keepProportions(node, shape, axes, sizes);
  SmallVector<ResizedAxis> resized = getResizedAxes(
      node, shape, axes, sizes.empty() ? scales : sizes, !sizes.empty());
  if (sampling.coordinates == "tf_crop_and_resize") {
    SmallVector<double> region = getNumbers(node, 1, "region");
    if (!node.failed() && region.size() != 2 * axes.size())
      node.invalid("expected " + Twine(2 * axes.size()) +
                   " numbers of a region, got " + Twine(region.size()));
    if (node.failed())
      return;
    // Axes whose size doesn't change may still be cropped.
    resized.clear();
    for (auto [place, axis] : llvm::enumerate(axes)) {
      double in = static_cast<double>(shape[axis]);
      double out =
          sizes.empty() ? std::floor(in * scales[place]) : sizes[place];
      resized.push_back({axis, shape[axis], static_cast<int64_t>(out), out / in,
                         region[place], region[axes.size() + place]});
    }
  }
  if (!node.failed())
    resize(node, sampling, input, resized);
}

/// Imports Resize of operator set 10, or Upsample, which resize by scales and
/// round positions down.
static void resizeByScales(Node &node, ArrayRef<double> scales) {
  Value input = node.getInput(0);
  if (!input || node.failed())
    return;
  Sampling sampling;
  sampling.coordinates = "asymmetric";
  sampling.rounding = "floor";
  sampling.mode = node.getString("mode", sampling.mode);
  if (!checkSampling(node, sampling))
    return;
  ArrayRef<int64_t> shape = getShape(input);
  auto axes = llvm::to_vector(llvm::seq<int64_t>(0, shape.size()));
  SmallVector<ResizedAxis> resized =
      getResizedAxes(node, shape, axes, scales, /*areSizes=*/false);
  if (!node.failed())
    resize(node, sampling, input, resized);
}

static void importResizeByScales(Node &node) {
  resizeByScales(node, getNumbers(node, 1, "scales"));
}

static void importUpsample(Node &node) {
  SmallVector<float> scales =
      node.getFloats("scales").value_or(SmallVector<float>());
  resizeByScales(node, SmallVector<double>(scales.begin(), scales.end()));
}

//===----------------------------------------------------------------------===//
// The table of handlers
//===----------------------------------------------------------------------===//

llvm::ArrayRef<OpHandler> getResizeHandlers() {
  static const OpHandler handlers[] = {
      {"Resize", 10, importResizeByScales, 0b10, 2},
      {"Resize", 11, importResize, 0b1110, 4},
      {"Upsample", 7, importUpsample},
      {"Upsample", 9, importResizeByScales, 0b10, 2},
  };
  return handlers;
}

} // namespace mlir::hfta::onnx_import
