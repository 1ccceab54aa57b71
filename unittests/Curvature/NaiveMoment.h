//===- NaiveMoment.h - Second moments by loops ------------------*- C++ -*-===//

#ifndef HFTA_UNITTESTS_CURVATURE_NAIVEMOMENT_H
#define HFTA_UNITTESTS_CURVATURE_NAIVEMOMENT_H

#include <cstdint>
#include <string>
#include <vector>

namespace mlir::hfta {

using Sizes = std::vector<int64_t>;

/// One second_moment, or patch_moment where there is a kernel.
struct MomentCase {
  std::string name;
  Sizes input;
  Sizes blocks, columns;                     ///< axes of second_moment
  Sizes kernel, strides, dilations, padding; ///< window of patch_moment
  int64_t groups = 1;
  int64_t blockColumns = 0; ///< of diagonal blocks of patch_moment; 0: whole
  bool ones = false;
  bool sum = false; ///< whether it adds to what was there
  double scale = 0.5;

  bool isPatch() const { return !kernel.empty(); }
};

/// Rows c of one block, ones included.
struct MomentRows {
  int64_t columns = 0;
  std::vector<double> elements;
};

/// The rows of each block, of the input's elements in row-major order.
std::vector<MomentRows> getRows(const MomentCase &moment,
                                const std::vector<double> &input);

/// The packed moments of all blocks, cut into diagonal blocks where the case
/// says so, without what they are added to.
std::vector<double> computeMoment(const MomentCase &moment,
                                  const std::vector<double> &input);

} // namespace mlir::hfta

#endif // HFTA_UNITTESTS_CURVATURE_NAIVEMOMENT_H
