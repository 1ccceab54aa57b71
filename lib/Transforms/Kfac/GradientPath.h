//===- GradientPath.h - From a layer's gradient to a parameter's *- C++ -*-===//
//
// The gradient of an op's weight operand passes through sums, transposes and
// reshapes until it has the shape of the parameter. If this path is known,
// other values can be mapped between the two shapes, too.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_TRANSFORMS_KFAC_GRADIENTPATH_H
#define HFTA_LIB_TRANSFORMS_KFAC_GRADIENTPATH_H

#include "Tasks/TaskBuilder.h"

namespace mlir::hfta {

/// The path from a value of a backward task to the gradient of a variable.
class GradientPath {
public:
  /// Returns the path from `from` to the write of `gradient`, possibly through
  /// several tasks. Returns nothing if every path has an op other than a sum
  /// over axes at its start, transposes, reshapes, and ops that keep all
  /// elements in their places.
  static std::optional<GradientPath> find(Value from, VariableOp gradient);

  /// Returns the axes of `from` that are summed over at the start of the path.
  ArrayRef<int64_t> getReduced() const { return reduced; }
  /// Whether the path has no transpose, so that elements keep their row-major
  /// order.
  bool keepsOrder() const;
  bool operator==(const GradientPath &other) const;

  /// Builds ops that map a value of the parameter's shape to the shape of
  /// `from` after its sums; goForth does the reverse.
  Value goBack(OpBuilder &builder, Value value) const;
  Value goForth(OpBuilder &builder, Value value) const;

private:
  /// A transpose or reshape of the path.
  struct Step {
    SmallVector<int64_t> from, to;    ///< shapes before and after the step
    SmallVector<int64_t> permutation; ///< empty for a reshape
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

#endif // HFTA_LIB_TRANSFORMS_KFAC_GRADIENTPATH_H
