//===- TaskBuilder.h - Variables and functions of a program -----*- C++ -*-===//
//
// Shared by the builders of tasks: declares module-level variables and task
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

/// A trained variable as the program sees it: arrayed, or one copy of it where
/// copies are compiled alone; or a variable that one copy alone has.
struct TrainedLeaf {
  VariableOp variable;
  std::optional<int64_t> copy;
  bool operator==(const TrainedLeaf &other) const {
    return variable == other.variable && copy == other.copy;
  }
};

/// What @objective returns, an element of each of the batch's losses.
struct Objective {
  Value losses, weights;
  Value drawnLosses; ///< beside targets that are drawn; null where none are
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
  /// A value that one task leaves for others, of a symbol of its own.
  VariableOp declareCarried(StringRef symbol, RankedTensorType type, Role role);
  /// What belongs to another variable, of its copies; declared where it is
  /// asked for first, as each copy may ask that is compiled alone.
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
  /// Of a function whose ops have been dealt out to others.
  void eraseTask(func::FuncOp function) { symbols.erase(function); }
  /// Of a carried variable that no task reads or writes any more.
  void eraseCarried(VariableOp variable) { symbols.erase(variable); }

  Value read(VariableOp variable, std::optional<int64_t> copy = std::nullopt);
  Value read(Purpose purpose, std::optional<int64_t> copy = std::nullopt);
  void write(Value value, VariableOp variable,
             std::optional<int64_t> copy = std::nullopt);

  /// A constant of one value everywhere.
  Value splat(ArrayRef<int64_t> shape, Type elementType, double value);
  Value broadcastScalar(Value scalar, ArrayRef<int64_t> shape);
  Value castTo(Value value, Type elementType);
  /// Sum over all axes.
  Value sumAll(Value value);
  /// variable += value, rounded once, to the variable's element type.
  void accumulate(Value value, VariableOp variable,
                  std::optional<int64_t> copy = std::nullopt);

  RankedTensorType scalarType(Type elementType, bool arrayed);
  FloatType getFloatType(StringRef name);

  /// Clones a single-block function's body at the insertion point; returns
  /// what it returns. Modal ops are set to training or inference; only in
  /// training do writes take place.
  SmallVector<Value> inlineFunction(func::FuncOp function, ValueRange arguments,
                                    bool training);
  /// The same of @objective.
  Objective inlineObjective(func::FuncOp objective, ValueRange arguments,
                            bool training);
  /// The same with modal ops as they are, as an inference binary executes a
  /// graph; nothing is written.
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

/// The name of a function's argument or result: `hfta.name`, or its number.
std::string getPortName(func::FuncOp function, unsigned index, bool isResult);

/// The name of an op's origin in the model, empty if it has none.
StringRef getOriginName(Operation *op);

/// Whether a step forms sums of groups of its micro-batches in a variable; some
/// results are computed when these have been added up.
bool isFormedByGroups(VariableOp variable);

/// init of all blocks that have some: parameters, statistics, optimizer state
/// and gradients.
void buildInitTasks(TaskBuilder &tasks);
/// norm and update of one block.
void buildUpdateTasks(TaskBuilder &tasks, int64_t block,
                      ArrayRef<TrainedLeaf> leaves);
/// clip, of a job that clips: after the norms of all blocks.
void buildClipTask(TaskBuilder &tasks);
/// report, where the loss is still to be divided by its weights.
void buildReportTask(TaskBuilder &tasks);
/// The undivided training step: forward, backward and statistics of one
/// micro-batch, of so many blocks.
LogicalResult buildTrainingStep(TaskBuilder &tasks, ModelOp model,
                                int64_t blocks);
/// The undivided evaluation of one batch, where the job trains, and inference.
void buildInference(TaskBuilder &tasks, ModelOp model, int64_t blocks);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_TASKBUILDER_H
