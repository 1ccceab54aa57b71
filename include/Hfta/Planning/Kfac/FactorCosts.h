//===- FactorCosts.h - The costs of K-FAC's factors -------------*- C++ -*-===//
//
// K-FAC has two symmetric matrices per layer, the factors, which the ranks add
// up, invert and send to each other. This file expresses the costs of that work
// by the sizes of the matrices; callers supply the rates.
//===----------------------------------------------------------------------===//

#ifndef HFTA_PLANNING_KFAC_FACTORCOSTS_H
#define HFTA_PLANNING_KFAC_FACTORCOSTS_H

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <functional>

namespace mlir::hfta::planning {

/// Symmetric matrices of the same size that are stored and sent together: the
/// diagonal blocks of a layer's factor, for all copies.
struct Factor {
  int64_t size = 0;  ///< number of rows of each matrix, at least 1
  int64_t count = 1; ///< number of matrices, at least 1
  /// For matrices that aren't symmetric, the number of sent elements of each;
  /// 0: those of the lower triangle.
  int64_t sentElements = 0;

  /// Returns the number of stored and sent elements.
  int64_t getElements() const {
    return count * (sentElements > 0 ? sentElements : size * (size + 1) / 2);
  }
  /// Returns the sum of the cubes of the matrices' sizes. The work of inversion
  /// is proportional to it.
  double getCubes() const {
    double rows = size;
    return count * rows * rows * rows;
  }
};

/// The cost of a collective operation among some ranks, such as an all-reduce
/// or a broadcast.
struct TransferCost {
  double latency = 0;           ///< seconds of a collective without elements
  double secondsPerElement = 0; ///< seconds per element, in addition
  /// The most elements in one collective; larger transfers are split. 0: no
  /// limit.
  int64_t mostElements = 0;

  /// Returns the seconds for a transfer of this many elements.
  double getSeconds(int64_t elements) const {
    int64_t times = mostElements > 0 && elements > mostElements
                        ? (elements - 1) / mostElements + 1
                        : 1;
    return latency * static_cast<double>(times) +
           secondsPerElement * static_cast<double>(elements);
  }
};

/// Returns the seconds in which one rank inverts a batch of `count` matrices
/// with `size` rows. It must be monotonic in both arguments.
using InversionCost = std::function<double(int64_t size, int64_t count)>;

/// Returns the cost function launch + count (each + cubic size³), in seconds.
InversionCost makeCubicInversionCost(double launch, double each, double cubic);

/// Measured inversion times of matrices of one size.
struct InversionMeasurement {
  int64_t size = 1;
  double launch = 0;    ///< fixed seconds per batch
  double perMatrix = 0; ///< additional seconds per matrix, more than 0
};

/// Returns a cost function that interpolates measurements. There must be at
/// least one, and all must have different sizes. Between two sizes, both times
/// are interpolated as a power of the size. Below the smallest and above the
/// largest size, `perMatrix` is proportional to the cube of the size.
InversionCost
makeMeasuredInversionCost(llvm::ArrayRef<InversionMeasurement> measurements);

} // namespace mlir::hfta::planning

#endif // HFTA_PLANNING_KFAC_FACTORCOSTS_H
