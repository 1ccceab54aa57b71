//===- KfacTasks.h - From moments to preconditioned gradients ---*- C++ -*-===//
//
// For each layer and step, let A be the mean of a aᵀ over the rows a of a
// layer's input, and G the mean of g gᵀ over those of its output gradient,
// times the terms of the loss, both as running means, and λ the damping:
//
//   π = √(mean diagonal of A / mean diagonal of G)
//   V = (G + √λ/π I)⁻¹ Grad (A + √λ·π I)⁻¹
//   ν = min(1, √(κ / (lr² |Σ ⟨V, Grad⟩|)))
//
// and the optimizer gets ν V. Sources: Martens and Grosse, ICML 2015 (factors,
// π); Grosse and Martens, "A Kronecker-factored approximate Fisher matrix for
// convolution layers", ICML 2016; Ba, Grosse and Martens, "Distributed
// second-order optimization using Kronecker-factored approximations", ICLR 2017
// (ν).
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_TRANSFORMS_KFACTASKS_H
#define HFTA_LIB_TRANSFORMS_KFACTASKS_H

#include "Hfta/Dialect/Hfta/IR/Expression.h"
#include "KfacUnits.h"

#include <map>

namespace mlir::hfta {

/// Builds the tasks curvature, invert, precondition and scale.
class KfacTasks {
public:
  KfacTasks(TaskBuilder &tasks, MutableArrayRef<KfacUnit> units)
      : tasks(tasks), builder(tasks.getBuilder()), units(units),
        type(tasks.getFloatType(tasks.getJob().getInversionType())),
        wide(builder.getF64Type()) {}

  void build();

private:
  // Declares variables.
  VariableOp declareState(const KfacUnit &unit, StringRef name,
                          ArrayRef<int64_t> shape, Type elementType,
                          ReplicasAttr holders);
  void findSent();
  void declareFactor(KfacUnit &unit, KfacFactor &factor, StringRef name);
  void declareVariables();
  VariableOp declareCountOf(StringRef name);

  // Formulas for the copies of the current unit.
  Expression wrap(Value value) const {
    return {builder, tasks.getLoc(), value};
  }
  Expression read(VariableOp variable) const {
    return wrap(tasks.read(variable, copy));
  }
  Expression number(double value) const {
    return wrap(tasks.splat({}, wide, value));
  }
  Expression readParameter(StringRef name) const {
    return read(tasks.getVariables().lookup(Purpose::hyper_parameter, name));
  }
  void write(const Expression &value, VariableOp variable) {
    tasks.write(value, variable, copy);
  }
  Expression getDiagonal(const Expression &packed,
                         const KfacFactor &factor) const;
  Expression getMeanDiagonal(const KfacFactor &factor) const;
  VariableOp declareCount(StringRef name);
  VariableOp getCounter(StringRef name, int64_t block);
  void count(StringRef name, const Expression &number);
  void writeCounts();
  void addCounts();
  Expression readMoments(const KfacFactor &factor) const;
  void clearMoments(const KfacUnit &unit, const KfacFactor &factor);

  bool isEigen() const { return tasks.getJob().kfacMethod == Job::kEigen; }
  int64_t getStage(const KfacUnit &unit) const {
    return tasks.getJob().getStage(unit.getBlock());
  }
  /// Whether it has eigenvectors or an inverse of its own.
  bool isInverted(const KfacFactor &factor) const {
    return !isEigen() || !(factor.owner || factor.isDiagonal);
  }
  void updateMean(const KfacUnit &unit, const KfacFactor &factor);
  Expression getBasis(const KfacFactor &factor) const;
  Expression getEigenvalues(const KfacFactor &factor) const;
  void decompose(const KfacFactor &factor);
  void invert(const KfacUnit &unit, bool alsoInput, bool alsoOutput);
  void invertFactor(const KfacFactor &factor, const Expression &damping);
  Expression getGradient(const TrainedLeaf &leaf) const {
    return read(
        tasks.getVariables().lookupOf(leaf.variable, Purpose::gradient));
  }
  void writeGradient(const Expression &value, const TrainedLeaf &leaf);
  Expression getMatrix(const KfacUnit &unit) const;
  void setMatrix(const KfacUnit &unit, const Expression &matrix);
  Expression divideInBases(const KfacUnit &unit,
                           const Expression &gradient) const;
  Expression getInverse(const KfacFactor &factor) const;
  Expression multiplyByInverses(const KfacUnit &unit,
                                const Expression &gradient) const;
  Expression getInnerProduct(const Expression &first,
                             const Expression &second) const;
  Expression getRows(VariableOp variable, const LayerSide &side) const;
  void precondition(const KfacUnit &unit);
  void preconditionRows(const KfacUnit &unit);
  void preconditionFeatures(const KfacUnit &unit);
  void startTask(StringRef part, int64_t block, ReplicasAttr replicas);
  void buildPart(StringRef part,
                 llvm::function_ref<ReplicasAttr(KfacUnit &)> getRunner,
                 llvm::function_ref<void(KfacUnit &)> each);
  void buildInversions();
  void buildCount(StringRef part);
  void buildScale();

  TaskBuilder &tasks;
  OpBuilder &builder;
  MutableArrayRef<KfacUnit> units;
  FloatType type; ///< the type of factors and inverses
  Type wide;
  std::optional<int64_t> copy;
  /// The counts of the current task, by name and copy.
  std::map<std::pair<std::string, int64_t>, Expression> counts;
  /// The counters of blocks that have their own, by name.
  std::map<std::string, SmallVector<VariableOp>> counters;
  TaskAttr task; ///< the current one
  /// Whether the current task preconditions from rows the units that can be.
  bool takesRows() const {
    return task.getPart().getValue() == parts::kPreconditionRows;
  }
  /// Units whose input factor is shared by layers of other stages: all replicas
  /// of the unit's stage have it, and send it there.
  DenseSet<const KfacUnit *> sent;
  /// Counts of tasks of some replicas, by name, which all replicas add up.
  SmallVector<std::pair<std::string, VariableOp>> countsOfSome;
};

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_KFACTASKS_H
