//===- Functions.cpp - Functions that a file defines ----------------------===//

#include "Reading/Functions.h"
#include "Reading/Branches.h"
#include "Reading/Graph.h"
#include "Reading/LiveNodes.h"
#include "Reading/Registry.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SaveAndRestore.h"

#include <google/protobuf/unknown_field_set.h>

#include <map>

namespace mlir::hfta::onnx_import {

using ::onnx::AttributeProto;
using ::onnx::FunctionProto;
using ::onnx::GraphProto;
using ::onnx::ModelProto;
using ::onnx::NodeProto;

// The numbers of fields in ONNX's messages. These fields have existed since
// ONNX 1.13 (defaults) and 1.16 (overloads), so the protobuf schema that Hfta
// is built with may not have them.
static constexpr int kAttributeDefaultsField = 11;
static constexpr int kFunctionOverloadField = 13;
static constexpr int kNodeOverloadField = 8;

/// The limits of inlining. Without them, a small file could ask for very many
/// nodes, with long names and large constants, and for deeply nested functions
/// and branches.
static constexpr int64_t kMostNodes = 1 << 16;
static constexpr uint64_t kMostBytes = uint64_t(1) << 29;
static constexpr int kMostNested = 100;

/// Returns the contents of a field that the protobuf schema doesn't have.
static std::vector<StringRef>
getUnknownField(const google::protobuf::Message &message, int number) {
  std::vector<StringRef> found;
  const google::protobuf::UnknownFieldSet &fields =
      message.GetReflection()->GetUnknownFields(message);
  for (int index = 0; index < fields.field_count(); ++index) {
    const google::protobuf::UnknownField &field = fields.field(index);
    if (field.number() == number &&
        field.type() == google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED)
      found.emplace_back(field.length_delimited());
  }
  return found;
}

static StringRef getOverload(const google::protobuf::Message &message,
                             int number) {
  std::vector<StringRef> found = getUnknownField(message, number);
  return found.empty() ? StringRef() : found.back();
}

static std::string describe(StringRef domain, StringRef name,
                            StringRef overload) {
  return ((domain.empty() ? "ai.onnx" : domain) + "::" + name +
          (overload.empty() ? "" : ":" + overload.str()))
      .str();
}

static std::string describe(const FunctionProto &function) {
  return describe(function.domain(), function.name(),
                  getOverload(function, kFunctionOverloadField));
}

std::string describeFunction(const NodeProto &call) {
  return describe(call.domain(), call.op_type(),
                  getOverload(call, kNodeOverloadField));
}

namespace {

/// A function of the file, with what is needed to inline its calls.
struct Function {
  const FunctionProto *proto = nullptr;
  int64_t opset = 0;
  LiveNodes live;
  /// The values of attributes that a call may omit.
  std::vector<AttributeProto> defaults;
  bool isGood = true;
};

/// A call that is being inlined: the function's values get `names` in the
/// graph, and its nodes names that begin with `prefix`.
struct Scope {
  const Function &function;
  const NodeProto &call;
  std::string prefix;
  llvm::StringMap<std::string> names;
};

class Inliner {
public:
  Inliner(ModelProto &model, NodeOpsets &opsets, Reporter &reporter)
      : model(model), opsets(opsets), reporter(reporter) {}

  bool run();

private:
  void readFunction(const FunctionProto &proto);
  bool checkFunction(Function &function, const NodeProto &call);
  bool checkCall(const Function &function, const NodeProto &call);
  void collectNames(const GraphProto &graph);

  void expand(NodeList &nodes, int64_t opset, const LiveNodes *live);
  void emit(NodeProto &&node, int64_t opset, NodeList &nodes,
            const LiveNodes *live);
  void inlineCall(const NodeProto &call, Function &function, NodeList &nodes);
  bool take(int64_t nodes, uint64_t bytes, const Scope &scope);
  bool takeNode(const NodeProto &node, const Scope &scope);
  bool enter(const NodeProto &node);

  void rename(NodeProto &node, Scope &scope);
  void renameGraph(GraphProto &graph, Scope &scope);
  void replaceReferences(NodeProto &node, const Scope &scope);
  std::string getName(StringRef name, Scope &scope);
  /// Returns `name`, with a number appended if it is taken.
  static std::string makeUnique(std::string name, llvm::StringMap<int> &taken);

  ModelProto &model;
  NodeOpsets &opsets;
  Reporter &reporter;
  std::map<std::string, Function> functions; ///< by their descriptions
  /// The names of values, and prefixes of nodes, that are taken. Each has the
  /// next number to append to it.
  llvm::StringMap<int> values, prefixes;
  std::vector<const Function *> active;
  int64_t nodesLeft = kMostNodes;
  uint64_t bytesLeft = kMostBytes;
  int nested = 0;
  bool stopped = false;
};

} // namespace

//===----------------------------------------------------------------------===//
// Functions and their calls
//===----------------------------------------------------------------------===//

static bool usesOnnx(const NodeList &nodes) {
  return llvm::any_of(nodes, [](const NodeProto &node) {
    return isDefaultDomain(node.domain());
  });
}

void Inliner::readFunction(const FunctionProto &proto) {
  std::string name = describe(proto);
  auto [entry, isNew] = functions.try_emplace(name);
  if (!isNew) {
    reporter.invalid(reporter.getFileLocation(),
                     "two functions are called '" + name + "'");
    return;
  }
  Function &function = entry->second;
  function.proto = &proto;
  for (const auto &import : proto.opset_import())
    if (isDefaultDomain(import.domain()))
      function.opset = import.version();
  SmallVector<StringRef> outputs(proto.output().begin(), proto.output().end());
  function.live = findLiveNodes(proto.node(), outputs);
  for (StringRef bytes : getUnknownField(proto, kAttributeDefaultsField))
    if (!function.defaults.emplace_back().ParsePartialFromArray(
            bytes.data(), static_cast<int>(bytes.size())))
      reporter.invalid(reporter.getFileLocation(),
                       "function '" + name +
                           "': an attribute's default cannot be parsed");
}

/// Checks the function's operator set and the definitions of its values.
/// Returns false after an error, which is reported for the first call only.
bool Inliner::checkFunction(Function &function, const NodeProto &call) {
  if (!function.isGood)
    return false;
  std::string name = describe(*function.proto);
  bool good = true;
  auto fail = [&](const Twine &reason) {
    reporter.invalid(call, "function '" + name + "' " + reason);
    good = false;
  };
  if (function.opset < 1 && usesOnnx(function.proto->node()))
    fail("names no operator set of ONNX");
  if (function.opset > kGreatestOnnxOpset) {
    reporter.unsupported(call, "function '" + name + "' uses operator set " +
                                   Twine(function.opset) +
                                   ", which is not supported (at most " +
                                   Twine(kGreatestOnnxOpset) + ")");
    good = false;
  }
  llvm::StringSet<> defined;
  for (const std::string &input : function.proto->input())
    defined.insert(input);
  for (const NodeProto &node : function.proto->node())
    for (const std::string &output : node.output())
      if (!output.empty() && !defined.insert(output).second)
        fail("defines its value '" + output + "' twice");
  for (const std::string &output : function.proto->output())
    if (!defined.contains(output))
      fail("defines no value for its output '" + output + "'");
  return function.isGood = good;
}

/// Checks that the function doesn't call itself, and the numbers of operands
/// and results, of which a call may have fewer than the function.
bool Inliner::checkCall(const Function &function, const NodeProto &call) {
  std::string name = describe(*function.proto);
  auto check = [&](int got, int most, StringRef kind) {
    if (got > most)
      reporter.invalid(call, "has " + Twine(got) + " " + kind + ", function '" +
                                 name + "' has " + Twine(most));
    return got <= most;
  };
  if (!check(call.input_size(), function.proto->input_size(), "operands") ||
      !check(call.output_size(), function.proto->output_size(), "outputs"))
    return false;
  auto first = llvm::find(active, &function);
  if (first == active.end())
    return true;
  std::string cycle;
  for (const Function *other : llvm::make_range(first, active.end()))
    cycle += describe(*other->proto) + " → ";
  reporter.invalid(call,
                   "function '" + name + "' calls itself: " + cycle + name);
  return false;
}

//===----------------------------------------------------------------------===//
// Names and attributes
//===----------------------------------------------------------------------===//

void Inliner::collectNames(const GraphProto &graph) {
  for (const auto &port : graph.input())
    values.try_emplace(port.name(), 2);
  for (const auto &port : graph.output())
    values.try_emplace(port.name(), 2);
  for (const auto &tensor : graph.initializer())
    values.try_emplace(tensor.name(), 2);
  for (const NodeProto &node : graph.node()) {
    for (const std::string &operand : node.input())
      values.try_emplace(operand, 2);
    for (const std::string &output : node.output())
      values.try_emplace(output, 2);
    for (const GraphProto *branch : getBranches(node))
      collectNames(*branch);
  }
}

std::string Inliner::makeUnique(std::string name, llvm::StringMap<int> &taken) {
  auto [entry, isNew] = taken.try_emplace(name, 2);
  if (isNew)
    return name;
  int &number = entry->second;
  std::string candidate;
  do
    candidate = name + "#" + std::to_string(number++);
  while (!taken.try_emplace(candidate, 2).second);
  return candidate;
}

std::string Inliner::getName(StringRef name, Scope &scope) {
  if (name.empty())
    return "";
  auto [entry, isNew] = scope.names.try_emplace(name);
  if (isNew)
    entry->second = makeUnique(scope.prefix + "/" + name.str(), values);
  return entry->second;
}

/// Replaces attributes that refer to an attribute of the call. Removes those
/// for which neither the call nor the function has a value.
void Inliner::replaceReferences(NodeProto &node, const Scope &scope) {
  google::protobuf::RepeatedPtrField<AttributeProto> attributes;
  attributes.Swap(node.mutable_attribute());
  for (AttributeProto &attribute : attributes) {
    const std::string &reference = attribute.ref_attr_name();
    const AttributeProto *found = &attribute;
    if (!reference.empty()) {
      auto isMeant = [&](const AttributeProto &candidate) {
        return candidate.name() == reference;
      };
      auto given = llvm::find_if(scope.call.attribute(), isMeant);
      auto fallback = llvm::find_if(scope.function.defaults, isMeant);
      found = given != scope.call.attribute().end()       ? &*given
              : fallback != scope.function.defaults.end() ? &*fallback
                                                          : nullptr;
    }
    if (!found ||
        (found != &attribute && !take(0, found->SpaceUsedLong(), scope)))
      continue;
    AttributeProto copy = *found;
    copy.set_name(attribute.name());
    copy.clear_ref_attr_name();
    *node.add_attribute() = std::move(copy);
  }
}

/// Calls `visit` with each branch of the node, except for references to an
/// attribute of the call.
static void forEachBranch(NodeProto &node,
                          llvm::function_ref<void(GraphProto &)> visit) {
  if (getBranches(node).empty())
    return;
  for (AttributeProto &attribute : *node.mutable_attribute())
    if (attribute.type() == AttributeProto::GRAPH &&
        attribute.ref_attr_name().empty())
      visit(*attribute.mutable_g());
}

/// Gives a node copied from a function the names and attributes of a call.
void Inliner::rename(NodeProto &node, Scope &scope) {
  node.set_name(scope.prefix + "/" + Reporter::getNodeName(node).str());
  for (std::string &operand : *node.mutable_input())
    operand = getName(operand, scope);
  for (std::string &output : *node.mutable_output())
    output = getName(output, scope);
  // Branches are renamed before references are replaced, because a branch that
  // the call gives already contains names of the caller.
  forEachBranch(node, [&](GraphProto &branch) { renameGraph(branch, scope); });
  replaceReferences(node, scope);
}

void Inliner::renameGraph(GraphProto &graph, Scope &scope) {
  for (auto &tensor : *graph.mutable_initializer())
    tensor.set_name(getName(tensor.name(), scope));
  for (NodeProto &node : *graph.mutable_node())
    rename(node, scope);
  for (auto &output : *graph.mutable_output())
    output.set_name(getName(output.name(), scope));
}

//===----------------------------------------------------------------------===//
// Inlining
//===----------------------------------------------------------------------===//

/// Returns the number of names in a node and its branches.
static uint64_t countNames(const NodeProto &node) {
  uint64_t count = 1 + node.input_size() + node.output_size();
  for (const GraphProto *branch : getBranches(node)) {
    count += branch->initializer_size() + branch->output_size();
    for (const NodeProto &inner : branch->node())
      count += countNames(inner);
  }
  return count;
}

/// Subtracts the nodes and bytes that a call adds from what is left. Returns
/// false if they are too many.
bool Inliner::take(int64_t nodes, uint64_t bytes, const Scope &scope) {
  if (!stopped && (nodes > nodesLeft || bytes > bytesLeft)) {
    reporter.unsupported(scope.call, "the file's functions hold more than " +
                                         Twine(kMostNodes) + " nodes, or " +
                                         Twine(kMostBytes >> 20) +
                                         " MiB, where they are called");
    stopped = true;
  }
  if (stopped)
    return false;
  nodesLeft -= nodes;
  bytesLeft -= bytes;
  return true;
}

/// Like take(), for a node of a function.
bool Inliner::takeNode(const NodeProto &node, const Scope &scope) {
  return take(1,
              node.SpaceUsedLong() + 2 * countNames(node) * scope.prefix.size(),
              scope);
}

/// Returns whether the node's branches, or its function, may be visited.
/// Reports an error if they are nested too deeply.
bool Inliner::enter(const NodeProto &node) {
  if (nested < kMostNested)
    return true;
  if (!stopped)
    reporter.unsupported(node, "functions and branches are nested more than " +
                                   Twine(kMostNested) + " deep");
  stopped = true;
  return false;
}

void Inliner::inlineCall(const NodeProto &call, Function &function,
                         NodeList &nodes) {
  if (!checkFunction(function, call) || !checkCall(function, call))
    return;
  const FunctionProto &proto = *function.proto;
  Scope scope{function,
              call,
              makeUnique(Reporter::getNodeName(call).str(), prefixes),
              {}};
  for (int index = 0; index < proto.input_size(); ++index)
    scope.names[proto.input(index)] =
        index < call.input_size() ? call.input(index) : "";
  // Outputs that are also an input, or another output, of the function become
  // copies.
  std::vector<int> copied;
  for (int index = 0; index < call.output_size(); ++index)
    if (!call.output(index).empty() &&
        !scope.names.try_emplace(proto.output(index), call.output(index))
             .second)
      copied.push_back(index);
  active.push_back(&function);
  for (const NodeProto &node : proto.node()) {
    if (!function.live.contains(node) || !takeNode(node, scope))
      continue;
    NodeProto copy = node;
    rename(copy, scope);
    emit(std::move(copy), function.opset, nodes, nullptr);
  }
  active.pop_back();
  for (int index : copied) {
    NodeProto copy;
    copy.set_name(scope.prefix + "/" + proto.output(index));
    copy.set_op_type("Identity");
    copy.add_input(getName(proto.output(index), scope));
    copy.add_output(call.output(index));
    if (!takeNode(copy, scope))
      break;
    emit(std::move(copy), kGreatestOnnxOpset, nodes, nullptr);
  }
}

/// Appends a node to `nodes` or, if it calls a function, the function's nodes.
/// `live` are the nodes that are needed; null if all are.
void Inliner::emit(NodeProto &&node, int64_t opset, NodeList &nodes,
                   const LiveNodes *live) {
  // A file may define one of Hfta's own operators as a function for other
  // runtimes. The function isn't inlined, because its nodes don't have the
  // operator's meaning in training.
  auto function = findOwnHandler(node.domain(), node.op_type())
                      ? functions.end()
                      : functions.find(describeFunction(node));
  llvm::SaveAndRestore deeper(nested, nested + 1);
  if (stopped)
    return;
  if (function != functions.end()) {
    if (enter(node))
      inlineCall(node, function->second, nodes);
    return;
  }
  NodeProto &added = *nodes.Add();
  added = std::move(node);
  if (opset != 0)
    opsets[&added] = opset;
  forEachBranch(added, [&](GraphProto &branch) {
    if (enter(added))
      expand(*branch.mutable_node(), opset, live);
  });
}

void Inliner::expand(NodeList &nodes, int64_t opset, const LiveNodes *live) {
  NodeList before;
  before.Swap(&nodes);
  for (NodeProto &node : before)
    if (!live || live->contains(node))
      emit(std::move(node), opset, nodes, live);
    else
      *nodes.Add() = std::move(node);
}

bool Inliner::run() {
  for (const FunctionProto &function : model.functions())
    readFunction(function);
  if (reporter.hasErrors())
    return false;
  collectNames(model.graph());
  LiveNodes live = findLiveNodes(model.graph());
  expand(*model.mutable_graph()->mutable_node(), 0, &live);
  return !reporter.hasErrors();
}

bool inlineFunctions(ModelProto &model, NodeOpsets &opsets,
                     Reporter &reporter) {
  return Inliner(model, opsets, reporter).run();
}

} // namespace mlir::hfta::onnx_import
