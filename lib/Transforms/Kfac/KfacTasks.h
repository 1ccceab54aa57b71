//===- KfacTasks.h - From moments to preconditioned gradients ---*- C++ -*-===//
//
// For a layer, let A be the mean of a aᵀ over the rows a of its input, and G
// the sum of g gᵀ over the rows g of its output gradient, times the number of
// terms that the loss is the mean of. Both are running means over steps. With
// damping λ, learning rate lr, and κ the option `kl_clip`, inverses
// precondition as follows:
//
//   π = √(mean diagonal of A / mean diagonal of G)
//   V = (G + √λ/π I)⁻¹ Grad (A + √λ·π I)⁻¹
//   ν = min(1, √(κ / (lr² |Σ ⟨V, Grad⟩|)))
//
// The sum is over all layers, and the optimizer gets ν V. docs/kfac.md has the
// formulas for eigenbases, too. Sources: Martens and Grosse, ICML 2015
// (factors, π); Grosse and Martens, "A Kronecker-factored approximate Fisher
// matrix for convolution layers", ICML 2016; Ba, Grosse and Martens,
// "Distributed second-order optimization using Kronecker-factored
// approximations", ICLR 2017 (ν).
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_TRANSFORMS_KFAC_KFACTASKS_H
#define HFTA_LIB_TRANSFORMS_KFAC_KFACTASKS_H

#include "Hfta/Dialect/Hfta/IR/Expression.h"
#include "Kfac/KfacUnits.h"

#include <map>

namespace mlir::hfta {

/// Builds the tasks curvature, invert, precondition and scale, and their
/// variables.
class KfacTasks {
public:
  KfacTasks(TaskBuilder &tasks, MutableArrayRef<KfacUnit> units)
      : tasks(tasks), builder(tasks.getBuilder()), units(units),
        type(tasks.getFloatType(tasks.getJob().getInversionType())),
        wide(builder.getF64Type()) {}

  void build();

private:
  // Declarations of variables.
  VariableOp declareState(const KfacUnit &unit, StringRef name,
                          ArrayRef<int64_t> shape, Type elementType,
                          ReplicasAttr holders);
  void findSent();
  void declareFactor(KfacUnit &unit, KfacFactor &factor, StringRef name);
  void declareVariables();
  VariableOp declareCountOf(StringRef name);

  // Formulas for the copy, or the copies, of the current unit.
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
  /// Whether invert tasks compute an inverse or eigenvectors of the factor.
  /// Eigenvectors aren't computed again for another unit's factor, and a
  /// diagonal factor needs none.
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
  /// The copy that the current unit is for; without a value: all copies.
  std::optional<int64_t> copy;
  /// The counts of the current task, by name and copy.
  std::map<std::pair<std::string, int64_t>, Expression> counts;
  /// In a job of several stages, the counters of single blocks, by the name of
  /// the count.
  std::map<std::string, SmallVector<VariableOp>> counters;
  TaskAttr task; ///< the task that is being built
  /// Whether the current task preconditions units from their rows, where that
  /// is possible.
  bool takesRows() const {
    return task.getPart().getValue() == parts::kPreconditionRows;
  }
  /// Units whose input factor layers of other stages share. All replicas of the
  /// unit's stage have the factor, and send it to these stages.
  DenseSet<const KfacUnit *> sent;
  /// Counts of tasks that some replicas run, each as the count's name and a
  /// variable. All replicas add them up.
  SmallVector<std::pair<std::string, VariableOp>> countsOfSome;
};

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_KFAC_KFACTASKS_H
