//===- FactorCosts.h - What factors of K-FAC cost ---------------*- C++ -*-===//
//
// K-FAC keeps two symmetric matrices a layer, the factors, which ranks add up,
// invert and send to each other. What that takes is said here in terms of their
// sizes; where the numbers come from is up to whoever plans.
//===----------------------------------------------------------------------===//

#ifndef HFTA_PLANNING_FACTORCOSTS_H
#define HFTA_PLANNING_FACTORCOSTS_H

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <functional>

namespace mlir::hfta::planning {

/// Symmetric matrices of one size that stay together: the diagonal blocks of a
/// layer's factor, of all copies of a model.
struct Factor {
  int64_t size = 0;  ///< rows of a matrix, at least 1
  int64_t count = 1; ///< matrices, at least 1

  /// What is sent and kept: the lower triangles.
  int64_t getElements() const { return count * (size * (size + 1) / 2); }
  /// What inverting grows with.
  double getCubes() const {
    double rows = size;
    return count * rows * rows * rows;
  }
};

/// A collective of some ranks: an all-reduce or a broadcast.
struct TransferCost {
  double latency = 0;           ///< seconds of each, however short
  double secondsPerElement = 0; ///< besides
  /// More elements go in several collectives; 0: any number goes in one.
  int64_t mostElements = 0;

  double getSeconds(int64_t elements) const {
    int64_t times = mostElements > 0 && elements > mostElements
                        ? (elements - 1) / mostElements + 1
                        : 1;
    return latency * static_cast<double>(times) +
           secondsPerElement * static_cast<double>(elements);
  }
};

/// Seconds in which one rank inverts `count` matrices of `size` rows in one
/// batch. It must not fall with either of the two.
using InversionCost = std::function<double(int64_t size, int64_t count)>;

/// launch + count (each + cubic size³) seconds.
InversionCost makeCubicInversionCost(double launch, double each, double cubic);

/// What was measured of one size.
struct InversionMeasurement {
  int64_t size = 1;
  double launch = 0;    ///< seconds of a batch, however small
  double perMatrix = 0; ///< seconds of each matrix besides, more than 0
};

/// Between two sizes, both times are a power of the size; above the largest one
/// and below the smallest one, `perMatrix` grows with the cube. The
/// measurements, at least one, have different sizes.
InversionCost
makeMeasuredInversionCost(llvm::ArrayRef<InversionMeasurement> measurements);

} // namespace mlir::hfta::planning

#endif // HFTA_PLANNING_FACTORCOSTS_H
