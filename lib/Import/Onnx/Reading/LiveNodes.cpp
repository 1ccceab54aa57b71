//===- LiveNodes.cpp - The nodes that a graph's outputs need --------------===//

#include "Reading/LiveNodes.h"
#include "Reading/Branches.h"

#include "llvm/ADT/StringMap.h"

namespace mlir::hfta::onnx_import {

using ::onnx::GraphProto;
using ::onnx::NodeProto;

static SmallVector<StringRef> getOutputNames(const GraphProto &graph) {
  SmallVector<StringRef> names;
  for (const auto &output : graph.output())
    names.emplace_back(output.name());
  return names;
}

/// Adds to `live` the nodes of one graph on which `outputs` depend. Appends the
/// values that they read, but no node of the graph defines, to `outside`.
static void addLive(const NodeList &nodes, ArrayRef<StringRef> outputs,
                    LiveNodes &live, SmallVectorImpl<StringRef> &outside) {
  llvm::StringMap<const NodeProto *> producers;
  for (const NodeProto &node : nodes)
    for (const std::string &output : node.output())
      producers.try_emplace(output, &node);
  SmallVector<StringRef> waiting(outputs);
  while (!waiting.empty()) {
    StringRef name = waiting.pop_back_val();
    if (name.empty())
      continue;
    live.values.insert(name);
    const NodeProto *node = producers.lookup(name);
    if (!node) {
      outside.push_back(name);
      continue;
    }
    if (!live.nodes.insert(node).second)
      continue;
    waiting.append(node->input().begin(), node->input().end());
    for (const GraphProto *branch : getBranches(*node))
      addLive(branch->node(), getOutputNames(*branch), live, waiting);
  }
}

LiveNodes findLiveNodes(const NodeList &nodes, ArrayRef<StringRef> outputs) {
  LiveNodes live;
  SmallVector<StringRef> outside;
  addLive(nodes, outputs, live, outside);
  return live;
}

LiveNodes findLiveNodes(const GraphProto &graph) {
  return findLiveNodes(graph.node(), getOutputNames(graph));
}

} // namespace mlir::hfta::onnx_import
