//===- KfacUnits.h - What K-FAC makes of each parameter ---------*- C++ -*-===//
//
// K-FAC (Martens and Grosse, "Optimizing neural networks with
// Kronecker-factored approximate curvature", ICML 2015) multiplies the gradient
// of a layer's weight with the inverses of two small matrices, its Kronecker
// factors. A unit is what is preconditioned together: a weight, with a bias
// that is one more column of it, or the scale and shift of a norm.
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
  unit,      ///< by the inverse of a 2 x 2 matrix a feature, or of a number
  plain      ///< not at all
};

struct KfacUnit;

/// One side's factor of a unit: a symmetric matrix [size, size] a block,
/// packed.
struct KfacFactor {
  int64_t blocks = 1, size = 1;
  /// The layer has blocks / pieces matrices of so many columns, each cut into
  /// `pieces` diagonal blocks. The last of them has rows and columns of zeros
  /// behind those that there are.
  int64_t pieces = 1, columns = 1;
  /// Whether the matrix is its diagonal, and no more is kept of it.
  bool isDiagonal = false;

  /// `count` matrices, in equal diagonal blocks of at most `most` rows.
  void setMatrices(int64_t count, int64_t columns, int64_t most) {
    this->columns = columns;
    pieces = llvm::divideCeil(columns, most);
    size = llvm::divideCeil(columns, pieces);
    blocks = count * pieces;
  }
  int64_t getPaddedColumns() const { return pieces * size; }
  /// As ops have it: a block a row.
  SmallVector<int64_t> getPackedShape() const {
    if (isDiagonal)
      return {size};
    return {blocks, size * (size + 1) / 2};
  }
  /// As it is kept: without axes of one element.
  SmallVector<int64_t> getShape() const { return keep(getPackedShape()); }
  static SmallVector<int64_t> keep(ArrayRef<int64_t> shape) {
    SmallVector<int64_t> kept(
        llvm::make_filter_range(shape, [](int64_t axis) { return axis > 1; }));
    if (kept.empty())
      kept.push_back(1);
    return kept;
  }
  /// The sum over a step's rows of each use of the weight, which other units
  /// may read too; of all copies where it is of what they share.
  SmallVector<VariableOp> moments;
  bool isMomentShared = false;
  /// The running mean and its weight; the owner's, if there is one: an earlier
  /// unit with the same input.
  VariableOp mean, weight;
  const KfacUnit *owner = nullptr;
  // Of rule `kronecker` alone: the damped inverse, or what the factor's
  // eigenvectors and eigenvalues are, the owner's like the mean.
  VariableOp inverse, basis, eigenvalues;
  /// What the moment is multiplied with; of output factors, besides, the terms
  /// of the loss where these are known at run time alone.
  double scale = 1;
  bool isOfOutput = false;
  /// Among the factors that replicas share the work of; -1: it is none of them.
  int64_t number = -1;
  /// Replicas that invert it, for all that hold the inverse; null: these.
  ReplicasAttr inverter;
  /// The group whose rows alone it is made of, and how many times as many rows
  /// a step has; -1: those of all.
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
  std::optional<GradientPath> path; ///< of the weight's gradient
  std::optional<LayerAxes> axes;    ///< of rule `kronecker`
  /// Of rule `unit`: what each sample's part of the weight's gradient is summed
  /// of, shaped as the output gradient, the axes of it that number features,
  /// and how many there are. Null where it is the product of the output
  /// gradient and the input.
  Value parts;
  SmallVector<int64_t> featureAxes;
  int64_t features = 0;
  SampleAxis samples = {0, 1, 1}; ///< of the output gradient and of the parts
  /// Of `sharing = reduce`: whether some layer's rows are positions still.
  bool keepsPositions = false;
  KfacFactor input, output; ///< a unit of rule `unit` has an output factor only
  /// Replicas that have the inverses, and precondition; null: all.
  ReplicasAttr holders;
  /// Where a step's tasks find the rows of the layer's input and of its output
  /// gradient; null where these precondition the gradient.
  VariableOp inputRows, outputRows;
  bool isFromRows() const { return inputRows != nullptr; }

  int64_t getBlock() const {
    return static_cast<int64_t>(VariableOp(weight.variable).getBlock());
  }
  /// The columns of the weight's input, with the bias'.
  int64_t getInputColumns() const { return axes->inputs + (bias ? 1 : 0); }
};

/// The units of a program's trained parameters, in the order of the variables,
/// and by copy where copies are compiled alone.
std::vector<KfacUnit> findKfacUnits(TaskBuilder &tasks);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_KFACUNITS_H
