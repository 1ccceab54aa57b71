//===- Averages.cpp - Running averages of weights -------------------------===//
//
// Records of averages. With the weight w, an average e moves to e + w (p - e)
// when the parameter has become p.
//===----------------------------------------------------------------------===//

#include "Hfta/Dialect/Hfta/Job/Averages.h"

using namespace mlir;
using namespace mlir::hfta;

using Numbers = function_ref<Expression(StringRef)>;

static constexpr ParameterInfo kStart = {"start", NumberRange::wholeFrom(0), 0};
static constexpr ParameterInfo kEvery = {"every", NumberRange::wholeFrom(1), 1};

static Expression weightEma(const Expression &, Numbers number) {
  return 1.0 - number("decay");
}

/// The decay rises from 0 as 1 - (1 + count / gamma)^-power, as timm's.
static Expression weightWarmEma(const Expression &count, Numbers number) {
  Expression rising =
      (count / number("gamma") + 1.0).apply<PowOp>(-number("power"));
  return (1.0 - number("decay")).apply<MaxOp>(rising);
}

static Expression weightSwa(const Expression &count, Numbers) {
  return 1.0 / (count + 1.0);
}

static constexpr ParameterInfo kEma[] = {
    {"decay", NumberRange::belowOne(), 0.999}, kStart, kEvery};
static constexpr ParameterInfo kWarmEma[] = {
    {"decay", NumberRange::belowOne(), 0.9999},
    {"gamma", NumberRange::positive(), 1},
    {"power", NumberRange::positive(), 2.0 / 3},
    kStart,
    kEvery};
static constexpr ParameterInfo kSwa[] = {
    {"start", NumberRange::wholeFrom(0), {}, ParameterInfo::Kind::required},
    kEvery};

llvm::ArrayRef<AverageInfo> hfta::getAverages() {
  static constexpr AverageInfo kAverages[] = {
      {"ema", kEma,
       "exponential moving average: the average moves towards the weights by "
       "the share 1 - `decay` of the distance",
       weightEma},
      {"warm_ema", kWarmEma,
       "an exponential moving average that forgets its beginning: when n "
       "weights were averaged before, the decay is 1 - (1 + n / "
       "`gamma`)^-`power`, but at most `decay`",
       weightWarmEma},
      {"swa", kSwa,
       "stochastic weight averaging: the mean of all weights that are averaged",
       weightSwa}};
  return kAverages;
}

const AverageInfo *hfta::findAverage(StringRef name) {
  return findByName(getAverages(), name);
}
