//===- LayerLinks.h - From trained parameters to their layers ---*- C++ -*-===//
//
// The interface for second-order methods: each use of a trained parameter
// becomes an hfta.layer, which names the layer's input and output gradient.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_TRANSFORMS_LAYERLINKS_H
#define HFTA_LIB_TRANSFORMS_LAYERLINKS_H

#include "Hfta/Transforms/ReverseMode.h"
#include "SampleStrides.h"
#include "TaskBuilder.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::hfta {

class LayerLinks {
public:
  /// `remarks`: reports parameters that are no layer's, unless another pass
  /// does.
  LayerLinks(TaskBuilder &tasks, bool remarks)
      : tasks(tasks), remarks(remarks) {}

  /// Sets the divisor of the loss, which has `terms` terms in all
  /// micro-batches.
  void setLossDivisor(LossDivisor divisor, int64_t terms) {
    lossDivisor = divisor;
    lossTerms = terms;
  }
  /// Remembers the backward of an op.
  void record(const OpBackward &backward);
  /// A trained parameter, read as `value`.
  void addLeaf(const TrainedLeaf &leaf, Value value) {
    leaves.insert({value, leaf});
  }
  /// Finds the ops that the leaves are weights of, when all leaves have been
  /// added.
  void find();
  /// Visits each weight of a layer with the bias that is added to its output.
  void forEachBias(
      llvm::function_ref<void(VariableOp weight, VariableOp bias)> visit) const;
  /// Builds an hfta.layer for each use of a leaf, in the order of the forward
  /// ops, and reports uses that are no layer's weight. As in reverse mode,
  /// `take` is called with the ops that belong to a forward op's backward.
  void build(
      llvm::function_ref<void(Operation *forward, Block::iterator first)> take);

private:
  /// The gradients of an op's result and of its operands.
  struct Gradients {
    Value result;
    SmallVector<Value> operands;
  };
  /// The op that uses a parameter, or one copy of it, and how.
  struct Link {
    TrainedLeaf leaf;
    OpOperand *operand;
    ParameterUse use;
    std::optional<int64_t> copy;
  };
  struct Bias {
    OpOperand *operand = nullptr; ///< the sum's; null: there is none
    VariableOp variable;
    bool isColumn = false;
    /// Whether copies have different ones: findBias must be called for each.
    bool differs = false;
  };

  static bool isBefore(const Link &first, const Link &second);
  void follow(const TrainedLeaf &leaf, Value parameter);
  SmallVector<OpOperand *> getUses(Value value,
                                   std::optional<int64_t> copy) const;
  Bias findBias(const Link &link, std::optional<int64_t> copy) const;
  Bias traceBias(OpOperand &operand, std::optional<int64_t> copy,
                 std::optional<SmallVector<int64_t>> columns) const;
  SmallVector<std::pair<Link, Bias>> findBiases(Link link) const;
  void buildShift(Link link);
  IntegerAttr getSamples(Value value);
  void buildLayer(const Link &link, const Bias &bias);
  void remarkOn(const Link &link) const;

  TaskBuilder &tasks;
  bool remarks;
  LossDivisor lossDivisor = LossDivisor::terms;
  int64_t lossTerms = 1;
  llvm::MapVector<Value, TrainedLeaf> leaves;
  DenseMap<Operation *, Gradients> gradients; ///< by forward op
  SmallVector<Link> links;
  std::optional<SampleStrides> samples; ///< for the step's values
  /// Operands of sums that are reported with their layer, and the copy (-1:
  /// all).
  DenseSet<std::pair<OpOperand *, int64_t>> told;
  llvm::function_ref<void(Operation *, Block::iterator)> callback;
};

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_LAYERLINKS_H
