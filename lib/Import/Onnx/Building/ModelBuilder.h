//===- ModelBuilder.h - The hfta.model under construction -------*- C++ -*-===//

#ifndef HFTA_LIB_IMPORT_ONNX_BUILDING_MODELBUILDER_H
#define HFTA_LIB_IMPORT_ONNX_BUILDING_MODELBUILDER_H

#include "Building/ConstantEvaluator.h"
#include "Hfta/Dialect/Hfta/IR/Modes.h"
#include "Hfta/Dialect/Hfta/IR/OnnxNames.h"
#include "Hfta/Dialect/Hfta/IR/Training.h"
#include "Hfta/Dialect/Hfta/IR/VariableNames.h"
#include "Reading/Graph.h"
#include "Reading/Registry.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::hfta::onnx_import {

/// Imports one checked graph as an hfta.model. Operator handlers use this class
/// through `Node`.
class ModelBuilder {
public:
  ModelBuilder(const Graph &graph, const OnnxImportOptions &options,
               Reporter &reporter, ModuleOp module);

  /// Imports the whole graph. After errors, erases the model and returns null.
  ModelOp run();

  /// Leaves the variables without initial values, for a caller that needs only
  /// the graph.
  void omitWeights() { omitsWeights = true; }

  OpBuilder &getBuilder() { return builder; }
  MLIRContext *getContext() { return builder.getContext(); }
  Reporter &getReporter() { return reporter; }
  const OnnxImportOptions &getOptions() const { return options; }
  int64_t getOpset(const ::onnx::NodeProto &node) const {
    return graph.getOpset(node);
  }

  /// Returns the value called `name`. Creates a variable or constant if `name`
  /// is an initializer. Returns null if the node that defines the value failed.
  Value lookup(StringRef name);
  /// Imports the nodes of a subgraph, such as a branch of an If. Returns false
  /// after an error.
  bool importBranch(const ::onnx::GraphProto &branch);
  void define(StringRef name, Value value) { values[name] = value; }
  /// Returns whether the value is read by a live node or is an output.
  bool isUsed(StringRef name) const { return graph.live.values.contains(name); }

  /// Creates a constant. `exact` are the numbers of which the elements are
  /// roundings (ExactNumbers.h).
  Value createConstant(ElementsAttr elements, Location location,
                       ElementsAttr exact = {});
  /// Marks all constants that the current node creates after this call as
  /// dependent on the batch size.
  void followBatch() { followsBatch = true; }
  /// Returns the op's result if it can be computed at compile time.
  std::optional<EvaluatedConstant> evaluate(Operation *op) {
    return evaluateOp(op, evaluationBudget);
  }

  /// Subtracts `count` from the number of elements that constants made by
  /// handlers, such as indices and weights that follow from sizes, may still
  /// have. Returns false if there are too few left. There is a limit because a
  /// small file can ask for huge constants.
  bool takeElements(int64_t count) { return (elementsLeft -= count) >= 0; }

  /// Returns the variable that holds a batch normalization's running mean or
  /// variance, or null if `name` is any other value.
  VariableOp getStatistics(StringRef name);
  /// Returns whether the running mean or variance called `name` isn't updated
  /// by training, according to the file's metadata.
  bool isFrozenStatistic(StringRef name) const;
  /// Decides in which mode a training computes a batch normalization whose
  /// running statistics are variables, or a dropout. `isTraining` says whether
  /// the node is in training mode in the file, and nothing if it has no mode.
  /// Returns whether the node stays in evaluation mode.
  bool staysInEvaluation(const ::onnx::NodeProto &node, ModalKind kind,
                         std::optional<bool> isTraining);
  /// Creates an op that reads the variable at this point of the program.
  Value readVariable(VariableOp variable, Location location);
  /// Creates an op that writes the variable at this point of the program.
  void writeVariable(VariableOp variable, Value value, Location location);
  /// Returns the variable of a scalar that the trainer sets, such as the seed.
  VariableOp getScalar(Purpose purpose);

  /// Returns whether a value depends on the model's inputs.
  bool isBatched(Value value) const { return batched.contains(value); }
  void setBatched(Value value) { batched.insert(value); }
  /// Returns the batch size for which the file was exported, if this import
  /// replaces it by another one.
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

  // Modes.cpp
  bool hasTrainingNode() const;
  ModeRule getModeByFile(const ::onnx::NodeProto &node,
                         std::optional<bool> isTraining);
  void finishModes();

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
  /// The rule by which a variable is trained or not, for each variable. An
  /// initializer of kind `number` without an entry is a constant.
  llvm::StringMap<TrainingRule> trainingRules;
  ModeChooser modes;
  /// Whether the file was exported for training: some node is in training mode.
  /// Nothing as long as nobody has asked.
  std::optional<bool> isForTraining;
  llvm::DenseSet<Value> batched;
  /// Whether the current node reads data, and whether the constants that it
  /// creates depend on the batch size.
  bool readsData = false, followsBatch = false;
  bool omitsWeights = false;
  std::optional<int64_t> batch, replacedBatch;
  /// The numbers of elements that may still be evaluated at compile time, and
  /// made by takeElements(). They are limited because a small file can ask for
  /// many.
  int64_t evaluationBudget = int64_t(1) << 20;
  int64_t elementsLeft = int64_t(1) << 24;
};

/// Gives the model's parameters and statistics the initial values of untrained
/// layers (Initialization.cpp). Values that aren't parameters according to the
/// file are kept.
void initializeAnew(ModelOp model, const Graph &graph);

/// Marks the constants of an imported model that would have other elements for
/// another batch size, and adds the function that option `addsForwardOfTwo`
/// asks for. If the model may have such constants, this imports the graph once
/// more (CompareBatches.cpp).
void compareBatches(const Graph &graph, const OnnxImportOptions &options,
                    Location file, ModelOp model);

} // namespace mlir::hfta::onnx_import

#endif // HFTA_LIB_IMPORT_ONNX_BUILDING_MODELBUILDER_H
