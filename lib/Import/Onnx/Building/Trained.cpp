//===- Trained.cpp - The choice of trained initializers -------------------===//
//
// ONNX doesn't distinguish parameters from buffers and constants. The job's
// clauses decide first, then the file's metadata (ParameterList.cpp); without
// these, an initializer is trained unless an exporter made it up and no layer
// uses it, and the tensor of a `Constant` node isn't.
//===----------------------------------------------------------------------===//

#include "Building/ModelBuilder.h"
#include "Reading/LayerOperands.h"

namespace mlir::hfta::onnx_import {

TrainingRule
ModelBuilder::chooseRule(const InitializerUse &use,
                         const TrainingClauses &clauses,
                         const llvm::StringSet<> &layerOperands) const {
  if (std::optional<TrainingRule> rule = clauses.decide(use.variable))
    return *rule;
  if (graph.parameters)
    return graph.parameters->contains(use.initializer) ? TrainingRule::listed
                                                       : TrainingRule::unlisted;
  if (!isExporterName(use.initializer))
    return TrainingRule::parameter;
  return layerOperands.contains(use.initializer) ? TrainingRule::layer
                                                 : TrainingRule::exporter;
}

void ModelBuilder::chooseTrained() {
  TrainingClauses clauses(options.freeze, options.trainable);
  OperandKinds kinds = findOperandKinds(graph, /*nodes=*/false);
  llvm::StringSet<> ofLayers = findOperandKinds(graph, /*nodes=*/true).ofLayers;
  // The names that `freeze` may match, and those that `trainable` may match.
  SmallVector<StringRef> parameters, all, constants, doubtful;
  for (const auto &entry : graph.initializerUses) {
    const InitializerUse &use = entry.second;
    bool isNumber = use.kind == InitializerUse::Kind::number;
    if (!isNumber && use.kind != InitializerUse::Kind::parameter)
      continue;
    bool isListed =
        graph.parameters && graph.parameters->contains(use.initializer);
    // No pattern makes a parameter of a constant that no layer uses.
    if (use.isNode && !isListed && !ofLayers.contains(use.initializer))
      continue;
    all.push_back(use.variable);
    TrainingRule rule = chooseRule(use, clauses, kinds.ofLayers);
    if (!isNumber || isListed)
      parameters.push_back(use.variable);
    if (!isNumber || isListed || rule == TrainingRule::trainable)
      trainingRules[use.variable] = rule;
    else if (use.isNode && !graph.parameters)
      constants.push_back(use.variable);
    if (!isNumber && rule == TrainingRule::parameter &&
        !ofLayers.contains(use.initializer) &&
        kinds.ofArithmetic.contains(use.initializer) &&
        isUntellingName(use.initializer))
      doubtful.push_back(use.variable);
  }
  noteDoubts(constants, doubtful);
  clauses.check(parameters, all,
                [&](bool isTrainable, size_t index, const Twine &message) {
                  reporter.invalid(reporter.getFileLocation(), message);
                });
}

/// Returns a text such as "'a', 'b', 'c' and 4 more".
static std::string listSome(SmallVector<StringRef> &names) {
  constexpr size_t kMost = 3;
  llvm::sort(names);
  names.erase(llvm::unique(names), names.end());
  std::string text;
  for (StringRef name : ArrayRef(names).take_front(kMost))
    text += (text.empty() ? "'" : ", '") + name.str() + "'";
  if (names.size() > kMost)
    text += " and " + std::to_string(names.size() - kMost) + " more";
  return text;
}

/// Notes on the model which tensors look like parameters but aren't trained,
/// and the other way round.
void ModelBuilder::noteDoubts(SmallVector<StringRef> constants,
                              SmallVector<StringRef> doubtful) {
  SmallVector<Attribute> notes;
  auto note = [&](const Twine &text) {
    notes.push_back(builder.getStringAttr(text));
  };
  if (!constants.empty()) {
    std::string names = listSome(constants);
    bool isOne = constants.size() == 1;
    note(Twine(constants.size()) +
         (isOne ? " constant of a layer is" : " constants of layers are") +
         " not trained (" + names + "): trainable \"...\" names " +
         (isOne ? "it" : "them"));
  }
  if (!doubtful.empty()) {
    std::string names = listSome(doubtful);
    bool isOne = doubtful.size() == 1;
    note(Twine(doubtful.size()) +
         (isOne ? " trained tensor looks like a constant"
                : " trained tensors look like constants") +
         " (" + names + "): freeze \"...\" keeps " + (isOne ? "it" : "them"));
  }
  if (!notes.empty())
    model->setAttr(kTrainingNotesAttrName, builder.getArrayAttr(notes));
}

} // namespace mlir::hfta::onnx_import
