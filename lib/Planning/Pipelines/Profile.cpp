//===- Profile.cpp - Reads files of measured layers -----------------------===//

#include "Hfta/Planning/Pipelines/Profile.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/SHA256.h"

#include <cmath>

using namespace mlir::hfta::planning;
using llvm::StringRef;

namespace {

struct Node {
  std::string id, description;
  double forward = 0, backward = 0;      // milliseconds
  double activation = 0, parameters = 0; // bytes
  std::vector<unsigned> operands, users; // numbers of nodes
  bool isDropped = false;
};

/// Reads the lines of a file into nodes and edges.
class Reader {
public:
  Reader(std::vector<Node> &nodes, ProfileError &error)
      : nodes(nodes), error(error) {}

  bool read(StringRef text);

private:
  bool fail(const llvm::Twine &message) {
    error = {line, message.str()};
    return false;
  }
  bool readNode(StringRef text);
  bool readAttributes(StringRef text, Node &node);
  bool readNumber(StringRef name, StringRef text, double &number);
  bool readEdge(StringRef text);
  bool findNode(StringRef id, unsigned &node);

  std::vector<Node> &nodes;
  ProfileError &error;
  llvm::StringMap<unsigned> numbers;
  unsigned line = 0;
};

} // namespace

//===----------------------------------------------------------------------===//
// Lines
//===----------------------------------------------------------------------===//

static constexpr StringRef kSeparator = " -- ";

/// The most nodes of a profile. Sets of ancestors have a bit for each pair of
/// nodes.
static constexpr size_t kMostNodes = 4096;

/// The most bytes or milliseconds of a node. It exceeds any real number, and
/// sums over all nodes still fit in 64 bits.
static constexpr double kMost = 1e15;

/// Reads a number of at least 0, or a sum of such numbers as in "[1.0; 2.0]".
bool Reader::readNumber(StringRef name, StringRef text, double &number) {
  llvm::SmallVector<StringRef, 2> terms;
  StringRef rest = text.trim();
  if (rest.consume_front("[") && !rest.consume_back("]"))
    return fail("'" + name + "' begins with '[' and lacks the ']', got '" +
                text + "'");
  rest.split(terms, ';');
  number = 0;
  for (StringRef term : terms) {
    double value;
    if (term.trim().getAsDouble(value) || !std::isfinite(value) || value < 0)
      return fail("'" + name + "' is a number of at least 0, got '" + text +
                  "'");
    number += value;
  }
  if (number > kMost)
    return fail("'" + name + "' is a number of at most 1e15, got '" + text +
                "'");
  return true;
}

bool Reader::readAttributes(StringRef text, Node &node) {
  struct {
    StringRef name;
    double &value;
    bool isGiven;
  } attributes[] = {{"forward_compute_time", node.forward, false},
                    {"backward_compute_time", node.backward, false},
                    {"activation_size", node.activation, false},
                    {"parameter_size", node.parameters, false}};
  llvm::SmallVector<StringRef, 4> parts;
  text.split(parts, ',');
  for (StringRef part : parts) {
    StringRef name, value;
    std::tie(name, value) = part.trim().split('=');
    auto *attribute = llvm::find_if(
        attributes, [&](const auto &known) { return known.name == name; });
    if (attribute == std::end(attributes))
      return fail("unknown attribute '" + name + "' of node '" + node.id + "'");
    if (attribute->isGiven)
      return fail("'" + name + "' of node '" + node.id + "' is given twice");
    attribute->isGiven = true;
    if (!readNumber(name, value, attribute->value))
      return false;
  }
  for (const auto &attribute : attributes)
    if (!attribute.isGiven)
      return fail("node '" + node.id + "' has no '" + attribute.name + "'");
  return true;
}

/// Reads `id -- description -- attributes[ -- stage_id=2]`. As a description
/// may contain anything, attributes are searched from the end of the line.
bool Reader::readNode(StringRef text) {
  auto [id, rest] = text.split(kSeparator);
  auto [description, attributes] = rest.rsplit(kSeparator);
  if (attributes.starts_with("stage_id="))
    std::tie(description, attributes) = description.rsplit(kSeparator);
  if (id.trim().empty() || attributes.empty())
    return fail("expected 'id -- description -- forward_compute_time=..., "
                "backward_compute_time=..., activation_size=..., "
                "parameter_size=...', or an edge after a tab");
  Node node;
  node.id = id.trim().str();
  node.description = description.trim().str();
  if (!numbers.try_emplace(node.id, nodes.size()).second)
    return fail("second node '" + node.id + "'");
  if (!readAttributes(attributes, node))
    return false;
  if (nodes.size() == kMostNodes)
    return fail("more than " + llvm::Twine(kMostNodes) + " nodes");
  nodes.push_back(std::move(node));
  return true;
}

bool Reader::findNode(StringRef id, unsigned &node) {
  auto found = numbers.find(id);
  if (found == numbers.end())
    return fail("no node '" + id + "' stands before this edge");
  node = found->second;
  return true;
}

bool Reader::readEdge(StringRef text) {
  auto [from, to] = text.split(kSeparator);
  from = from.trim();
  to = to.trim();
  if (from.empty() || to.empty() || to.contains(kSeparator))
    return fail("expected an edge, 'from -- to' after a tab, got '" +
                text.trim() + "'");
  unsigned source, user;
  if (!findNode(from, source) || !findNode(to, user))
    return false;
  if (source == user)
    return fail("node '" + from + "' takes its own value");
  if (llvm::is_contained(nodes[source].users, user))
    return fail("second edge from '" + from + "' to '" + to + "'");
  nodes[source].users.push_back(user);
  nodes[user].operands.push_back(source);
  return true;
}

bool Reader::read(StringRef text) {
  while (!text.empty()) {
    StringRef whole;
    std::tie(whole, text) = text.split('\n');
    whole = whole.rtrim("\r");
    ++line;
    if (whole.trim().empty())
      continue;
    if (whole.starts_with("\t") ? !readEdge(whole.drop_front())
                                : !readNode(whole))
      return false;
  }
  line = 0;
  if (nodes.empty())
    return fail("the profile has no node");
  if (llvm::none_of(nodes, [](const Node &node) {
        return node.forward + node.backward > 0;
      }))
    return fail("no node of the profile takes time");
  return true;
}

//===----------------------------------------------------------------------===//
// The order of layers
//===----------------------------------------------------------------------===//

static void dropEnds(std::vector<Node> &nodes) {
  for (Node &node : nodes)
    node.isDropped = (node.operands.empty() &&
                      StringRef(node.description).starts_with("Input")) ||
                     (node.users.empty() &&
                      StringRef(node.description).starts_with("__getitem__"));
  for (Node &node : nodes) {
    if (node.isDropped) {
      node.operands.clear();
      node.users.clear();
    }
    for (std::vector<unsigned> *ends : {&node.operands, &node.users})
      llvm::erase_if(*ends,
                     [&](unsigned other) { return nodes[other].isDropped; });
  }
}

/// Sorts nodes topologically. The result lacks nodes if the graph has a cycle.
static std::vector<unsigned> sortNodes(const std::vector<Node> &nodes) {
  std::vector<unsigned> missing, order;
  for (const Node &node : nodes)
    missing.push_back(node.operands.size());
  for (unsigned i = 0; i < nodes.size(); ++i)
    if (missing[i] == 0)
      order.push_back(i);
  for (size_t at = 0; at < order.size(); ++at)
    for (unsigned user : nodes[order[at]].users)
      if (--missing[user] == 0)
        order.push_back(user);
  return order;
}

/// Returns the number of each node's ancestors.
static std::vector<unsigned>
countAncestors(const std::vector<Node> &nodes,
               const std::vector<unsigned> &sorted) {
  std::vector<llvm::BitVector> ancestors(nodes.size(),
                                         llvm::BitVector(nodes.size()));
  std::vector<unsigned> counts(nodes.size());
  for (unsigned i : sorted) {
    for (unsigned operand : nodes[i].operands) {
      ancestors[i] |= ancestors[operand];
      ancestors[i].set(operand);
    }
    counts[i] = ancestors[i].count();
  }
  return counts;
}

/// Returns the nodes that aren't dropped as a sequence of layers: by their
/// numbers of ancestors, but each node's operands directly before it if
/// possible.
static std::vector<unsigned> orderLayers(const std::vector<Node> &nodes,
                                         const std::vector<unsigned> &sorted) {
  std::vector<unsigned> counts = countAncestors(nodes, sorted);
  std::vector<unsigned> rest;
  for (unsigned i = 0; i < nodes.size(); ++i)
    if (!nodes[i].isDropped)
      rest.push_back(i);
  llvm::sort(rest, [&](unsigned a, unsigned b) {
    return std::pair(counts[a], a) < std::pair(counts[b], b);
  });
  std::vector<unsigned> order;
  std::vector<bool> isPlaced(nodes.size());
  auto place = [&](unsigned node) {
    if (!isPlaced[node])
      order.push_back(node);
    isPlaced[node] = true;
  };
  for (unsigned i : rest) {
    // A node without operands is placed before its first user.
    if (nodes[i].operands.empty() && !nodes[i].users.empty())
      continue;
    std::vector<unsigned> operands = nodes[i].operands;
    llvm::sort(operands);
    for (unsigned operand : operands)
      place(operand);
    place(i);
  }
  return order;
}

//===----------------------------------------------------------------------===//
// The model
//===----------------------------------------------------------------------===//

/// Returns, for each layer, the bytes of values that are made by it or by an
/// earlier layer and used by a later one.
static std::vector<double>
sumCrossingBytes(const std::vector<Node> &nodes,
                 const std::vector<unsigned> &order) {
  std::vector<unsigned> position(nodes.size());
  for (auto [at, node] : llvm::enumerate(order))
    position[node] = at;
  std::vector<double> bytes(order.size());
  for (auto [at, node] : llvm::enumerate(order)) {
    unsigned last = at;
    for (unsigned user : nodes[node].users)
      last = std::max(last, position[user]);
    for (unsigned cut = at; cut < last; ++cut)
      bytes[cut] += nodes[node].activation;
  }
  return bytes;
}

/// Returns a digest of the graph and its sizes, which doesn't depend on
/// measured times.
static std::string digestGraph(const std::vector<Node> &nodes) {
  llvm::SHA256 hash;
  for (const Node &node : nodes) {
    std::string text = node.id + "\n" + node.description + "\n" +
                       llvm::utostr(static_cast<uint64_t>(node.parameters));
    for (unsigned operand : node.operands)
      text += " " + llvm::utostr(operand);
    hash.update(text + "\n");
  }
  return llvm::toHex(hash.final(), /*LowerCase=*/true).substr(0, 16);
}

static LayerModel makeModel(const std::vector<Node> &nodes,
                            const std::vector<unsigned> &order,
                            int64_t samples) {
  llvm::StringMap<unsigned> uses;
  for (const Node &node : nodes) {
    ++uses[node.description];
    ++uses[node.id];
  }
  std::vector<double> crossing = sumCrossingBytes(nodes, order);
  LayerModel model;
  model.digest = digestGraph(nodes);
  for (auto [at, number] : llvm::enumerate(order)) {
    const Node &node = nodes[number];
    bool isNamed = !node.description.empty() && uses[node.description] == 1;
    Layer layer;
    layer.name = isNamed ? node.description : node.id;
    layer.forward = node.forward / 1e3 / samples;
    layer.backward = node.backward / 1e3 / samples;
    layer.parameterBytes = node.parameters;
    layer.savedBytes = node.activation / samples;
    layer.crossingBytes = crossing[at] / samples;
    model.layers.push_back(std::move(layer));
  }
  // A profile doesn't say which optimizer trains the model. Assume Adam, which
  // has two states per parameter.
  model.optimizerStates = 2;
  return model;
}

std::optional<LayerModel>
mlir::hfta::planning::readProfile(StringRef text, int64_t samples,
                                  ProfileError &error) {
  std::vector<Node> nodes;
  if (!Reader(nodes, error).read(text))
    return std::nullopt;
  dropEnds(nodes);
  std::vector<unsigned> sorted = sortNodes(nodes);
  if (sorted.size() != nodes.size()) {
    error = {0, "the profile's edges go in a circle"};
    return std::nullopt;
  }
  std::vector<unsigned> order = orderLayers(nodes, sorted);
  if (order.empty()) {
    error = {0, "the profile has no node but inputs and '__getitem__'"};
    return std::nullopt;
  }
  return makeModel(nodes, order, samples);
}
