//===- GradientPath.h - From a layer's gradient to a parameter's *- C++ -*-===//
//
// The gradient of an op's weight passes through sums, transposes and reshapes
// until it has the parameter's shape. Where this path is known, values can be
// taken along it in both directions.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_TRANSFORMS_GRADIENTPATH_H
#define HFTA_LIB_TRANSFORMS_GRADIENTPATH_H

#include "TaskBuilder.h"

namespace mlir::hfta {

/// The path from a value of a backward task to the gradient of a variable.
class GradientPath {
public:
  /// Finds the path; nothing if every path has ops that lose or mix elements.
  static std::optional<GradientPath> find(Value from, VariableOp gradient);

  /// Returns the axes of the value that are summed over, at the start of the
  /// path.
  ArrayRef<int64_t> getReduced() const { return reduced; }
  /// Whether the elements keep their row-major order.
  bool keepsOrder() const;
  bool operator==(const GradientPath &other) const;

  /// Maps a value from the parameter's shape to the shape after the sums;
  /// goForth does the reverse.
  Value goBack(OpBuilder &builder, Value value) const;
  Value goForth(OpBuilder &builder, Value value) const;

private:
  struct Step {
    SmallVector<int64_t> from, to;    ///< shapes
    SmallVector<int64_t> permutation; ///< empty: a reshape
    bool operator==(const Step &other) const {
      return from == other.from && to == other.to &&
             permutation == other.permutation;
    }
  };

  bool follow(Value value, VariableOp gradient);
  bool followAcross(WriteOp write, VariableOp gradient);

  SmallVector<int64_t> reduced;
  SmallVector<Step> steps;
};

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_GRADIENTPATH_H
