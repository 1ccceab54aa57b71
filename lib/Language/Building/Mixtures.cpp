//===- Mixtures.cpp - Samples that are mixed with a partner's -------------===//
//
// A sample's partner is another one of the batch, whatever micro-batch has it.
// Both are augmented by their own numbers up to here.
//===----------------------------------------------------------------------===//

#include "Building/Rectangles.h"

#include <cmath>

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::language;

/// Draws a share in [0, 1] for each sample from the distribution Beta(a, a). It
/// follows from a number t of Student's distribution with 2a degrees of freedom
/// as 1/2 + t / (2 sqrt(2a + t^2)), and t from two uniform numbers. Source:
/// Devroye, "Random variate generation in one line of code", 1996.
static Value drawBeta(SampleBuilder &samples, const FieldCall &call,
                      int64_t count) {
  TensorBuilder &tensors = samples.getTensors();
  Value u = samples.draw(call, "radius", count);
  Value v = samples.draw(call, "angle", count);
  // With w = u^(1/a) and c = cos(2 pi v), which is t's sign, the share is
  // 1/2 + c/2 sqrt((1 - w) / (w + (1 - w) c^2)).
  Value logarithm =
      tensors.unary<LogOp>(tensors.binary<SubOp>(tensors.splatLike(u, 1.0), u));
  Value w = tensors.unary<ExpOp>(
      tensors.binary<MulOp>(logarithm, 1.0 / call.getNumber("alpha")));
  Value rest = tensors.binary<SubOp>(tensors.splatLike(w, 1.0), w);
  Value c = tensors.unary<CosOp>(tensors.binary<MulOp>(v, 2 * M_PI));
  Value square = tensors.binary<MulOp>(c, c);
  Value divisor = tensors.binary<AddOp>(w, tensors.binary<MulOp>(rest, square));
  // It is zero only if both terms are. The share is 1/2 then.
  divisor = tensors.binary<MaxOp>(divisor, tensors.splatLike(divisor, 1e-30));
  Value root = tensors.unary<SqrtOp>(tensors.binary<DivOp>(rest, divisor));
  Value share = tensors.binary<AddOp>(
      tensors.binary<MulOp>(tensors.binary<MulOp>(c, root), 0.5), 0.5);
  share = tensors.binary<MaxOp>(share, tensors.splatLike(share, 0.0));
  return tensors.binary<MinOp>(share, tensors.splatLike(share, 1.0));
}

/// Builds share * value + (1 - share) * partner.
static Value mix(SampleBuilder &samples, Value value, Value shares) {
  TensorBuilder &tensors = samples.getTensors();
  Value own = samples.spread(shares, value);
  Value others = samples.spread(
      tensors.binary<SubOp>(tensors.splatLike(shares, 1.0), shares), value);
  return tensors.binary<AddOp>(
      tensors.binary<MulOp>(value, own),
      tensors.binary<MulOp>(samples.getPartners().values, others));
}

static std::string keepAll(const FieldCall &, std::vector<int64_t> &) {
  return "";
}

//===----------------------------------------------------------------------===//
// Mixup
//===----------------------------------------------------------------------===//

static Value buildMixupShares(SampleBuilder &samples, const FieldCall &call,
                              int64_t count, ArrayRef<int64_t>) {
  return drawBeta(samples, call, count);
}

static Value buildMixup(SampleBuilder &samples, const FieldCall &call,
                        Value value) {
  return mix(samples, value, drawBeta(samples, call, getShape(value).front()));
}

static Value buildMixedLike(SampleBuilder &samples, const FieldCall &,
                            Value value) {
  return mix(samples, value, samples.getPartners().shares);
}

//===----------------------------------------------------------------------===//
// CutMix
//===----------------------------------------------------------------------===//

/// Draws the box that is cut out of each sample: its sides are those of the
/// sample times the root of the partner's share, rounded down to even numbers.
/// What is outside of the sample is cut off. Source: Yun et al., "CutMix:
/// regularization strategy to train strong classifiers", 2019.
static Box drawCut(SampleBuilder &samples, const FieldCall &call, Value value) {
  TensorBuilder &tensors = samples.getTensors();
  ArrayRef<int64_t> shape = getShape(value);
  Value share = drawBeta(samples, call, shape.front());
  Value root = tensors.unary<SqrtOp>(
      tensors.binary<SubOp>(tensors.splatLike(share, 1.0), share));
  auto getSide = [&](int64_t size) {
    Value half = tensors.cast(
        tensors.binary<MulOp>(root, 0.5 * static_cast<double>(size)),
        samples.getPlaceType());
    return tensors.binary<MulOp>(half, 2.0);
  };
  int64_t height = shape[shape.size() - 2], width = shape.back();
  Box box = drawAround(samples, call, value, getSide(height), getSide(width));
  auto limit = [&](Value places, int64_t most) {
    Value above = tensors.binary<MaxOp>(places, tensors.splatLike(places, 0));
    return tensors.binary<MinOp>(
        above, tensors.splatLike(places, static_cast<double>(most)));
  };
  return {limit(box.top, height), limit(box.left, width),
          limit(box.bottom, height), limit(box.right, width)};
}

/// Builds the part of each sample's elements that the cut leaves.
static Value buildCutmixShares(SampleBuilder &samples, const FieldCall &call,
                               int64_t count, ArrayRef<int64_t> shape) {
  TensorBuilder &tensors = samples.getTensors();
  int64_t height = shape[shape.size() - 2], width = shape.back();
  // Only the shape of this value is used.
  Value like = tensors.splat({count, height, width}, tensors.getFloatType(), 0);
  Box box = drawCut(samples, call, like);
  Value area =
      tensors.binary<MulOp>(tensors.binary<SubOp>(box.bottom, box.top),
                            tensors.binary<SubOp>(box.right, box.left));
  Value part = tensors.binary<DivOp>(tensors.cast(area, tensors.getFloatType()),
                                     static_cast<double>(height) *
                                         static_cast<double>(width));
  return tensors.binary<SubOp>(tensors.splatLike(part, 1.0), part);
}

static Value buildCutmix(SampleBuilder &samples, const FieldCall &call,
                         Value value) {
  Value isCut = samples.findInside(drawCut(samples, call, value), value);
  return samples.getTensors().select(isCut, samples.getPartners().values,
                                     value);
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

llvm::ArrayRef<FieldFunction> language::getMixtures() {
  using Mixing = FieldFunction::Mixing;
  auto alpha = [](double initial) -> FieldParameter {
    return {"alpha", {0.01, 1000}, {initial}};
  };
  static const FieldFunction functions[] = {
      {"mixup",
       {alpha(0.2)},
       /*isRandom=*/true,
       /*givesFloats=*/true,
       keepAll,
       buildMixup,
       nullptr,
       Mixing::own,
       buildMixupShares},
      {"cutmix",
       {alpha(1)},
       /*isRandom=*/true,
       /*givesFloats=*/false,
       keepImages,
       buildCutmix,
       nullptr,
       Mixing::own,
       buildCutmixShares},
      {"mixed_like",
       {},
       /*isRandom=*/true,
       /*givesFloats=*/true,
       keepAll,
       buildMixedLike,
       nullptr,
       Mixing::like},
  };
  return functions;
}
