//===- Branches.cpp - Graphs inside of nodes ------------------------------===//

#include "Reading/Branches.h"
#include "Reading/Graph.h"

#include "llvm/ADT/StringSet.h"

#include <onnx/onnx_pb.h>

namespace mlir::hfta::onnx_import {

using ::onnx::AttributeProto;
using ::onnx::GraphProto;
using ::onnx::NodeProto;

SmallVector<const GraphProto *> getBranches(const NodeProto &node) {
  SmallVector<const GraphProto *> branches;
  if (node.op_type() != "If" || !isDefaultDomain(node.domain()))
    return branches;
  for (const AttributeProto &attribute : node.attribute())
    if (attribute.type() == AttributeProto::GRAPH)
      branches.push_back(&attribute.g());
  return branches;
}

void forEachGraph(const NodeProto &node,
                  llvm::function_ref<void(const GraphProto &)> visit) {
  for (const GraphProto *branch : getBranches(node)) {
    visit(*branch);
    for (const NodeProto &inner : branch->node())
      forEachGraph(inner, visit);
  }
}

std::vector<std::string> getOperands(const NodeProto &node) {
  std::vector<std::string> operands(node.input().begin(), node.input().end());
  for (const GraphProto *branch : getBranches(node)) {
    llvm::StringSet<> inside;
    for (const auto &tensor : branch->initializer())
      inside.insert(tensor.name());
    for (const NodeProto &inner : branch->node())
      for (const std::string &output : inner.output())
        inside.insert(output);
    auto add = [&](const std::string &name) {
      if (!name.empty() && !inside.contains(name))
        operands.push_back(name);
    };
    for (const NodeProto &inner : branch->node())
      llvm::for_each(getOperands(inner), add);
    for (const auto &output : branch->output())
      add(output.name());
  }
  return operands;
}

} // namespace mlir::hfta::onnx_import
