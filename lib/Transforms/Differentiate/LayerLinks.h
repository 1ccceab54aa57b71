//===- LayerLinks.h - From trained parameters to their layers ---*- C++ -*-===//
//
// The interface for second-order methods: each use of a trained parameter
// becomes an hfta.layer, which names the layer's input and output gradient.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_TRANSFORMS_DIFFERENTIATE_LAYERLINKS_H
#define HFTA_LIB_TRANSFORMS_DIFFERENTIATE_LAYERLINKS_H

#include "Hfta/Transforms/Differentiate/ReverseMode.h"
#include "Samples/SampleStrides.h"
#include "Tasks/TaskBuilder.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::hfta {

/// Follows the trained parameters of a step to the ops that use them, and
/// builds an hfta.layer for each use.
class LayerLinks {
public:
  /// With `remarks`, build() reports parameters that aren't a layer's weight.
  /// Another pass may report them instead.
  LayerLinks(TaskBuilder &tasks, bool remarks)
      : tasks(tasks), remarks(remarks) {}

  /// Sets the divisor of the loss. The loss of a step, in all micro-batches,
  /// has `terms` terms.
  void setLossDivisor(LossDivisor divisor, int64_t terms) {
    lossDivisor = divisor;
    lossTerms = terms;
  }
  /// Remembers the gradients of an op's result and operands.
  void record(const OpBackward &backward);
  /// Adds a trained parameter, which is read as `value`.
  void addLeaf(const TrainedLeaf &leaf, Value value) {
    leaves.insert({value, leaf});
  }
  /// Finds all uses of the leaves. Must be called after all leaves have been
  /// added.
  void find();
  /// Calls `visit` with each weight of a layer to whose output a bias is added,
  /// and with the bias.
  void forEachBias(
      llvm::function_ref<void(VariableOp weight, VariableOp bias)> visit) const;
  /// Builds an hfta.layer for each use of a leaf, in the order of the forward
  /// ops, and reports uses that aren't a layer's weight. For each layer, `take`
  /// is called with the forward op and the first new op, as in reverse mode.
  void build(
      llvm::function_ref<void(Operation *forward, Block::iterator first)> take);

private:
  /// The gradients of an op's result and of its operands.
  struct Gradients {
    Value result;
    SmallVector<Value> operands;
  };
  /// The use of a parameter, or of one copy of it, by an op.
  struct Link {
    TrainedLeaf leaf;
    OpOperand *operand;
    ParameterUse use;
    std::optional<int64_t> copy;
  };
  /// The parameter that is added to a layer's output.
  struct Bias {
    OpOperand *operand = nullptr; ///< operand of the sum; null if none
    VariableOp variable;
    /// Whether the bias has one element per output feature, as an additional
    /// column of the weight has.
    bool isColumn = false;
    /// Whether the copies have different biases, so that findBias() must be
    /// called for each copy.
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
  std::optional<SampleStrides> samples; ///< sample strides of the step's values
  /// The biases, as operands of sums, that a layer already names, and their
  /// copy (-1: all copies).
  DenseSet<std::pair<OpOperand *, int64_t>> told;
  llvm::function_ref<void(Operation *, Block::iterator)> callback;
};

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_DIFFERENTIATE_LAYERLINKS_H
