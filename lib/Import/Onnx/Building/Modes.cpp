//===- Modes.cpp - Modes of batch normalizations and dropouts -------------===//
//
// A file says in which mode its nodes are if it was exported for training:
// nodes in training mode show this. Then the other nodes were in evaluation
// mode when it was exported. In a file for inference no node is in training
// mode, which says nothing about a training.
//===----------------------------------------------------------------------===//

#include "Building/Node.h"

namespace mlir::hfta::onnx_import {

using ::onnx::NodeProto;

static bool hasOnes(const FileTensor &tensor) {
  return llvm::any_of(tensor.bytes, [](char byte) { return byte != 0; });
}

/// Returns whether a `Constant` node's value isn't zero.
static bool isTrue(const NodeProto &constant, MLIRContext *context) {
  return llvm::any_of(
      constant.attribute(), [&](const ::onnx::AttributeProto &attribute) {
        if (!attribute.has_t())
          return attribute.i() != 0;
        TensorError error;
        FailureOr<FileTensor> tensor =
            readTensor(attribute.t(), /*folder=*/"", context, error);
        return succeeded(tensor) && hasOnes(*tensor);
      });
}

/// Returns whether some node is in training mode.
bool ModelBuilder::hasTrainingNode() const {
  llvm::StringMap<const NodeProto *> constants;
  for (const NodeProto *node : graph.nodes)
    if (node->op_type() == "Constant" && node->output_size() == 1)
      constants[node->output(0)] = node;
  auto isTrueInFile = [&](StringRef name) {
    auto use = graph.initializerUses.find(name);
    auto initializer = graph.initializers.find(
        use == graph.initializerUses.end() ? name : use->second.initializer);
    if (initializer != graph.initializers.end())
      return hasOnes(initializer->second);
    const NodeProto *constant = constants.lookup(name);
    return constant && isTrue(*constant, builder.getContext());
  };
  return llvm::any_of(graph.nodes, [&](const NodeProto *node) {
    if (!isDefaultDomain(node->domain()))
      return false;
    if (node->op_type() == "Dropout")
      return node->input_size() > 2 && isTrueInFile(node->input(2));
    return node->op_type() == "BatchNormalization" &&
           isInTrainingMode(*node, graph.getOpset(*node));
  });
}

/// Returns the rule that holds for a node unless a clause of the job names it.
ModeRule ModelBuilder::getModeByFile(const NodeProto &node,
                                     std::optional<bool> isTraining) {
  if (node.op_type() == "BatchNormalization" && graph.frozenStatistics)
    return isFrozenStatistic(node.input(3)) ? ModeRule::listed
                                            : ModeRule::standard;
  if (isTraining.value_or(true))
    return ModeRule::standard;
  if (!isForTraining)
    isForTraining = hasTrainingNode();
  return *isForTraining ? ModeRule::file : ModeRule::standard;
}

bool ModelBuilder::staysInEvaluation(const NodeProto &node, ModalKind kind,
                                     std::optional<bool> isTraining) {
  SmallVector<std::string> names{Reporter::getNodeName(node).str()};
  // Operand 0 is the input. A dropout's other operands are numbers.
  if (kind == ModalKind::batch_norm)
    for (const std::string &operand : llvm::drop_begin(node.input())) {
      names.push_back(operand);
      auto use = graph.initializerUses.find(operand);
      if (use != graph.initializerUses.end() && !use->second.variable.empty())
        names.push_back(use->second.variable);
    }
  return modes.choose(kind, names, getModeByFile(node, isTraining));
}

/// Reports patterns without effect, and notes the modes on the model.
void ModelBuilder::finishModes() {
  modes.check([&](bool, size_t, const Twine &message) {
    reporter.invalid(reporter.getFileLocation(), message);
  });
  setModalNodes(model, modes.getNodes());
}

} // namespace mlir::hfta::onnx_import
