//===- StepLoss.h - The loss of a training step -----------------*- C++ -*-===//

#ifndef HFTA_LIB_TRANSFORMS_DIFFERENTIATE_STEPLOSS_H
#define HFTA_LIB_TRANSFORMS_DIFFERENTIATE_STEPLOSS_H

#include "Tasks/TaskBuilder.h"

namespace mlir::hfta {

/// A term of the loss, in one micro-batch.
struct StepTerm {
  std::string name; ///< empty if the loss has a single term
  LossDivisor divisor;
  int64_t count; ///< number of the elements of a step
  /// This micro-batch's share of the batch's mean, or of the sum of losses that
  /// a step divides by the sum of weights.
  Value share;
  /// The sum of this micro-batch's divisors; null if all divisors are one.
  Value weightSum;
};

/// Builds the loss of one micro-batch, and the values at which its backward
/// begins.
class StepLoss {
public:
  explicit StepLoss(TaskBuilder &tasks)
      : tasks(tasks), builder(tasks.getBuilder()) {}

  /// Builds all terms, and adds them and their sum to the step's results.
  void build(const Objective &objective);

  ArrayRef<StepTerm> getTerms() const { return terms; }
  /// Returns the ops that add to the step's results.
  const DenseSet<Operation *> &getSums() const { return sums; }
  /// Returns the ops among these that add up the terms.
  const DenseSet<Operation *> &getTotal() const { return total; }
  /// Returns the loss for targets that are sampled from the model's outputs
  /// (K-FAC with `fisher = sampled`); null in other jobs.
  Value getSampled() const { return sampled; }

  /// Returns the value at which the backward begins: the sum of losses if
  /// `mean` is this sum divided by the sum of weights, else `mean`.
  Value getDifferentiated(Value mean) const;
  /// Builds the gradient with respect to getDifferentiated(mean), or returns
  /// null if it is one. It is zero if no loss counts. With `isScaled`, it is
  /// multiplied by the job's loss scale. `term` is the number of the term.
  Value buildSeed(Value mean, int64_t term, bool isScaled);

private:
  Value readWeight(int64_t term, Type type);
  LossDivisor getDivisor(Value divisors) const;
  Value buildShare(Value losses, const Objective::Term &values, StepTerm &term);
  void accumulate(Purpose purpose, const StepTerm &term, Value value);
  void keepWeightSum(const StepTerm &term);
  void buildTotal();
  void noteSums(Operation *last, DenseSet<Operation *> &noted);

  TaskBuilder &tasks;
  OpBuilder &builder;
  SmallVector<StepTerm, 1> terms;
  DenseSet<Operation *> sums, total;
  Value sampled;
};

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_DIFFERENTIATE_STEPLOSS_H
