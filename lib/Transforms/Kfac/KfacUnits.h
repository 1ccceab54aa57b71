//===- KfacUnits.h - Parameters that K-FAC treats together ------*- C++ -*-===//
//
// K-FAC (Martens and Grosse, "Optimizing neural networks with
// Kronecker-factored approximate curvature", ICML 2015) multiplies the gradient
// of a layer's weight by the inverses of two small matrices, its Kronecker
// factors. A unit is the parameters that are preconditioned together: a weight,
// with a bias as one more column, or the scale and shift of a norm.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_TRANSFORMS_KFAC_KFACUNITS_H
#define HFTA_LIB_TRANSFORMS_KFAC_KFACUNITS_H

#include "Hfta/Dialect/Hfta/IR/LayerAxes.h"
#include "Kfac/GradientPath.h"
#include "Samples/SampleStrides.h"

#include "llvm/Support/MathExtras.h"

namespace mlir::hfta {

/// How a unit's gradient is preconditioned.
enum class KfacRule {
  kronecker, ///< by the inverses of an input and an output factor
  unit,      ///< by the inverse of a 2 x 2 matrix, or of a number, per feature
  plain      ///< not at all
};

struct KfacUnit;

/// The factor of one side of a unit, its input or its output: a symmetric
/// matrix [size, size] for each block, stored as its lower triangle.
struct KfacFactor {
  int64_t blocks = 1, size = 1;
  /// The layer has blocks / pieces matrices of `columns` columns, each cut into
  /// `pieces` diagonal blocks. The last of them is padded with rows and columns
  /// of zeros.
  int64_t pieces = 1, columns = 1;
  /// Whether the matrix is diagonal, so that only its diagonal is kept.
  bool isDiagonal = false;

  /// Sets the shape: `count` matrices of `columns` columns, each cut into
  /// diagonal blocks of equal size, of at most `most` rows.
  void setMatrices(int64_t count, int64_t columns, int64_t most) {
    this->columns = columns;
    pieces = llvm::divideCeil(columns, most);
    size = llvm::divideCeil(columns, pieces);
    blocks = count * pieces;
  }
  int64_t getPaddedColumns() const { return pieces * size; }
  /// Returns the shape that ops use: a packed triangle for each block or, for a
  /// diagonal factor, [size].
  SmallVector<int64_t> getPackedShape() const {
    if (isDiagonal)
      return {size};
    return {blocks, size * (size + 1) / 2};
  }
  /// Returns the shape of the factor's variables: the packed shape without axes
  /// of one element.
  SmallVector<int64_t> getShape() const { return keep(getPackedShape()); }
  static SmallVector<int64_t> keep(ArrayRef<int64_t> shape) {
    SmallVector<int64_t> kept(
        llvm::make_filter_range(shape, [](int64_t axis) { return axis > 1; }));
    if (kept.empty())
      kept.push_back(1);
    return kept;
  }
  /// The second moments: sums over a step's rows, in one variable for each use
  /// of the weight. Other units with the same input may read them, too. With
  /// `isMomentShared` they are for all copies, which have the same rows.
  SmallVector<VariableOp> moments;
  bool isMomentShared = false;
  /// The running mean of the moments and its weight. If an earlier unit, the
  /// owner, has the same input, these are the owner's.
  VariableOp mean, weight;
  const KfacUnit *owner = nullptr;
  // For rule `kronecker`: the damped inverse or, with eigenbases, the
  // eigenvectors and eigenvalues, which are the owner's if there is one.
  VariableOp inverse, basis, eigenvalues;
  /// The number by which moments are multiplied to update the mean. For an
  /// output factor, a value of the step replaces it if the number of the loss'
  /// terms, or their weight, is known only at run time.
  double scale = 1;
  bool isOfOutput = false;
  /// The factor's index in the planner's model; -1 if replicas don't share its
  /// work.
  int64_t number = -1;
  /// The replicas that invert the factor and send the inverse to its other
  /// holders; null if each holder inverts it.
  ReplicasAttr inverter;
  /// With placement `local`, `group` is the group of micro-batches from whose
  /// rows alone the factor is formed, and `rowsOfGroup` is the number of rows
  /// of a step divided by that of the group. -1: the factor is formed from all
  /// rows.
  int64_t group = -1;
  double rowsOfGroup = 1;
};

/// Parameters that K-FAC preconditions together.
struct KfacUnit {
  KfacRule rule = KfacRule::plain;
  std::string reason; ///< why the rule is `plain`
  TrainedLeaf weight;
  /// The bias, or the shift of a norm.
  std::optional<TrainedLeaf> bias;
  SmallVector<LayerOp> layers; ///< uses of the weight, in program order
  /// The path from the gradient of a layer's weight to the parameter's.
  std::optional<GradientPath> path;
  std::optional<LayerAxes> axes; ///< for rule `kronecker`
  /// For rule `unit`: `parts` are values in the shape of the output gradient
  /// whose sum over a sample's positions is the sample's gradient of the
  /// weight, or null if these are the products of output gradient and input.
  /// `featureAxes` are the axes of `parts` that number features, and `features`
  /// is the number of features.
  Value parts;
  SmallVector<int64_t> featureAxes;
  int64_t features = 0;
  /// The axis of the samples, in the output gradient and in `parts`.
  SampleAxis samples = {0, 1, 1};
  /// With `sharing = reduce`: whether rows of some layer are still positions,
  /// as its samples aren't known.
  bool keepsPositions = false;
  KfacFactor input, output; ///< a unit of rule `unit` has an output factor only
  /// The replicas that have the inverses and precondition the gradient; null:
  /// all.
  ReplicasAttr holders;
  /// The variables with the rows of the layer's input and output gradient, if
  /// steps precondition from rows (KfacFromRows.h); otherwise null.
  VariableOp inputRows, outputRows;
  bool isFromRows() const { return inputRows != nullptr; }

  int64_t getBlock() const {
    return static_cast<int64_t>(VariableOp(weight.variable).getBlock());
  }
  /// Returns the number of input columns of a block, including that of the
  /// bias.
  int64_t getInputColumns() const { return axes->inputs + (bias ? 1 : 0); }
};

/// Returns the units of a program's trained parameters, in the order of their
/// variables. If copies use a parameter separately, there is one unit for each
/// copy.
std::vector<KfacUnit> findKfacUnits(TaskBuilder &tasks);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_KFAC_KFACUNITS_H
