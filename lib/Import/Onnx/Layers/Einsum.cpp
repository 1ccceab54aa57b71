//===- Einsum.cpp - Sums of products over labelled axes -------------------===//

#include "Building/Node.h"

#include "llvm/ADT/StringExtras.h"

#include <string>

namespace mlir::hfta::onnx_import {

namespace {

/// A tensor and the label of each of its axes. Axes of an ellipsis have digits
/// as labels, the last axis 9.
struct Term {
  Value value;
  std::string labels;
};

/// Imports one Einsum node.
class Einsum {
public:
  explicit Einsum(Node &node) : node(node) {}

  void import();

private:
  bool parse();
  bool expandLabels(StringRef text, int64_t rank, std::string &labels);
  std::string getImplicitResult() const;
  bool checkSizes();
  void takeDiagonals(Term &term);
  /// Sums over the axes whose labels aren't in `needed`.
  void sumRest(Term &term, StringRef needed);
  Term multiply(const Term &lhs, const Term &rhs, StringRef needed);

  Node &node;
  SmallVector<Term> terms;
  std::string result;
};

} // namespace

static bool has(StringRef labels, char label) { return labels.contains(label); }

//===----------------------------------------------------------------------===//
// The equation
//===----------------------------------------------------------------------===//

/// Sets `labels` to the labels of `text`, with digits for an ellipsis, for an
/// operand of this rank. If `rank` < 0, the text is the result's, whose
/// ellipsis has the axes of all operands' ellipses. Returns false after an
/// error.
bool Einsum::expandLabels(StringRef text, int64_t rank, std::string &labels) {
  auto [before, after] = text.split("...");
  bool hasEllipsis = text.contains("...");
  int64_t named = before.size() + after.size();
  auto areLetters = [](StringRef part) {
    return llvm::all_of(part, [](char label) { return llvm::isAlpha(label); });
  };
  constexpr int64_t kMostAxes = 10;
  if (!areLetters(before) || !areLetters(after) ||
      (rank >= 0 && (named > rank || (!hasEllipsis && named != rank) ||
                     rank - named > kMostAxes))) {
    std::string where =
        rank < 0 ? "a result" : "an operand of rank " + std::to_string(rank);
    node.invalid("'" + text + "' in the equation doesn't fit " + where);
    return false;
  }
  std::string ellipsis;
  for (char label = '0'; label <= '9' && hasEllipsis; ++label)
    if (rank < 0
            ? llvm::any_of(
                  terms,
                  [&](const Term &term) { return has(term.labels, label); })
            : '9' - label < rank - named)
      ellipsis += label;
  labels = before.str() + ellipsis + after.str();
  return true;
}

/// Returns the labels of a result that the equation doesn't give: those of an
/// ellipsis, then those that occur only once, in alphabetical order.
std::string Einsum::getImplicitResult() const {
  std::string all, labels;
  for (const Term &term : terms)
    all += term.labels;
  for (int label = 0; label < 128; ++label) {
    auto count = StringRef(all).count(static_cast<char>(label));
    if (count == 1 || (count > 1 && llvm::isDigit(static_cast<char>(label))))
      labels += static_cast<char>(label);
  }
  return labels;
}

bool Einsum::parse() {
  std::string equation = node.getString("equation", "");
  llvm::erase(equation, ' ');
  auto [operands, output] = StringRef(equation).split("->");
  SmallVector<StringRef> texts;
  operands.split(texts, ',');
  if (texts.size() != node.getNumInputs()) {
    node.invalid("equation '" + equation + "' has " + Twine(texts.size()) +
                 " operands, the node " + Twine(node.getNumInputs()));
    return false;
  }
  for (auto [index, text] : llvm::enumerate(texts)) {
    Value value = node.getInput(index);
    std::string labels;
    if (!node.requireFloat(value) ||
        !expandLabels(text, getType(value).getRank(), labels))
      return false;
    terms.push_back({value, labels});
  }
  if (!StringRef(equation).contains("->")) {
    result = getImplicitResult();
    return checkSizes();
  }
  return expandLabels(output, /*rank=*/-1, result) && checkSizes();
}

/// Checks that axes with equal labels have equal sizes. An ellipsis' axes of
/// size 1 are dropped where other terms have a larger size. Returns false after
/// an error.
bool Einsum::checkSizes() {
  llvm::SmallDenseMap<char, int64_t> sizes;
  for (const Term &term : terms)
    for (auto [label, size] : llvm::zip(term.labels, getShape(term.value))) {
      auto known = sizes.try_emplace(label, size).first;
      if (known->second == 1 && llvm::isDigit(label))
        known->second = size;
      if (known->second == size || (size == 1 && llvm::isDigit(label)))
        continue;
      node.invalid("label '" + Twine(label) + "' has sizes " +
                   Twine(known->second) + " and " + Twine(size));
      return false;
    }
  for (Term &term : terms) {
    std::string labels;
    SmallVector<int64_t> shape;
    for (auto [label, size] : llvm::zip(term.labels, getShape(term.value))) {
      if (sizes[label] != size)
        continue;
      labels += label;
      shape.push_back(size);
    }
    term = {node.reshape(term.value, shape), labels};
  }
  for (char label : result) {
    if (sizes.count(label) && StringRef(result).count(label) == 1)
      continue;
    node.invalid("label '" + Twine(label) + "' of the result " +
                 (sizes.count(label) ? "stands twice" : "is in no operand"));
    return false;
  }
  return !node.failed();
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Transposes the term so that its axes are in the order of `labels`.
static void arrange(Node &node, Term &term, StringRef labels) {
  SmallVector<int64_t> permutation;
  for (char label : labels)
    permutation.push_back(term.labels.find(label));
  if (!llvm::is_sorted(permutation))
    term.value = node.transpose(term.value, permutation);
  term.labels = labels.str();
}

/// Returns the positions of the first two equal labels.
static std::optional<std::pair<size_t, size_t>> findRepeated(StringRef labels) {
  for (size_t first = 0; first < labels.size(); ++first)
    if (size_t second = labels.find(labels[first], first + 1);
        second != StringRef::npos)
      return std::make_pair(first, second);
  return std::nullopt;
}

void Einsum::takeDiagonals(Term &term) {
  while (auto repeated =
             term.value ? findRepeated(term.labels) : std::nullopt) {
    auto [first, second] = *repeated;
    char label = term.labels[first];
    SmallVector<int64_t> order, shape;
    std::string labels;
    for (size_t axis = 0; axis < term.labels.size(); ++axis) {
      if (axis == first || axis == second)
        continue;
      order.push_back(axis);
      shape.push_back(getShape(term.value)[axis]);
      labels += term.labels[axis];
    }
    int64_t size = getShape(term.value)[first];
    order.append({static_cast<int64_t>(first), static_cast<int64_t>(second)});
    // In a flattened matrix, neighbours on the diagonal are size + 1 elements
    // apart.
    SmallVector<int64_t> offsets(shape.size() + 1, 0);
    SmallVector<int64_t> steps(shape.size() + 1, 1), matrix(shape);
    matrix.push_back(size * size);
    shape.push_back(size);
    steps.back() = size + 1;
    Value rows = node.reshape(node.transpose(term.value, order), matrix);
    term = {node.create<SliceOp>(rows, ArrayRef<int64_t>(offsets),
                                 ArrayRef<int64_t>(shape),
                                 ArrayRef<int64_t>(steps)),
            labels + label};
  }
}

void Einsum::sumRest(Term &term, StringRef needed) {
  SmallVector<int64_t> axes;
  std::string labels;
  for (auto [axis, label] : llvm::enumerate(term.labels)) {
    if (has(needed, label))
      labels += label;
    else
      axes.push_back(axis);
  }
  if (term.value)
    term = {node.reduce(ReduceKind::sum, term.value, axes), labels};
}

Term Einsum::multiply(const Term &lhs, const Term &rhs, StringRef needed) {
  if (!lhs.value || !rhs.value)
    return {};
  std::string space = lhs.labels, labels;
  SmallVector<int64_t> sizes(getShape(lhs.value));
  for (auto [label, size] : llvm::zip(rhs.labels, getShape(rhs.value))) {
    if (has(lhs.labels, label))
      continue;
    space += label;
    sizes.push_back(size);
  }
  for (char label : space)
    if (has(needed, label))
      labels += label;
  if (labels == space) {
    // No axis is summed over, so the product is elementwise.
    auto spread = [&](Term term) {
      std::string order;
      for (char label : space)
        if (has(term.labels, label))
          order += label;
      arrange(node, term, order);
      SmallVector<int64_t> dimensions;
      for (char label : order)
        dimensions.push_back(space.find(label));
      return node.broadcastAlong(term.value, sizes, dimensions);
    };
    return {node.mul(spread(lhs), spread(rhs)), labels};
  }
  SmallVector<AffineMap> maps;
  for (StringRef operand :
       {StringRef(lhs.labels), StringRef(rhs.labels), StringRef(labels)}) {
    SmallVector<unsigned> axes;
    for (char label : operand)
      axes.push_back(space.find(label));
    maps.push_back(AffineMap::getMultiDimMapWithTargets(
        space.size(), axes, node.getBuilder().getContext()));
  }
  return {node.create<ContractOp>(lhs.value, rhs.value,
                                  node.getBuilder().getAffineMapArrayAttr(maps),
                                  TypeAttr()),
          labels};
}

void Einsum::import() {
  if (!parse())
    return;
  for (auto [index, term] : llvm::enumerate(terms)) {
    takeDiagonals(term);
    std::string needed = result;
    for (auto [other, rest] : llvm::enumerate(terms))
      if (other != index)
        needed += rest.labels;
    sumRest(term, needed);
  }
  // Multiply the terms from left to right, in their order.
  Term product = terms.front();
  for (size_t next = 1; next < terms.size(); ++next) {
    std::string needed = result;
    for (const Term &later : ArrayRef(terms).drop_front(next + 1))
      needed += later.labels;
    product = multiply(product, terms[next], needed);
  }
  if (!product.value)
    return;
  arrange(node, product, result);
  node.setOutput(0, product.value);
}

static void importEinsum(Node &node) { Einsum(node).import(); }

llvm::ArrayRef<OpHandler> getEinsumHandlers() {
  static const OpHandler handlers[] = {
      {"Einsum", 12, importEinsum, 0, kAnyNumber}};
  return handlers;
}

} // namespace mlir::hfta::onnx_import
