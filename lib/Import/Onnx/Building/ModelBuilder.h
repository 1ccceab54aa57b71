//===- ModelBuilder.h - The hfta.model under construction -------*- C++ -*-===//

#ifndef HFTA_LIB_IMPORT_ONNX_BUILDING_MODELBUILDER_H
#define HFTA_LIB_IMPORT_ONNX_BUILDING_MODELBUILDER_H

#include "Building/ConstantEvaluator.h"
#include "Hfta/Dialect/Hfta/IR/Training.h"
#include "Hfta/Dialect/Hfta/IR/VariableNames.h"
#include "Reading/Graph.h"
#include "Reading/Registry.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::hfta::onnx_import {

/// Imports one checked graph. Nodes see it through `Node`.
class ModelBuilder {
public:
  ModelBuilder(const Graph &graph, const OnnxImportOptions &options,
               Reporter &reporter, ModuleOp module);

  /// The whole import; null after errors. What was built is erased then.
  ModelOp run();

  OpBuilder &getBuilder() { return builder; }
  MLIRContext *getContext() { return builder.getContext(); }
  Reporter &getReporter() { return reporter; }
  const OnnxImportOptions &getOptions() const { return options; }
  int64_t getOpset() const { return graph.opset; }

  /// The value called `name`, null if what defines it failed.
  Value lookup(StringRef name);
  /// Imports the nodes of a graph inside of a node; false after an error.
  bool importBranch(const ::onnx::GraphProto &branch);
  void define(StringRef name, Value value) { values[name] = value; }
  /// True if a node or the caller uses the value.
  bool isUsed(StringRef name) const { return usedNames.contains(name); }

  /// `exact`: the numbers that the elements are rounded from.
  Value createConstant(ElementsAttr elements, Location location,
                       ElementsAttr exact = {});
  /// Constants that the present node makes from now on follow from the size of
  /// the batch.
  void followBatch() { followsBatch = true; }
  /// The op's result, if it is to be computed now.
  std::optional<EvaluatedConstant> evaluate(Operation *op) {
    return evaluateOp(op, evaluationBudget);
  }

  /// Whether constants of so many more elements may be made up: indices and
  /// weights that follow from sizes. A small file can ask for many.
  bool takeElements(int64_t count) { return (elementsLeft -= count) >= 0; }

  /// A batch normalization's running mean or variance: the variable that holds
  /// it, or null if `name` is any other value.
  VariableOp getStatistics(StringRef name);
  /// The variable's value at this point.
  Value readVariable(VariableOp variable, Location location);
  /// Replaces the variable's value at this point.
  void writeVariable(VariableOp variable, Value value, Location location);
  /// A scalar that the trainer fills, such as the seed.
  VariableOp getScalar(Purpose purpose);

  /// Whether a value depends on the model's inputs.
  bool isBatched(Value value) const { return batched.contains(value); }
  void setBatched(Value value) { batched.insert(value); }
  /// The batch size that the file fixes and this import changes.
  std::optional<int64_t> getReplacedBatch() const { return replacedBatch; }
  /// The size of axis 0 of every input, if they agree.
  std::optional<int64_t> getBatch() const { return batch; }

private:
  // Ports.cpp
  void bindInputs();
  bool bindInput(const ::onnx::ValueInfoProto &input,
                 llvm::StringMap<int64_t> &symbols);
  std::optional<int64_t> bindAxis(const ::onnx::ValueInfoProto &input,
                                  unsigned axis,
                                  llvm::StringMap<int64_t> &symbols);
  bool bindConstant(const ::onnx::ValueInfoProto &input);
  bool collectSymbols(llvm::StringMap<int64_t> &symbols);
  bool checkSampleShape(const ::onnx::ValueInfoProto &input);
  void checkOptionNames();
  void chooseReplacedBatch();
  bool finishOutputs();
  bool checkOutputType(const ::onnx::ValueInfoProto &output, Value value);
  bool checkOutputBatch(const ::onnx::ValueInfoProto &output, Value value);

  // ModelBuilder.cpp
  bool checkOperands(const ::onnx::NodeProto &node, const OpHandler &handler);
  void importNode(const ::onnx::NodeProto &node);
  void removeUnused();

  // Trained.cpp
  void chooseTrained();
  TrainingRule chooseRule(const InitializerUse &use,
                          const TrainingClauses &clauses,
                          const llvm::StringSet<> &layerOperands) const;

  // Variables.cpp
  VariableOp getVariable(const InitializerUse &use);
  Value materialize(StringRef name, const InitializerUse &use);

  const Graph &graph;
  const OnnxImportOptions &options;
  Reporter &reporter;
  OpBuilder builder;
  ModuleOp module;
  ModelOp model;
  func::FuncOp forward;
  llvm::StringMap<Value> values;
  llvm::StringSet<> usedNames;
  llvm::StringMap<VariableOp> variables;
  /// By variable: what decides whether it is trained. Numbers without an entry
  /// are constants.
  llvm::StringMap<TrainingRule> trainingRules;
  llvm::DenseSet<Value> batched;
  /// Of the node that is being imported: whether it reads data, and whether its
  /// constants follow from the size of the batch.
  bool readsData = false, followsBatch = false;
  std::optional<int64_t> batch, replacedBatch;
  /// Elements that may still be computed now: a small file can ask for many.
  int64_t evaluationBudget = int64_t(1) << 20;
  int64_t elementsLeft = int64_t(1) << 24;
};

/// Gives the model's parameters and statistics the initial values of untrained
/// layers (Initialization.cpp). What the file doesn't hold to be parameters
/// keeps its values.
void initializeAnew(ModelOp model, const Graph &graph);

} // namespace mlir::hfta::onnx_import

#endif // HFTA_LIB_IMPORT_ONNX_BUILDING_MODELBUILDER_H
