//===- Graphs.cpp - Kernel graphs of the emulated driver ------------------===//
//
// Launching a graph is one command of a stream. It runs the graph's kernels one
// after another, in a random topological order.
//===----------------------------------------------------------------------===//

#include "Calls.h"
#include "Faults.h"

using namespace emulation;

static Graph &fromHandle(hfta_cu_graph graph) {
  return *reinterpret_cast<Graph *>(graph);
}

EXPORTED hfta_cu_result cuGraphCreate(hfta_cu_graph *graph, unsigned) {
  ENTER("cuGraphCreate");
  device.graphs.push_back(std::make_unique<Graph>());
  *graph = toHandle<hfta_cu_graph>(device.graphs.back().get());
  return kSuccess;
}

EXPORTED hfta_cu_result cuGraphDestroy(hfta_cu_graph graph) {
  ENTER("cuGraphDestroy");
  return destroy(device.graphs, graph);
}

// A node's handle is its index in the graph plus 1, so that no handle is NULL.
EXPORTED hfta_cu_result
cuGraphAddKernelNode_v2(hfta_cu_graph_node *node, hfta_cu_graph handle,
                        const hfta_cu_graph_node *before, size_t count,
                        const hfta_cu_kernel_node *kernel) {
  ENTER("cuGraphAddKernelNode");
  Graph &graph = fromHandle(handle);
  Graph::Node own;
  hfta_cu_result result = makeLaunch(*kernel, own.launch);
  for (size_t i = 0; i < count && result == kSuccess; ++i) {
    auto number = reinterpret_cast<size_t>(before[i]);
    if (number == 0 || number > graph.nodes.size())
      return kInvalidValue;
    own.before.push_back(number - 1);
  }
  if (result != kSuccess)
    return result;
  if (graph.nodes.size() + 1 == getFault(Fault::edge))
    own.before.clear();
  graph.nodes.push_back(std::move(own));
  *node = reinterpret_cast<hfta_cu_graph_node>(graph.nodes.size());
  return kSuccess;
}

EXPORTED hfta_cu_result cuGraphInstantiateWithFlags(hfta_cu_graph_exec *exec,
                                                    hfta_cu_graph graph,
                                                    unsigned long long) {
  ENTER("cuGraphInstantiate");
  device.graphs.push_back(std::make_unique<Graph>(fromHandle(graph)));
  *exec = toHandle<hfta_cu_graph_exec>(device.graphs.back().get());
  return kSuccess;
}

EXPORTED hfta_cu_result cuGraphExecDestroy(hfta_cu_graph_exec exec) {
  ENTER("cuGraphExecDestroy");
  return destroy(device.graphs, exec);
}

/// Runs all kernels of a graph; stops at the first one that fails.
static hfta_cu_result runNodes(const Graph &graph, std::mt19937_64 &random) {
  std::vector<size_t> waiting(graph.nodes.size()), ready;
  std::vector<std::vector<size_t>> after(graph.nodes.size());
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    waiting[i] = graph.nodes[i].before.size();
    for (size_t earlier : graph.nodes[i].before)
      after[earlier].push_back(i);
    if (waiting[i] == 0)
      ready.push_back(i);
  }
  while (!ready.empty()) {
    std::swap(ready[random() % ready.size()], ready.back());
    size_t next = ready.back();
    ready.pop_back();
    hfta_cu_result result = run(graph.nodes[next].launch, random);
    if (result != kSuccess)
      return result;
    for (size_t later : after[next])
      if (--waiting[later] == 0)
        ready.push_back(later);
  }
  return kSuccess;
}

// The command keeps a copy of the graph, as the caller may destroy the
// executable graph before the command runs.
EXPORTED hfta_cu_result cuGraphLaunch(hfta_cu_graph_exec exec,
                                      hfta_cu_stream stream) {
  ENTER("cuGraphLaunch");
  auto graph = std::make_shared<Graph>(*reinterpret_cast<Graph *>(exec));
  device.push(fromHandle(stream),
              {[graph, &device] { return runNodes(*graph, device.random); }});
  return kSuccess;
}
