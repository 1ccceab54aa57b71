//===- TaskBuilder.h - Variables and functions of a program -----*- C++ -*-===//
//
// Used by all builders of tasks: declares module-level variables and task
// functions, and reads and writes them.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_TRANSFORMS_TASKBUILDER_H
#define HFTA_LIB_TRANSFORMS_TASKBUILDER_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Dialect/Hfta/IR/Job.h"
#include "Hfta/Dialect/Hfta/IR/TaskNames.h"
#include "Hfta/Dialect/Hfta/IR/VariableIndex.h"
#include "Hfta/Dialect/Hfta/IR/VariableNames.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::hfta {

/// A trained variable of the program: arrayed, or one copy of it where copies
/// are compiled alone; or a variable that one copy alone has.
struct TrainedLeaf {
  VariableOp variable;
  std::optional<int64_t> copy;
  bool operator==(const TrainedLeaf &other) const {
    return variable == other.variable && copy == other.copy;
  }
};

/// The results of @objective, with an element for each of the batch's losses.
struct Objective {
  Value losses, weights;
  Value divisors;    ///< the mean divides by their sum; often the weights
  Value drawnLosses; ///< for targets that are drawn; null where none are
  Value metric;      ///< null where there is none
};

class TaskBuilder {
public:
  TaskBuilder(ModuleOp module, const Job &job);

  ModuleOp getModule() { return module; }
  const Job &getJob() const { return job; }
  MLIRContext *getContext() { return builder.getContext(); }
  OpBuilder &getBuilder() { return builder; }
  Location getLoc() { return module.getLoc(); }

  /// Declares a variable of the compiler. Declaring two of one purpose, or of
  /// one symbol, ends the program with an internal error.
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
  /// Declares a variable for a value that one task leaves for others.
  VariableOp declareCarried(StringRef symbol, RankedTensorType type, Role role);
  /// Returns the variable that serves `variable` for this purpose and name. It
  /// is declared, for the same copies, if it doesn't exist yet: without fusion
  /// several copies may ask for the same one.
  VariableOp declareOf(VariableOp variable, Purpose purpose, StringRef name,
                       RankedTensorType type, int64_t block);
  VariableOp lookup(StringRef symbol) {
    return symbols.lookup<VariableOp>(symbol);
  }
  const VariableIndex &getVariables() const { return variables; }
  /// Moves a model's variable to the module.
  VariableOp adopt(VariableOp variable);

  /// Starts a task's function; its body is built at the builder's insertion
  /// point, in front of the return.
  func::FuncOp startTask(StringRef part, int64_t block,
                         ReplicasAttr replicas = {});
  /// Erases a function whose ops have been distributed to others.
  void eraseTask(func::FuncOp function) { symbols.erase(function); }
  /// Erases a carried variable that no task reads or writes any more.
  void eraseCarried(VariableOp variable) { symbols.erase(variable); }

  Value read(VariableOp variable, std::optional<int64_t> copy = std::nullopt);
  Value read(Purpose purpose, std::optional<int64_t> copy = std::nullopt);
  void write(Value value, VariableOp variable,
             std::optional<int64_t> copy = std::nullopt);

  /// Builds a constant with one value everywhere.
  Value splat(ArrayRef<int64_t> shape, Type elementType, double value);
  Value broadcastScalar(Value scalar, ArrayRef<int64_t> shape);
  Value castTo(Value value, Type elementType);
  /// Builds the sum over all axes.
  Value sumAll(Value value);
  /// Builds variable += value, rounded once, to the variable's element type.
  void accumulate(Value value, VariableOp variable,
                  std::optional<int64_t> copy = std::nullopt);

  RankedTensorType scalarType(Type elementType, bool arrayed);
  FloatType getFloatType(StringRef name);

  /// Clones a single-block function's body at the insertion point; returns the
  /// function's results. Modal ops are set to training or inference; writes
  /// take place in training alone.
  SmallVector<Value> inlineFunction(func::FuncOp function, ValueRange arguments,
                                    bool training);
  /// Clones the body of @objective in the same way.
  Objective inlineObjective(func::FuncOp objective, ValueRange arguments,
                            bool training);
  /// Clones a body with modal ops as they are, as an inference binary executes
  /// a graph; nothing is written.
  SmallVector<Value> inlineAsWritten(func::FuncOp function,
                                     ValueRange arguments);

private:
  void insert(VariableOp variable);
  SmallVector<Value> inlineBody(func::FuncOp function, ValueRange arguments,
                                std::optional<bool> training);

  ModuleOp module;
  const Job &job;
  SymbolTable symbols;
  VariableIndex variables;
  OpBuilder builder;
};

/// Returns the name of a function's argument or result: `hfta.name`, or its
/// number.
std::string getPortName(func::FuncOp function, unsigned index, bool isResult);

/// Returns the name of an op's origin in the model, empty if it has none.
StringRef getOriginName(Operation *op);

/// Whether a step forms sums of groups of its micro-batches in a variable; some
/// results are computed after these have been added up, and aren't.
bool isFormedByGroups(VariableOp variable);

/// Builds init of all blocks that have some: of parameters, statistics,
/// optimizer state and gradients.
void buildInitTasks(TaskBuilder &tasks);
/// Builds norm and update of one block.
void buildUpdateTasks(TaskBuilder &tasks, int64_t block,
                      ArrayRef<TrainedLeaf> leaves);
/// Builds clip, in a job that clips: after the norms of all blocks.
void buildClipTask(TaskBuilder &tasks);
/// Builds report, where the loss must still be divided by its weights.
void buildReportTask(TaskBuilder &tasks);
/// Builds the undivided training step: forward, backward and statistics of one
/// micro-batch, in `blocks` blocks.
LogicalResult buildTrainingStep(TaskBuilder &tasks, ModelOp model,
                                int64_t blocks);
/// Builds the undivided evaluation of one batch, where the job trains, and
/// inference.
void buildInference(TaskBuilder &tasks, ModelOp model, int64_t blocks);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_TASKBUILDER_H
