//===- FactorCosts.cpp - The costs of K-FAC's factors ---------------------===//

#include "Hfta/Planning/Kfac/FactorCosts.h"

#include "llvm/ADT/STLExtras.h"

#include <cassert>
#include <cmath>
#include <vector>

using namespace mlir::hfta;
using namespace mlir::hfta::planning;

InversionCost planning::makeCubicInversionCost(double launch, double each,
                                               double cubic) {
  return [=](int64_t size, int64_t count) {
    double rows = size;
    return launch + count * (each + cubic * rows * rows * rows);
  };
}

/// Interpolates between two points, linearly on logarithmic axes, or on linear
/// ones if a logarithm doesn't exist.
static double interpolate(double x, double x0, double y0, double x1,
                          double y1) {
  if (y0 <= 0 || y1 <= 0)
    return y0 + (y1 - y0) * (x - x0) / (x1 - x0);
  double share = std::log(x / x0) / std::log(x1 / x0);
  return y0 * std::pow(y1 / y0, share);
}

static double extrapolate(int64_t size, const InversionMeasurement &nearest,
                          int64_t count) {
  double ratio = static_cast<double>(size) / static_cast<double>(nearest.size);
  return nearest.launch + count * nearest.perMatrix * ratio * ratio * ratio;
}

InversionCost planning::makeMeasuredInversionCost(
    llvm::ArrayRef<InversionMeasurement> measurements) {
  assert(!measurements.empty());
  std::vector<InversionMeasurement> sorted = measurements.vec();
  llvm::sort(sorted,
             [](const InversionMeasurement &a, const InversionMeasurement &b) {
               return a.size < b.size;
             });
  return [sorted = std::move(sorted)](int64_t size, int64_t count) {
    auto above = llvm::partition_point(
        sorted, [&](const InversionMeasurement &m) { return m.size < size; });
    if (above == sorted.end())
      return extrapolate(size, sorted.back(), count);
    if (above == sorted.begin())
      return extrapolate(size, sorted.front(), count);
    const InversionMeasurement &below = *std::prev(above);
    double launch =
        interpolate(size, below.size, below.launch, above->size, above->launch);
    return launch + count * interpolate(size, below.size, below.perMatrix,
                                        above->size, above->perMatrix);
  };
}
