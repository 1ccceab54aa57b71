//===- NaiveMoment.h - Second moments by loops ------------------*- C++ -*-===//

#ifndef HFTA_UNITTESTS_CURVATURE_NAIVEMOMENT_H
#define HFTA_UNITTESTS_CURVATURE_NAIVEMOMENT_H

#include <cstdint>
#include <string>
#include <vector>

namespace mlir::hfta {

using Sizes = std::vector<int64_t>;

/// One second_moment op, or one patch_moment op if `kernel` isn't empty.
struct MomentCase {
  std::string name;
  Sizes input;
  Sizes blocks, columns;                     ///< the axes of a second_moment
  Sizes kernel, strides, dilations, padding; ///< the window of a patch_moment
  int64_t groups = 1;
  int64_t blockColumns = 0; ///< columns of a patch_moment's diagonal blocks; 0:
                            ///< whole
  bool ones = false;
  bool sum = false; ///< whether it adds to the old values
  double scale = 0.5;

  bool isPatch() const { return !kernel.empty(); }
};

/// The rows of one block, each with its column of ones where the case has one.
struct MomentRows {
  int64_t columns = 0;
  std::vector<double> elements;
};

/// Returns the rows of each block, taken from the input's elements in row-major
/// order.
std::vector<MomentRows> getRows(const MomentCase &moment,
                                const std::vector<double> &input);

/// Returns the packed moments of all blocks, cut into diagonal blocks where the
/// case says so, without the old values that an op adds to.
std::vector<double> computeMoment(const MomentCase &moment,
                                  const std::vector<double> &input);

} // namespace mlir::hfta

#endif // HFTA_UNITTESTS_CURVATURE_NAIVEMOMENT_H
