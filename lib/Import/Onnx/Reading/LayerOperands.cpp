//===- LayerOperands.cpp - Initializers that are weights ------------------===//

#include "Reading/LayerOperands.h"

#include "Reading/Branches.h"
#include "Reading/Graph.h"

#include "llvm/ADT/StringExtras.h"

namespace mlir::hfta::onnx_import {

using ::onnx::NodeProto;

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

/// Returns whether `name` is `prefix` and a number.
static bool isNumbered(StringRef name, StringRef prefix) {
  return name.consume_front(prefix) && !name.empty() &&
         llvm::all_of(name, llvm::isDigit);
}

/// Returns whether a name is that of a PyTorch operator which creates, moves or
/// combines elements, possibly with a number. PyTorch's newer exporter names
/// tensors that it has already computed after their node.
static bool isNodeName(StringRef name) {
  StringRef number = name.substr(name.rfind('_') + 1);
  if (number.size() < name.size() && !number.empty() &&
      llvm::all_of(number, llvm::isDigit))
    name = name.drop_back(number.size() + 1);
  static const llvm::StringSet<> nodes = [] {
    SmallVector<StringRef> words;
    StringRef("_to_copy add arange cat clone convert_element_type cos cumsum "
              "div exp expand eye flatten full full_like linspace log "
              "masked_fill mul neg ones ones_like outer permute pow reciprocal "
              "repeat repeat_interleave reshape rsqrt scalar_tensor sin slice "
              "sqrt squeeze stack sub tile transpose tril triu unsqueeze view "
              "where zeros zeros_like")
        .split(words, ' ');
    llvm::StringSet<> set;
    set.insert_range(words);
    return set;
  }();
  return nodes.contains(name);
}

/// Returns whether a name is one that TensorFlow gives to a constant: a Python
/// number used as an operand, or a result of TensorFlow's graph optimizer.
/// (TensorFlow's variables are read by nodes called ReadVariableOp.)
static bool isTensorFlowConstant(StringRef name) {
  if (name.starts_with("ConstantFolding/"))
    return true;
  name.consume_back(":0");
  StringRef last = name.substr(name.rfind('/') + 1);
  if (last.size() == name.size())
    return false;
  return last == "x" || last == "y" || last == "Const" ||
         isNumbered(last, "Const_") || last == "Sqrt" || last == "Rsqrt" ||
         last.ends_with("_recip");
}

bool isUntellingName(StringRef name) {
  static constexpr StringLiteral kTelling[] = {
      "weight", "bias",   "scale",    "shift", "gamma", "beta",
      "alpha",  "kernel", "embed",    "token", "param", "table",
      "gain",   "query",  "position", "slope", ".",     "temperature"};
  std::string lower = name.lower();
  bool isTelling = llvm::any_of(kTelling, [&](StringRef word) {
    return StringRef(lower).contains(word);
  });
  // Short names such as `w`, `W1` and `b_0` are those of weights.
  StringRef letters = StringRef(lower).rtrim("_0123456789");
  return !isTelling && letters.size() > 2;
}

bool isExporterName(StringRef name) {
  if (name.starts_with("onnx::") || name.starts_with("/") || isNodeName(name) ||
      isTensorFlowConstant(name))
    return true;
  // Constants that PyTorch lifts may have their module's name as a prefix.
  StringRef last = name.substr(name.rfind('.') + 1);
  return isNumbered(name, "") || isNumbered(name, "val_") ||
         isNumbered(name, "const_fold_opt__") ||
         isNumbered(last, "_tensor_constant") ||
         isNumbered(last, "lifted_tensor_") ||
         isNumbered(last, "c_lifted_tensor_");
}

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

namespace {
/// An operator that is a layer if one of these operands is an initializer.
struct LayerOperator {
  StringLiteral name;
  uint32_t operands; ///< bit i: operand i
  enum class Kind { product, table, normalization } kind;
};
} // namespace

static const LayerOperator *findLayerOperator(const NodeProto &node) {
  using Kind = LayerOperator::Kind;
  static constexpr LayerOperator operators[] = {
      {"BatchNormalization", 0b110, Kind::normalization},
      {"Conv", 0b110, Kind::product},
      {"ConvTranspose", 0b110, Kind::product},
      {"Einsum", ~0u, Kind::product},
      {"Gather", 0b1, Kind::table},
      {"Gemm", 0b111, Kind::product},
      {"GroupNormalization", 0b110, Kind::normalization},
      {"InstanceNormalization", 0b110, Kind::normalization},
      {"LayerNormalization", 0b110, Kind::normalization},
      {"MatMul", 0b11, Kind::product},
      {"PRelu", 0b10, Kind::table},
      {"RMSNormalization", 0b10, Kind::normalization},
  };
  const LayerOperator *found =
      llvm::find_if(operators, [&](const LayerOperator &candidate) {
        return candidate.name == node.op_type();
      });
  return found == std::end(operators) ? nullptr : found;
}

/// Returns whether the operator's result holds exactly the elements of operand
/// 0.
static bool isRearrangement(const NodeProto &node) {
  return llvm::is_contained({"Cast", "CastLike", "Expand", "Flatten",
                             "Identity", "Reshape", "Squeeze", "Transpose",
                             "Unsqueeze"},
                            StringRef(node.op_type()));
}

namespace {
/// Finds the initializers that layers and arithmetic use, by visiting the nodes
/// in execution order.
class LayerFinder {
public:
  LayerFinder(const Graph &graph, bool nodes) : graph(graph), nodes(nodes) {}

  void visit(const NodeProto &node);
  OperandKinds takeKinds() { return std::move(kinds); }

private:
  StringRef getInitializer(StringRef value) const;
  bool isSplat(StringRef initializer, double value) const;
  void visitLayer(const NodeProto &node, const LayerOperator &layer);
  void visitBinary(const NodeProto &node);

  const Graph &graph;
  bool nodes; ///< whether tensors of Constant nodes are initializers, too
  OperandKinds kinds;
  /// The initializer that a value rearranges, by the value's name.
  llvm::StringMap<StringRef> rearranged;
  /// Values that are weighted sums; normalizations of instances or groups; and
  /// such normalizations times a scale.
  llvm::StringSet<> products, normalized, scaled;
};
} // namespace

/// Returns the initializer of which a value has the elements, perhaps
/// rearranged; empty for any other value.
StringRef LayerFinder::getInitializer(StringRef value) const {
  auto known = rearranged.find(value);
  if (known != rearranged.end())
    return known->second;
  auto use = graph.initializerUses.find(value);
  return use == graph.initializerUses.end() || (use->second.isNode && !nodes)
             ? StringRef()
             : use->second.initializer;
}

/// Returns whether all elements of an initializer equal `value`. Returns false
/// for integers, which are no layer's parameters.
bool LayerFinder::isSplat(StringRef initializer, double value) const {
  const FileTensor &tensor = graph.initializers.find(initializer)->second;
  return isa<FloatType>(tensor.type.getElementType()) &&
         llvm::all_of(readFloats(tensor),
                      [&](double element) { return element == value; });
}

void LayerFinder::visitLayer(const NodeProto &node,
                             const LayerOperator &layer) {
  bool isWeighted = false;
  for (auto [index, operand] : llvm::enumerate(node.input())) {
    StringRef initializer = getInitializer(operand);
    if (index >= 32 || (layer.operands >> index & 1) == 0 ||
        initializer.empty())
      continue;
    isWeighted = true;
    // A scale of ones or a shift of zeros may have been written for a
    // normalization that has no parameters. But with `nodes` the scale and
    // shift of a batch normalization count whatever they hold: then the job's
    // clauses decide whether they are trained.
    bool isOwn = layer.kind != LayerOperator::Kind::normalization ||
                 (nodes && node.op_type() == "BatchNormalization");
    if (isOwn || !isSplat(initializer, index == 1 ? 1 : 0))
      kinds.ofLayers.insert(initializer);
  }
  if (node.output_size() == 0)
    return;
  if (layer.kind == LayerOperator::Kind::product && isWeighted)
    products.insert(node.output(0));
  if (node.op_type() == "InstanceNormalization" ||
      node.op_type() == "GroupNormalization")
    normalized.insert(node.output(0));
}

/// Handles a bias that is added to a product, and a scale and shift per channel
/// that follow a normalization of groups with a scale and shift per group.
void LayerFinder::visitBinary(const NodeProto &node) {
  if (node.input_size() != 2 || node.output_size() != 1)
    return;
  bool isAdd = node.op_type() == "Add";
  for (int index : {0, 1}) {
    StringRef initializer = getInitializer(node.input(index));
    StringRef other = node.input(1 - index);
    if (initializer.empty())
      continue;
    kinds.ofArithmetic.insert(initializer);
    if (!isAdd && node.op_type() != "Mul")
      continue;
    auto tensor = graph.initializers.find(initializer);
    if (isAdd ? products.contains(other) || scaled.contains(other)
              : normalized.contains(other) &&
                    tensor->second.type.getNumElements() > 1) {
      kinds.ofLayers.insert(initializer);
      if (!isAdd)
        scaled.insert(node.output(0));
    }
  }
}

void LayerFinder::visit(const NodeProto &node) {
  if (!isDefaultDomain(node.domain()))
    return;
  if (const LayerOperator *layer = findLayerOperator(node))
    visitLayer(node, *layer);
  if (llvm::is_contained({"Add", "Div", "Mul", "Sub"},
                         StringRef(node.op_type())))
    visitBinary(node);
  if (!isRearrangement(node) || node.input_size() == 0 ||
      node.output_size() != 1)
    return;
  StringRef initializer = getInitializer(node.input(0));
  if (!initializer.empty())
    rearranged[node.output(0)] = initializer;
  if (normalized.contains(node.input(0)))
    normalized.insert(node.output(0));
}

OperandKinds findOperandKinds(const Graph &graph, bool nodes) {
  LayerFinder finder(graph, nodes);
  for (const NodeProto *node : graph.nodes) {
    forEachGraph(*node, [&](const ::onnx::GraphProto &inner) {
      for (const NodeProto &node : inner.node())
        finder.visit(node);
    });
    finder.visit(*node);
  }
  return finder.takeKinds();
}

} // namespace mlir::hfta::onnx_import
