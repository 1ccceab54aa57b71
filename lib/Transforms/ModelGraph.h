//===- ModelGraph.h - A model's functions as one graph ----------*- C++ -*-===//
//
// The results of `prepare` are arguments of `forward`, and the results of both
// are arguments of `objective`.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_TRANSFORMS_MODELGRAPH_H
#define HFTA_LIB_TRANSFORMS_MODELGRAPH_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::hfta {

class ModelGraph {
public:
  explicit ModelGraph(ModelOp model);

  ModelOp getModel() const { return model; }
  /// All ops, each after those that it depends on.
  ArrayRef<Operation *> getOps() const { return ops; }
  /// The ops that compute the results of `objective`: losses, weights, then
  /// losses of drawn targets and a metric where there are such; null for data
  /// from files. Empty without an objective.
  ArrayRef<Operation *> getResults() const { return results; }
  /// Returns the op that computes a value; null: it is data from files.
  Operation *getProducer(Value value) const {
    if (Operation *op = value.getDefiningOp())
      return op;
    return producerOf.lookup(value);
  }
  /// Calls `visit` with each op that an op depends on.
  template <typename Visit>
  void forEachProducer(Operation *op, Visit visit) const {
    for (Value operand : op->getOperands())
      if (Operation *producer = getProducer(operand))
        visit(producer);
  }

  /// The ops that the loss depends on, in their order.
  SmallVector<Operation *> findLive() const;

  /// Returns the names of values, by origin.
  SmallVector<StringRef> getNames() const;
  /// Finds the ops that compute the value of this name: one, or one per copy
  /// where copies have ops of their own; none if no value has it.
  SmallVector<Operation *> findValues(StringRef name) const;

private:
  /// Adds a function and returns the ops that compute its results.
  SmallVector<Operation *> addFunction(func::FuncOp function);
  void bindByName(func::FuncOp prepare, ArrayRef<Operation *> fields,
                  func::FuncOp forward);

  ModelOp model;
  SmallVector<Operation *> ops, results;
  DenseMap<Value, Operation *> producerOf; ///< for functions' arguments
  llvm::MapVector<StringRef, SmallVector<Operation *>> opsCalled;
};

/// Finds the names of values after which the model can be cut, since each
/// alone, with parameters and labels, carries a training on. They are in the
/// order in which data go through them; between two of them lies a layer with a
/// trained weight.
SmallVector<StringRef> findCutPoints(const ModelGraph &graph);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_MODELGRAPH_H
