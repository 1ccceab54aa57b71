//===- Graph.cpp - A checked ONNX graph -----------------------------------===//

#include "Reading/Graph.h"

#include "Hfta/Dialect/Hfta/IR/OnnxNames.h"

#include "Reading/Branches.h"
#include "Reading/Registry.h"

#include <set>

namespace mlir::hfta::onnx_import {

using ::onnx::ModelProto;
using ::onnx::NodeProto;

//===----------------------------------------------------------------------===//
// Versions and names
//===----------------------------------------------------------------------===//

std::string getAxisName(const ::onnx::ValueInfoProto &port, unsigned axis) {
  const auto &size = port.type().tensor_type().shape().dim(axis);
  if (size.has_dim_value() && size.dim_value() >= 0)
    return "";
  return size.dim_param().empty() ? port.name() + "." + std::to_string(axis)
                                  : size.dim_param();
}

bool Graph::readOpset(const ModelProto &model, Reporter &reporter) {
  Location file = reporter.getFileLocation();
  if (!model.has_graph()) {
    reporter.invalid(file, "not an ONNX model: it holds no graph");
    return false;
  }
  if (model.ir_version() < 1) {
    reporter.invalid(file, "not an ONNX model: it has no IR version");
    return false;
  }
  if (model.ir_version() > kGreatestOnnxIrVersion)
    reporter.unsupported(file, "ONNX IR version " + Twine(model.ir_version()) +
                                   " is not supported (at most " +
                                   Twine(kGreatestOnnxIrVersion) + ")");
  for (const auto &entry : model.opset_import())
    if (isDefaultDomain(entry.domain()))
      opset = entry.version();
  bool needsOpset = llvm::any_of(model.graph().node(), [](const auto &node) {
    return isDefaultDomain(node.domain());
  });
  if (opset < 1 && needsOpset)
    reporter.invalid(file, "the model names no operator set of ONNX");
  else if (opset > kGreatestOnnxOpset)
    reporter.unsupported(file, "operator set " + Twine(opset) +
                                   " is not supported (at most " +
                                   Twine(kGreatestOnnxOpset) + ")");
  if (!model.graph().sparse_initializer().empty())
    reporter.unsupported(file, "sparse initializers are not supported");
  return !reporter.hasErrors();
}

void Graph::checkOperator(const NodeProto &node, Reporter &reporter) const {
  if (findOwnHandler(node.domain(), node.op_type()))
    return;
  std::string used = std::to_string(getOpset(node));
  int64_t first = getFirstVersion(node.op_type());
  if (functionDomains.contains(node.domain()))
    reporter.unsupported(node, "the file has no function '" +
                                   describeFunction(node) + "'");
  else if (node.domain() == kOnnxDomain)
    reporter.unsupported(node, "operator of domain '" + kOnnxDomain +
                                   "' is not supported: this version knows '" +
                                   kOnnxStopGradient + "'");
  else if (!isDefaultDomain(node.domain()))
    reporter.unsupported(node, "operator domain '" + node.domain() +
                                   "' is not supported");
  else if (first == 0)
    reporter.unsupported(node, "operator is not supported (operator set " +
                                   used + ")");
  else if (!findHandler(node.op_type(), getOpset(node)))
    reporter.unsupported(node, "operator is supported from operator set " +
                                   Twine(first) + " on, the model uses " +
                                   used);
}

void Graph::readInitializer(const ::onnx::TensorProto &tensor, StringRef folder,
                            MLIRContext *context, Reporter &reporter) {
  const std::string &name = tensor.name();
  if (name.empty() || !isPrintable(name)) {
    reporter.invalid(reporter.getFileLocation(),
                     name.empty() ? "an initializer has no name"
                                  : "an initializer's name is not printable");
    return;
  }
  Location location = reporter.getLocation(name);
  TensorError error;
  FailureOr<FileTensor> value = readTensor(tensor, folder, context, error);
  if (failed(value) && error.unsupported && !live.values.contains(name)) {
    ignored.insert(name);
  } else if (failed(value)) {
    std::string message = "initializer '" + name + "': " + error.message;
    if (error.unsupported)
      reporter.unsupported(location, message);
    else
      reporter.invalid(location, message);
  } else if (!initializers.try_emplace(name, *value).second) {
    reporter.invalid(location, "two initializers are called '" + name + "'");
  }
}

/// Reads all initializers. Those of graphs inside of nodes are constants.
void Graph::readInitializers(StringRef folder, MLIRContext *context,
                             Reporter &reporter) {
  for (const ::onnx::TensorProto &tensor : proto->initializer())
    readInitializer(tensor, folder, context, reporter);
  for (const NodeProto &node : proto->node())
    forEachGraph(node, [&](const ::onnx::GraphProto &inner) {
      for (const ::onnx::TensorProto &tensor : inner.initializer()) {
        readInitializer(tensor, folder, context, reporter);
        if (initializers.contains(tensor.name()))
          initializerUses[tensor.name()] = {InitializerUse::Kind::constant, "",
                                            tensor.name()};
      }
    });
}

/// Reports graphs inside of nodes that define a name which is already defined
/// outside.
void Graph::checkInnerNames(const llvm::StringSet<> &defined,
                            Reporter &reporter) {
  for (const NodeProto &outer : proto->node())
    forEachGraph(outer, [&](const ::onnx::GraphProto &inner) {
      for (const NodeProto &node : inner.node()) {
        if (!isPrintable(node.name()) || !isPrintable(node.op_type()))
          reporter.invalid(outer, "a node's name or kind is not printable");
        for (const std::string &output : node.output())
          if (!isPrintable(output))
            reporter.invalid(outer, "an output's name is not printable");
          else if (defined.contains(output))
            reporter.invalid(node, "its output '" + output +
                                       "' is already defined elsewhere");
      }
    });
}

/// Checks that every value has one definition, and every operand and output a
/// value.
void Graph::checkNames(Reporter &reporter) {
  llvm::StringSet<> defined;
  for (const auto &entry : initializers)
    defined.insert(entry.getKey());
  for (const auto &entry : ignored)
    defined.insert(entry.getKey());
  llvm::StringSet<> seenInputs;
  for (const auto &input : proto->input()) {
    Location location = reporter.getLocation(input.name());
    if (input.name().empty() || !isPrintable(input.name()))
      reporter.invalid(reporter.getFileLocation(),
                       "an input has no printable name");
    else if (!seenInputs.insert(input.name()).second)
      reporter.invalid(location,
                       "two inputs are called '" + input.name() + "'");
    else if (defined.insert(input.name()).second)
      inputs.push_back(&input);
  }
  for (const NodeProto &node : proto->node()) {
    if (!isPrintable(node.name()) || !isPrintable(node.op_type())) {
      reporter.invalid(reporter.getFileLocation(),
                       "a node's name or kind is not printable");
      return;
    }
    for (const std::string &output : node.output())
      if (!output.empty() && !defined.insert(output).second)
        reporter.invalid(node, "its output '" + output +
                                   "' is already defined elsewhere");
      else if (!isPrintable(output)) {
        // The file is damaged: other errors may be a consequence.
        reporter.invalid(node, "an output's name is not printable");
        return;
      }
  }
  checkInnerNames(defined, reporter);
  for (const NodeProto &node : proto->node())
    for (const std::string &operand : getOperands(node))
      if (!operand.empty() && !defined.contains(operand))
        reporter.invalid(node,
                         "reads '" + operand + "', which nothing defines");
  if (proto->output().empty())
    reporter.invalid(reporter.getFileLocation(), "the graph has no output");
  llvm::StringSet<> seenOutputs;
  for (const auto &output : proto->output()) {
    Location location = reporter.getLocation(output.name());
    if (!defined.contains(output.name()))
      reporter.invalid(location,
                       "nothing defines output '" + output.name() + "'");
    else if (!seenOutputs.insert(output.name()).second)
      reporter.invalid(location,
                       "two outputs are called '" + output.name() + "'");
  }
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

/// Reports a cycle on which node `start` depends. `missing` is the number of
/// each node's sources that aren't ordered. As each node that isn't ordered has
/// such a source, following these sources leads to a cycle.
void Graph::reportCycle(int start, ArrayRef<std::vector<int>> sources,
                        ArrayRef<int> missing, Reporter &reporter) const {
  auto step = [&](int index) {
    return *llvm::find_if(sources[index],
                          [&](int source) { return missing[source] > 0; });
  };
  for (int steps = 0; steps < proto->node_size(); ++steps)
    start = step(start);
  std::string names;
  int index = start;
  do {
    names = " → " + Reporter::getNodeName(proto->node(index)).str() + names;
    index = step(index);
  } while (index != start);
  reporter.invalid(proto->node(start),
                   "reads its own result:" +
                       names.substr(StringRef(" →").size()));
}

void Graph::sortNodes(Reporter &reporter) {
  llvm::StringMap<int> producer;
  for (const auto &[index, node] : llvm::enumerate(proto->node()))
    for (const std::string &output : node.output())
      if (!output.empty())
        producer[output] = index;
  std::vector<std::vector<int>> users(proto->node_size());
  std::vector<std::vector<int>> sources(proto->node_size());
  std::vector<int> missing(proto->node_size(), 0);
  for (const auto &[index, node] : llvm::enumerate(proto->node()))
    for (const std::string &operand : getOperands(node)) {
      auto found = producer.find(operand);
      if (operand.empty() || found == producer.end())
        continue;
      users[found->second].push_back(index);
      sources[index].push_back(found->second);
      ++missing[index];
    }
  // Sorts topologically. Of the nodes whose sources are ordered, the first one
  // in the file comes next.
  std::set<int> ready;
  for (int index = 0; index < proto->node_size(); ++index)
    if (missing[index] == 0)
      ready.insert(index);
  while (!ready.empty()) {
    int index = *ready.begin();
    ready.erase(ready.begin());
    nodes.push_back(&proto->node(index));
    for (int user : users[index])
      if (--missing[user] == 0)
        ready.insert(user);
  }
  auto waiting = llvm::find_if(missing, [](int count) { return count > 0; });
  if (waiting != missing.end())
    reportCycle(waiting - missing.begin(), sources, missing, reporter);
}

//===----------------------------------------------------------------------===//
// Uses of initializers
//===----------------------------------------------------------------------===//

/// Adds the operands of a node that its handler takes as settings. If the node
/// computes a setting, adds all operands, except for Shape and Size, which read
/// no elements. Includes the graphs inside of the node.
void Graph::addSettings(const NodeProto &node,
                        llvm::StringSet<> &settings) const {
  StringRef type = node.op_type();
  const OpHandler *handler = findHandler(type, getOpset(node));
  uint32_t mask = handler ? handler->settings : 0;
  bool feedsSetting = llvm::any_of(node.output(), [&](const auto &output) {
    return settings.contains(output);
  });
  if (feedsSetting && type != "Shape" && type != "Size")
    mask = ~0u;
  for (const auto &[index, operand] : llvm::enumerate(node.input()))
    if (index < 32 && (mask >> index & 1) != 0 && !operand.empty())
      settings.insert(operand);
  for (const ::onnx::GraphProto *branch : getBranches(node)) {
    for (const auto &output : branch->output())
      if (feedsSetting)
        settings.insert(output.name());
    for (int index = branch->node_size(); index-- > 0;)
      addSettings(branch->node(index), settings);
  }
}

/// Returns the names of values that are settings: operands that handlers take
/// as settings, and values from which these are computed.
llvm::StringSet<> Graph::findSettings() const {
  llvm::StringSet<> settings;
  for (const NodeProto *node : llvm::reverse(nodes))
    addSettings(*node, settings);
  return settings;
}

/// Returns the names of values that are a batch normalization's running mean or
/// variance.
llvm::StringSet<> Graph::findStatistics() const {
  llvm::StringSet<> statistics;
  auto add = [&](const NodeProto &node) {
    if (node.op_type() == "BatchNormalization" &&
        isDefaultDomain(node.domain()))
      for (int index = 3; index < std::min(node.input_size(), 5); ++index)
        statistics.insert(node.input(index));
  };
  for (const NodeProto *node : nodes) {
    add(*node);
    forEachGraph(*node, [&](const ::onnx::GraphProto &inner) {
      llvm::for_each(inner.node(), add);
    });
  }
  return statistics;
}

void Graph::classifyInitializers(const llvm::StringSet<> &settings,
                                 const llvm::StringSet<> &statistics) {
  // The names of each initializer: its own, and the results of Identity nodes
  // that copy it.
  llvm::MapVector<StringRef, std::vector<StringRef>> names;
  llvm::StringMap<StringRef> origin;
  for (const auto &tensor : proto->initializer()) {
    if (ignored.contains(tensor.name()))
      continue;
    origin[tensor.name()] = tensor.name();
    names[tensor.name()].emplace_back(tensor.name());
  }
  std::vector<const NodeProto *> remaining;
  for (const NodeProto *node : nodes) {
    bool isAlias = node->op_type() == "Identity" &&
                   isDefaultDomain(node->domain()) && node->input_size() == 1 &&
                   node->output_size() == 1 &&
                   origin.contains(node->input(0)) && !node->output(0).empty();
    if (!isAlias) {
      remaining.push_back(node);
      continue;
    }
    StringRef initializer = origin[node->input(0)];
    origin[node->output(0)] = initializer;
    names[initializer].emplace_back(node->output(0));
  }
  nodes = std::move(remaining);
  for (const auto &[initializer, aliases] : names) {
    const FileTensor &tensor = initializers[initializer];
    bool isFloat = isa<FloatType>(tensor.type.getElementType());
    bool isNumber = tensor.type.getRank() == 0;
    std::string parameter;
    for (StringRef name : aliases) {
      InitializerUse &use = initializerUses[name];
      use.initializer = initializer;
      if (statistics.contains(name) && isFloat && !isNumber) {
        use.kind = InitializerUse::Kind::statistics;
        use.variable = name.str();
      } else if (settings.contains(name) || !isFloat) {
        use.kind = InitializerUse::Kind::constant;
      } else {
        use.kind = isNumber ? InitializerUse::Kind::number
                            : InitializerUse::Kind::parameter;
        if (parameter.empty())
          parameter = name.str();
        use.variable = parameter;
      }
    }
  }
}

/// Adds the float tensors of `Constant` nodes to the initializers, as
/// statistics or as numbers that may be trained. Errors in a tensor are
/// reported when the node is imported.
void Graph::classifyConstants(const llvm::StringSet<> &settings,
                              const llvm::StringSet<> &statistics,
                              MLIRContext *context) {
  for (const NodeProto *node : nodes) {
    if (node->op_type() != "Constant" || !isDefaultDomain(node->domain()) ||
        node->output_size() != 1 || settings.contains(node->output(0)))
      continue;
    const ::onnx::TensorProto *proto = nullptr;
    for (const auto &attribute : node->attribute())
      if (attribute.name() == "value" && attribute.has_t())
        proto = &attribute.t();
    TensorError error;
    if (!proto || proto->data_location() == ::onnx::TensorProto::EXTERNAL)
      continue;
    FailureOr<FileTensor> tensor = readTensor(*proto, "", context, error);
    if (failed(tensor) || !isa<FloatType>(tensor->type.getElementType()) ||
        tensor->type.getRank() == 0)
      continue;
    const std::string &name = node->output(0);
    StringRef key = initializers.try_emplace(name, *tensor).first->getKey();
    InitializerUse &use = initializerUses[name];
    use.kind = statistics.contains(name) ? InitializerUse::Kind::statistics
                                         : InitializerUse::Kind::number;
    use.variable = name;
    use.initializer = key;
    use.isNode = true;
  }
}

bool Graph::build(ModelProto &model, StringRef folder, MLIRContext *context,
                  Reporter &reporter) {
  if (!readOpset(model, reporter))
    return false;
  for (const auto &function : model.functions())
    if (!isDefaultDomain(function.domain()))
      functionDomains.insert(function.domain());
  if (model.functions_size() > 0 && !inlineFunctions(model, opsets, reporter))
    return false;
  proto = &model.graph();
  live = findLiveNodes(*proto);
  readInitializers(folder, context, reporter);
  // If something unsupported has been found, all unsupported operators are
  // reported, too.
  if (reporter.getFailure() == OnnxFailure::unsupported)
    for (const NodeProto &node : proto->node())
      if (live.contains(node))
        checkOperator(node, reporter);
  if (!reporter.hasErrors())
    checkNames(reporter);
  if (!reporter.hasErrors())
    sortNodes(reporter);
  if (reporter.hasErrors())
    return false;
  llvm::erase_if(nodes,
                 [&](const NodeProto *node) { return !live.contains(*node); });
  llvm::StringSet<> settings = findSettings(), statistics = findStatistics();
  classifyInitializers(settings, statistics);
  classifyConstants(settings, statistics, context);
  readLists(model, reporter);
  return !reporter.hasErrors();
}

} // namespace mlir::hfta::onnx_import
