//===- ModelGraph.h - A model's functions as one graph ----------*- C++ -*-===//
//
// What `prepare` returns goes to `forward`, and what both return to
// `objective`.
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
  /// Those of what `objective` returns: losses, weights, then losses of drawn
  /// targets and a metric where there are such; null for what the files hold.
  /// Empty without an objective.
  ArrayRef<Operation *> getResults() const { return results; }
  /// Null: what the files hold.
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

  /// Names of values, by origin.
  SmallVector<StringRef> getNames() const;
  /// The ops that compute the value of this name: one, or, where copies have
  /// ops of their own, one a copy; none if no value has it.
  SmallVector<Operation *> findValues(StringRef name) const;

private:
  /// Returns the ops of what the function returns.
  SmallVector<Operation *> addFunction(func::FuncOp function);
  void bindByName(func::FuncOp prepare, ArrayRef<Operation *> fields,
                  func::FuncOp forward);

  ModelOp model;
  SmallVector<Operation *> ops, results;
  DenseMap<Value, Operation *> producerOf; ///< of functions' arguments
  llvm::MapVector<StringRef, SmallVector<Operation *>> opsCalled;
};

/// Names of values that each alone, with parameters and labels, carry a
/// training on: after each of them it can be cut. In the order in which data go
/// through them; between two of them lies a layer with a trained weight.
SmallVector<StringRef> findCutPoints(const ModelGraph &graph);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_MODELGRAPH_H
