//===- GradientPath.h - From a layer's gradient to a parameter's *- C++ -*-===//
//
// What an op adds to the gradient of its weight goes through sums, transposes
// and reshapes until it has the parameter's shape. Where the way is known it
// can be gone in both directions.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_TRANSFORMS_GRADIENTPATH_H
#define HFTA_LIB_TRANSFORMS_GRADIENTPATH_H

#include "TaskBuilder.h"

namespace mlir::hfta {

/// The way of a value of a backward task to the gradient of a variable.
class GradientPath {
public:
  /// Nothing if there is none but through ops that lose or mix elements.
  static std::optional<GradientPath> find(Value from, VariableOp gradient);

  /// Axes of the value that are summed over, at the start of the way.
  ArrayRef<int64_t> getReduced() const { return reduced; }
  /// Whether the elements keep their row-major order.
  bool keepsOrder() const;
  bool operator==(const GradientPath &other) const;

  /// From the parameter's shape to the one behind the sums, and back.
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
