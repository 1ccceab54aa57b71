//===- KfacUnits.h - Parameters that K-FAC treats together ------*- C++ -*-===//
//
// K-FAC (Martens and Grosse, "Optimizing neural networks with
// Kronecker-factored approximate curvature", ICML 2015) multiplies the gradient
// of a layer's weight by the inverses of two small matrices, its Kronecker
// factors. A unit is the parameters that are preconditioned together: a weight,
// with a bias that is one more column of it, or the scale and shift of a norm.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_TRANSFORMS_KFACUNITS_H
#define HFTA_LIB_TRANSFORMS_KFACUNITS_H

#include "GradientPath.h"
#include "Hfta/Dialect/Hfta/IR/LayerAxes.h"
#include "SampleStrides.h"

#include "llvm/Support/MathExtras.h"

namespace mlir::hfta {

/// How a unit's gradient is preconditioned.
enum class KfacRule {
  kronecker, ///< by the inverses of an input and an output factor
  unit,      ///< by the inverse of a 2 x 2 matrix, or of a number, per feature
  plain      ///< not at all
};

struct KfacUnit;

/// The factor of one side of a unit: a symmetric matrix [size, size] per block,
/// packed.
struct KfacFactor {
  int64_t blocks = 1, size = 1;
  /// The layer has blocks / pieces matrices of `columns` columns, each cut into
  /// `pieces` diagonal blocks. The last of them is padded with rows and columns
  /// of zeros.
  int64_t pieces = 1, columns = 1;
  /// Whether the matrix is diagonal, so that only its diagonal is kept.
  bool isDiagonal = false;

  /// Sets `count` matrices, in equal diagonal blocks of at most `most` rows.
  void setMatrices(int64_t count, int64_t columns, int64_t most) {
    this->columns = columns;
    pieces = llvm::divideCeil(columns, most);
    size = llvm::divideCeil(columns, pieces);
    blocks = count * pieces;
  }
  int64_t getPaddedColumns() const { return pieces * size; }
  /// Returns the shape that ops use: one row per block.
  SmallVector<int64_t> getPackedShape() const {
    if (isDiagonal)
      return {size};
    return {blocks, size * (size + 1) / 2};
  }
  /// Returns the shape that is kept: without axes of one element.
  SmallVector<int64_t> getShape() const { return keep(getPackedShape()); }
  static SmallVector<int64_t> keep(ArrayRef<int64_t> shape) {
    SmallVector<int64_t> kept(
        llvm::make_filter_range(shape, [](int64_t axis) { return axis > 1; }));
    if (kept.empty())
      kept.push_back(1);
    return kept;
  }
  /// The sums over a step's rows, one for each use of the weight, which other
  /// units may read too; for all copies where the rows are shared.
  SmallVector<VariableOp> moments;
  bool isMomentShared = false;
  /// The running mean and its weight; those of the owner, if there is one: an
  /// earlier unit with the same input.
  VariableOp mean, weight;
  const KfacUnit *owner = nullptr;
  // For rule `kronecker` alone: the damped inverse, or the factor's
  // eigenvectors and eigenvalues, of the owner as the mean is.
  VariableOp inverse, basis, eigenvalues;
  /// The factor that the moment is multiplied by; an output factor's is also
  /// multiplied by the terms of the loss where these are known at run time
  /// alone.
  double scale = 1;
  bool isOfOutput = false;
  /// The index among the factors whose work replicas share; -1: none of them.
  int64_t number = -1;
  /// The replicas that invert it, for all holders of the inverse; null: the
  /// holders.
  ReplicasAttr inverter;
  /// The group from whose rows alone it is formed, and how many times as many
  /// rows a step has; -1: it is formed from all rows.
  int64_t group = -1;
  double rowsOfGroup = 1;
};

struct KfacUnit {
  KfacRule rule = KfacRule::plain;
  std::string reason; ///< why it is plain
  TrainedLeaf weight;
  /// The bias, or the shift of a norm.
  std::optional<TrainedLeaf> bias;
  SmallVector<LayerOp> layers;      ///< uses of the weight, in program order
  std::optional<GradientPath> path; ///< to the weight's gradient
  std::optional<LayerAxes> axes;    ///< for rule `kronecker`
  /// For rule `unit`: the values, shaped as the output gradient, whose sums are
  /// each sample's part of the weight's gradient, the axes of them that number
  /// features, and the number of features. Null where it is the product of the
  /// output gradient and the input.
  Value parts;
  SmallVector<int64_t> featureAxes;
  int64_t features = 0;
  SampleAxis samples = {0, 1, 1}; ///< in the output gradient and the parts
  /// With `sharing = reduce`: whether some layer's rows are still positions.
  bool keepsPositions = false;
  KfacFactor input, output; ///< a unit of rule `unit` has an output factor only
  /// The replicas that have the inverses, and precondition; null: all.
  ReplicasAttr holders;
  /// The variables with the rows of the layer's input and of its output
  /// gradient; null where a step preconditions the gradient.
  VariableOp inputRows, outputRows;
  bool isFromRows() const { return inputRows != nullptr; }

  int64_t getBlock() const {
    return static_cast<int64_t>(VariableOp(weight.variable).getBlock());
  }
  /// Returns the number of columns of the weight's input, with the bias'.
  int64_t getInputColumns() const { return axes->inputs + (bias ? 1 : 0); }
};

/// Finds the units of a program's trained parameters, in the order of the
/// variables, and by copy where copies are compiled alone.
std::vector<KfacUnit> findKfacUnits(TaskBuilder &tasks);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_KFACUNITS_H
