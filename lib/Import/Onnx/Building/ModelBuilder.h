//===- ModelBuilder.h - The hfta.model under construction -------*- C++ -*-===//

#ifndef HFTA_LIB_IMPORT_ONNX_BUILDING_MODELBUILDER_H
#define HFTA_LIB_IMPORT_ONNX_BUILDING_MODELBUILDER_H

#include "Building/ConstantEvaluator.h"
#include "Hfta/Dialect/Hfta/IR/OnnxNames.h"
#include "Hfta/Dialect/Hfta/IR/Training.h"
#include "Hfta/Dialect/Hfta/IR/VariableNames.h"
#include "Reading/Graph.h"
#include "Reading/Registry.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::hfta::onnx_import {

/// Imports one checked graph. Nodes use it through `Node`.
class ModelBuilder {
public:
  ModelBuilder(const Graph &graph, const OnnxImportOptions &options,
               Reporter &reporter, ModuleOp module);

  /// Runs the whole import. Returns null after errors, and erases what was
  /// built.
  ModelOp run();

  /// Leaves out the weights: only the graph is of interest.
  void omitWeights() { omitsWeights = true; }

  OpBuilder &getBuilder() { return builder; }
  MLIRContext *getContext() { return builder.getContext(); }
  Reporter &getReporter() { return reporter; }
  const OnnxImportOptions &getOptions() const { return options; }
  int64_t getOpset(const ::onnx::NodeProto &node) const {
    return graph.getOpset(node);
  }

  /// Returns the value called `name`, null if the node that defines it failed.
  Value lookup(StringRef name);
  /// Imports the nodes of a graph inside of a node; returns false after an
  /// error.
  bool importBranch(const ::onnx::GraphProto &branch);
  void define(StringRef name, Value value) { values[name] = value; }
  /// Returns whether a node or the caller uses the value.
  bool isUsed(StringRef name) const { return graph.live.values.contains(name); }

  /// `exact`: the numbers that the elements are rounded from.
  Value createConstant(ElementsAttr elements, Location location,
                       ElementsAttr exact = {});
  /// Marks the constants that the current node makes from now on as dependent
  /// on the size of the batch.
  void followBatch() { followsBatch = true; }
  /// Returns the op's result if it can be computed now.
  std::optional<EvaluatedConstant> evaluate(Operation *op) {
    return evaluateOp(op, evaluationBudget);
  }

  /// Returns whether constants of `count` more elements may be made, such as
  /// indices and weights that follow from sizes. A small file can ask for many.
  bool takeElements(int64_t count) { return (elementsLeft -= count) >= 0; }

  /// Returns the variable that holds a batch normalization's running mean or
  /// variance, or null if `name` is any other value.
  VariableOp getStatistics(StringRef name);
  /// Returns whether the file says that a training leaves the running mean or
  /// variance called `name` as it is.
  bool isFrozenStatistic(StringRef name) const;
  /// Returns the variable's value at this point.
  Value readVariable(VariableOp variable, Location location);
  /// Replaces the variable's value at this point.
  void writeVariable(VariableOp variable, Value value, Location location);
  /// Returns a scalar that the trainer fills, such as the seed.
  VariableOp getScalar(Purpose purpose);

  /// Returns whether a value depends on the model's inputs.
  bool isBatched(Value value) const { return batched.contains(value); }
  void setBatched(Value value) { batched.insert(value); }
  /// Returns the batch size that the file fixes and this import changes.
  std::optional<int64_t> getReplacedBatch() const { return replacedBatch; }
  /// Returns the size of axis 0 of every input, if they agree.
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
  bool isParameterNode(const ::onnx::NodeProto &node) const;
  void importNode(const ::onnx::NodeProto &node);
  void removeUnused();

  // Trained.cpp
  void chooseTrained();
  void noteDoubts(SmallVector<StringRef> constants,
                  SmallVector<StringRef> doubtful);
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
  llvm::StringMap<VariableOp> variables;
  /// The rule that decides whether a variable is trained. Numbers without an
  /// entry are constants.
  llvm::StringMap<TrainingRule> trainingRules;
  llvm::DenseSet<Value> batched;
  /// Whether the current node reads data, and whether its constants depend on
  /// the size of the batch.
  bool readsData = false, followsBatch = false;
  bool omitsWeights = false;
  std::optional<int64_t> batch, replacedBatch;
  /// Elements that may still be computed now: a small file can ask for many.
  int64_t evaluationBudget = int64_t(1) << 20;
  int64_t elementsLeft = int64_t(1) << 24;
};

/// Gives the model's parameters and statistics the initial values of untrained
/// layers (Initialization.cpp). Values that aren't parameters according to the
/// file are kept.
void initializeAnew(ModelOp model, const Graph &graph);

/// Marks the constants of an imported model that would have other elements for
/// another batch size, and adds what the options ask for. Imports the graph
/// once more for this, if it has such constants at all (CompareBatches.cpp).
void compareBatches(const Graph &graph, const OnnxImportOptions &options,
                    Location file, ModelOp model);

} // namespace mlir::hfta::onnx_import

#endif // HFTA_LIB_IMPORT_ONNX_BUILDING_MODELBUILDER_H
