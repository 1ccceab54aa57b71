//===- FactorCosts.h - The costs of K-FAC's factors -------------*- C++ -*-===//
//
// K-FAC keeps two symmetric matrices per layer, the factors, which the ranks
// add up, invert and send to each other. This file gives the costs of that work
// in terms of matrix sizes; the caller supplies the numbers.
//===----------------------------------------------------------------------===//

#ifndef HFTA_PLANNING_FACTORCOSTS_H
#define HFTA_PLANNING_FACTORCOSTS_H

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <functional>

namespace mlir::hfta::planning {

/// Symmetric matrices of one size that stay together: the diagonal blocks of a
/// layer's factor, for all copies of a model.
struct Factor {
  int64_t size = 0;  ///< rows of a matrix, at least 1
  int64_t count = 1; ///< matrices, at least 1

  /// Returns the number of elements that are sent and kept: those of the lower
  /// triangles.
  int64_t getElements() const { return count * (size * (size + 1) / 2); }
  /// Returns the sum of the cubes of the matrices' sizes, to which the work of
  /// inverting them is proportional.
  double getCubes() const {
    double rows = size;
    return count * rows * rows * rows;
  }
};

/// The cost of a collective operation of some ranks: an all-reduce or a
/// broadcast.
struct TransferCost {
  double latency = 0;           ///< seconds that each one takes, however short
  double secondsPerElement = 0; ///< seconds per element, in addition
  /// The most elements of one collective; more are split among several. 0: no
  /// limit.
  int64_t mostElements = 0;

  double getSeconds(int64_t elements) const {
    int64_t times = mostElements > 0 && elements > mostElements
                        ? (elements - 1) / mostElements + 1
                        : 1;
    return latency * static_cast<double>(times) +
           secondsPerElement * static_cast<double>(elements);
  }
};

/// Returns the seconds that one rank takes to invert `count` matrices of `size`
/// rows in one batch. The result must not decrease when either of the two
/// grows.
using InversionCost = std::function<double(int64_t size, int64_t count)>;

/// Makes the cost function launch + count (each + cubic size³), in seconds.
InversionCost makeCubicInversionCost(double launch, double each, double cubic);

/// Measured times for matrices of one size.
struct InversionMeasurement {
  int64_t size = 1;
  double launch = 0;    ///< seconds of a batch, however small
  double perMatrix = 0; ///< seconds of each matrix in addition, more than 0
};

/// Makes a cost function from measurements, of which there must be at least
/// one, all of different sizes. Between two sizes, both times are interpolated
/// as a power of the size; above the largest and below the smallest one,
/// `perMatrix` grows with the cube of the size.
InversionCost
makeMeasuredInversionCost(llvm::ArrayRef<InversionMeasurement> measurements);

} // namespace mlir::hfta::planning

#endif // HFTA_PLANNING_FACTORCOSTS_H
