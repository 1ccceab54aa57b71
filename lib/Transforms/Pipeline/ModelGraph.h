//===- ModelGraph.h - A model's functions as one graph ----------*- C++ -*-===//
//
// The results of `prepare` are arguments of `forward`, and the results of both
// are arguments of `objective`.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_TRANSFORMS_PIPELINE_MODELGRAPH_H
#define HFTA_LIB_TRANSFORMS_PIPELINE_MODELGRAPH_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::hfta {

/// The ops of a model's functions, linked through the functions' arguments and
/// results.
class ModelGraph {
public:
  explicit ModelGraph(ModelOp model);

  ModelOp getModel() const { return model; }
  /// Returns all ops, each after those on which it depends.
  ArrayRef<Operation *> getOps() const { return ops; }
  /// Returns the ops that compute the results of `objective`: losses, weights,
  /// then losses of drawn targets and values of metrics, if there are such. An
  /// entry is null if the result is data from files. Empty without an
  /// objective.
  ArrayRef<Operation *> getResults() const { return results; }
  /// Returns the results that are losses and weights of all terms.
  ArrayRef<Operation *> getLosses() const {
    return getResults().take_front(lossCount);
  }
  /// Returns the op that computes a value, or null if it is data from files.
  Operation *getProducer(Value value) const {
    if (Operation *op = value.getDefiningOp())
      return op;
    return producerOf.lookup(value);
  }
  /// Calls `visit` with each op on which an op depends directly.
  template <typename Visit>
  void forEachProducer(Operation *op, Visit visit) const {
    for (Value operand : op->getOperands())
      if (Operation *producer = getProducer(operand))
        visit(producer);
  }

  /// Returns the ops on which the loss depends, in the order of `getOps`.
  SmallVector<Operation *> findLive() const;

  /// Returns the names of values, which are noted in their ops' locations.
  SmallVector<StringRef> getNames() const;
  /// Finds the ops that compute the value of this name: one, or one per copy if
  /// copies have ops of their own. Returns none if no value has the name.
  SmallVector<Operation *> findValues(StringRef name) const;

private:
  /// Adds a function and returns the ops that compute its results.
  SmallVector<Operation *> addFunction(func::FuncOp function);
  void bindByName(func::FuncOp prepare, ArrayRef<Operation *> fields,
                  func::FuncOp forward);

  ModelOp model;
  SmallVector<Operation *> ops, results;
  size_t lossCount = 0;
  DenseMap<Value, Operation *> producerOf; ///< for functions' arguments
  llvm::MapVector<StringRef, SmallVector<Operation *>> opsCalled;
};

/// Finds the names of values after which the model can be cut: of all values
/// before such a cut, later ops use only this one, besides parameters and
/// labels. The names are in the order in which data flow through the values.
/// Between two of them is a layer with a trained weight.
SmallVector<StringRef> findCutPoints(const ModelGraph &graph);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_PIPELINE_MODELGRAPH_H
