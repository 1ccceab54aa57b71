//===- NaiveMoment.h - Second moments computed by loops ---------*- C++ -*-===//

#ifndef HFTA_UNITTESTS_CURVATURE_NAIVEMOMENT_H
#define HFTA_UNITTESTS_CURVATURE_NAIVEMOMENT_H

#include <cstdint>
#include <string>
#include <vector>

namespace mlir::hfta {

using Sizes = std::vector<int64_t>;

/// A test case: one hfta.patch_moment op, or one hfta.second_moment op if
/// `kernel` is empty. The members are named after the ops' operands and
/// attributes.
struct MomentCase {
  std::string name;
  Sizes input;
  Sizes blocks, columns;                     ///< axes, in a second_moment
  Sizes kernel, strides, dilations, padding; ///< in a patch_moment
  int64_t groups = 1;
  int64_t blockColumns = 0; ///< columns of a diagonal block of a patch_moment;
                            ///< 0 if the whole matrix is computed
  bool ones = false;
  bool sum = false; ///< whether the moment is added to an operand `sum`
  double scale = 0.5;

  bool isPatch() const { return !kernel.empty(); }
};

/// The rows whose outer products are added up to one block of the result. If
/// the case has `ones`, each row ends with a one.
struct MomentRows {
  int64_t columns = 0;          ///< elements of a row
  std::vector<double> elements; ///< row-major
};

/// Returns the rows of each block. The blocks of a second_moment are in
/// row-major order of its block axes; those of a patch_moment are its groups.
/// `input` has the input's elements in row-major order.
std::vector<MomentRows> getRows(const MomentCase &moment,
                                const std::vector<double> &input);

/// Returns the scaled moments of all blocks, as packed lower triangles; with
/// `blockColumns`, only those of the diagonal blocks. The operand `sum` isn't
/// added.
std::vector<double> computeMoment(const MomentCase &moment,
                                  const std::vector<double> &input);

} // namespace mlir::hfta

#endif // HFTA_UNITTESTS_CURVATURE_NAIVEMOMENT_H
