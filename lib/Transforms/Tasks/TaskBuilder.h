//===- TaskBuilder.h - Variables and functions of a program -----*- C++ -*-===//
//
// All builders of tasks use this class to declare module-level variables and
// the functions of tasks, and to build reads and writes.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_TRANSFORMS_TASKS_TASKBUILDER_H
#define HFTA_LIB_TRANSFORMS_TASKS_TASKBUILDER_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Dialect/Hfta/IR/VariableIndex.h"
#include "Hfta/Dialect/Hfta/IR/VariableNames.h"
#include "Hfta/Dialect/Hfta/Job/Job.h"
#include "Hfta/Dialect/Hfta/Job/LossTerms.h"
#include "Hfta/Support/TaskNames.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::hfta {

/// A trained variable of the program: an arrayed one (`copy` is empty), or one
/// copy of it, or a variable that only one copy has.
struct TrainedLeaf {
  VariableOp variable;
  std::optional<int64_t> copy;
  bool operator==(const TrainedLeaf &other) const {
    return variable == other.variable && copy == other.copy;
  }
};

/// The values computed by @objective.
struct Objective {
  /// A term of the loss, with an element for each of the batch's losses.
  struct Term {
    Value losses, weights;
    Value divisors; ///< the mean is divided by their sum; often the weights
  };
  SmallVector<Term, 1> terms; ///< those of getLossTerms(), or the only one
  Value drawnLosses; ///< losses for drawn targets; null if none are drawn
  /// The values of each of Job::metrics, for the elements of the first term.
  struct Metric {
    Value labels;  ///< in a mean, its values
    Value guesses; ///< as of MetricColumn; null in a mean
  };
  SmallVector<Metric, 1> metrics;
};

class TaskBuilder {
public:
  TaskBuilder(ModuleOp module, const Job &job);

  ModuleOp getModule() { return module; }
  const Job &getJob() const { return job; }
  /// Returns the terms of the loss; empty if it has one without a weight.
  const std::vector<LossTerm> &getLossTerms() const { return lossTerms; }
  MLIRContext *getContext() { return builder.getContext(); }
  OpBuilder &getBuilder() { return builder; }
  Location getLoc() { return module.getLoc(); }

  /// Declares a variable of the compiler. It is an internal error, which ends
  /// the program, to declare two variables of one purpose or symbol.
  VariableOp declare(PurposeAttr purpose, RankedTensorType type,
                     Attribute initial = {}) {
    return declare(purpose, purpose.makeSymbol(), type, initial);
  }
  VariableOp declare(PurposeAttr purpose, StringRef symbol,
                     RankedTensorType type, Attribute initial = {});
  VariableOp declare(Purpose purpose, RankedTensorType type,
                     Attribute initial = {}) {
    return declare(PurposeAttr::get(getContext(), purpose), type, initial);
  }
  /// Declares a variable in which one task leaves a value for others.
  VariableOp declareCarried(StringRef symbol, RankedTensorType type, Role role);
  /// Returns the variable that serves `variable` for this purpose and name. If
  /// there is none yet, declares it for the same copies. Without fusion,
  /// several copies may ask for the same variable.
  VariableOp declareOf(VariableOp variable, Purpose purpose, StringRef name,
                       RankedTensorType type, int64_t block);
  VariableOp lookup(StringRef symbol) {
    return symbols.lookup<VariableOp>(symbol);
  }
  const VariableIndex &getVariables() const { return variables; }
  /// Clones a model's variable into the module, and returns the clone.
  VariableOp adopt(VariableOp variable);

  /// Starts a task's function. Sets the insertion point of the builder to the
  /// end of its body, before the return.
  func::FuncOp startTask(StringRef part, int64_t block,
                         ReplicasAttr replicas = {});
  /// Erases a function whose ops have been distributed to others.
  void eraseTask(func::FuncOp function) { symbols.erase(function); }
  /// Erases a carried variable that no task reads or writes any longer.
  void eraseCarried(VariableOp variable) { symbols.erase(variable); }

  /// Builds a read of a variable, or of one copy of it. With `only`, which is
  /// ignored if the result is shared, these copies alone use it.
  Value read(VariableOp variable, std::optional<int64_t> copy = std::nullopt,
             DenseI64ArrayAttr only = {});
  Value read(Purpose purpose, std::optional<int64_t> copy = std::nullopt);
  /// Builds a write of a variable, or of one copy of it, or of the copies
  /// `only` of an arrayed one.
  void write(Value value, VariableOp variable,
             std::optional<int64_t> copy = std::nullopt,
             DenseI64ArrayAttr only = {});

  /// Builds a constant whose elements all equal `value`.
  Value splat(ArrayRef<int64_t> shape, Type elementType, double value);
  Value broadcastScalar(Value scalar, ArrayRef<int64_t> shape);
  Value castTo(Value value, Type elementType);
  /// Builds the sum over all axes.
  Value sumAll(Value value);
  /// Builds variable += value. The sum is rounded once, to the variable's
  /// element type.
  void accumulate(Value value, VariableOp variable,
                  std::optional<int64_t> copy = std::nullopt);

  RankedTensorType scalarType(Type elementType, bool arrayed);
  FloatType getFloatType(StringRef name);

  /// Clones the body of a single-block function at the insertion point, and
  /// returns the function's results. Sets modal ops to training or inference.
  /// Writes are only cloned in training.
  SmallVector<Value> inlineFunction(func::FuncOp function, ValueRange arguments,
                                    bool training);
  /// Clones the body of @objective like inlineFunction().
  Objective inlineObjective(func::FuncOp objective, ValueRange arguments,
                            bool training);
  /// Clones a body with modal ops unchanged and without writes, as an inference
  /// binary executes a graph.
  SmallVector<Value> inlineAsWritten(func::FuncOp function,
                                     ValueRange arguments);

private:
  void insert(VariableOp variable);
  Value choose(ByModeOp op, bool training, IRMapping &mapping);
  SmallVector<Value> inlineBody(func::FuncOp function, ValueRange arguments,
                                std::optional<bool> training);

  ModuleOp module;
  const Job &job;
  std::vector<LossTerm> lossTerms;
  SymbolTable symbols;
  VariableIndex variables;
  OpBuilder builder;
};

/// Returns the name of a function's argument or result: attribute `hfta.name`
/// or, without it, "input" or "output" with its number.
std::string getPortName(func::FuncOp function, unsigned index, bool isResult);

/// Returns the read of which a value is the result, except for casts; null if
/// there is none.
ReadOp findRead(Value value);

/// Returns the name of an op's origin in the model, which is noted in its
/// location; empty if it has none.
StringRef getOriginName(Operation *op);

/// Returns whether a step forms a sum in the variable for each group of its
/// micro-batches. Results that are computed after these sums have been added up
/// don't have any.
bool isFormedByGroups(VariableOp variable);

/// Builds the init tasks, for all blocks with variables that need initial
/// values: parameters, statistics, optimizer state and gradients.
void buildInitTasks(TaskBuilder &tasks);
/// Returns the variable of a trained variable's running average, and declares
/// it if there is none yet. It has the trained variable's type, or f32 if that
/// is wider.
VariableOp declareAverage(TaskBuilder &tasks, VariableOp variable);
/// Builds the norm and update tasks of one block.
void buildUpdateTasks(TaskBuilder &tasks, int64_t block,
                      ArrayRef<TrainedLeaf> leaves);
/// Builds the clip task of a job that needs the norm of all gradients, or of
/// those of a turn, an index into Job::turns; -1: of all. Must be called after
/// the norm tasks of all blocks were built.
void buildClipTask(TaskBuilder &tasks, int64_t turn = -1);
/// Builds the report task, if the loss must still be divided by the sum of its
/// weights.
void buildReportTask(TaskBuilder &tasks);
/// Builds the undivided training step: forward, backward and statistics of one
/// micro-batch, in `blocks` blocks. Fails after reporting errors.
LogicalResult buildTrainingStep(TaskBuilder &tasks, ModelOp model,
                                int64_t blocks);
/// Builds the undivided inference and, if the job trains, the undivided
/// evaluation of one batch.
void buildInference(TaskBuilder &tasks, ModelOp model, int64_t blocks);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_TASKS_TASKBUILDER_H
