//===- Layers.cpp - The layers by which learning rates fall ---------------===//

#include "Building/JobBuilder.h"
#include "Hfta/Dialect/Hfta/IR/ParameterKinds.h"
#include "Hfta/Dialect/Hfta/IR/Training.h"

#include "llvm/ADT/STLExtras.h"

#include <map>

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::language;

/// Returns the number that stands in a name where the first `*` of a pattern
/// stands, such as 3 of "blocks.3.weight" for "blocks.*"; -1 if there is none,
/// or if it is too large.
static int64_t getNumberAtStar(StringRef pattern, StringRef name) {
  size_t star = pattern.find('*');
  // Other characters with a meaning may match texts of any length.
  StringRef before = pattern.take_front(star);
  if (star == StringRef::npos ||
      before.find_first_of("?[{\\") != StringRef::npos ||
      !name.consume_front(before))
    return -1;
  int64_t number;
  StringRef digits = name.take_while([](char c) { return llvm::isDigit(c); });
  return digits.getAsInteger(10, number) ? -1 : number;
}

namespace {
/// The layers of one model, each identified by the pattern that matches its
/// parameters and, if the names have one at the pattern's `*`, a number.
class LayerNumbering {
public:
  explicit LayerNumbering(const std::vector<std::string> &texts)
      : patterns(texts.begin(), texts.end()) {}

  /// Adds a parameter. Returns the index of the first pattern that matches it,
  /// or nothing.
  std::optional<size_t> add(VariableOp variable) {
    std::string name = variable.getOwnName();
    for (auto [index, pattern] : llvm::enumerate(patterns))
      if (pattern.matches(name)) {
        int64_t number = getNumberAtStar(pattern.getText(), name);
        layers[{index, number}].push_back(variable);
        return index;
      }
    return std::nullopt;
  }
  /// Notes on each parameter how many layers come after its own.
  void number() {
    auto distance = static_cast<int64_t>(layers.size());
    for (auto &[layer, variables] : layers) {
      --distance;
      for (VariableOp variable : variables)
        setLayerDistance(variable, distance);
    }
  }

private:
  std::vector<ParameterPattern> patterns;
  std::map<std::pair<size_t, int64_t>, SmallVector<VariableOp>> layers;
};
} // namespace

/// Notes on each parameter how many layers come after its own. Frozen ones
/// count, so that freezing some changes no other parameter's rate.
bool JobBuilder::chooseLayers(ModuleOp module) {
  if (info.layerRanges.empty())
    return true;
  const std::vector<std::string> &texts = info.job.layers;
  std::vector<std::string> names;
  llvm::DenseSet<size_t> matched;
  bool ok = true;
  for (ModelOp model : module.getOps<ModelOp>()) {
    LayerNumbering layers(texts);
    for (auto variable : model.getBody().getOps<VariableOp>()) {
      if (variable.getRole() != Role::parameter)
        continue;
      names.push_back(variable.getOwnName());
      if (std::optional<size_t> pattern = layers.add(variable)) {
        matched.insert(*pattern);
      } else if (variable.getTrained() && ok) {
        ok = false;
        diagnostics.error(info.layerDecayRange,
                          "parameter '" + names.back() +
                              "' belongs to none of the 'layers'",
                          "each trained parameter belongs to the first pattern "
                          "that matches it");
      }
    }
    layers.number();
  }
  SmallVector<StringRef> known(names.begin(), names.end());
  for (auto [index, range] : llvm::enumerate(info.layerRanges)) {
    ParameterPattern pattern(texts[index]);
    if (matched.contains(index))
      continue;
    ok = false;
    std::string wrong = findProblem(pattern, known, "parameter", {}, "");
    diagnostics.error(range,
                      "layer pattern '" + texts[index] + "'" +
                          (wrong.empty() ? " matches only parameters of "
                                           "patterns before it"
                                         : wrong),
                      suggest(texts[index], known, "parameters are"));
  }
  return ok;
}
