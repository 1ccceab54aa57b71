//===- Trained.cpp - The choice of trained initializers -------------------===//
//
// ONNX doesn't distinguish parameters from buffers and constants. The job's
// clauses decide first, then the file's metadata (ParameterList.cpp); without
// these, an initializer is trained unless an exporter made it up and no layer
// uses it.
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
  llvm::StringSet<> layerOperands = findLayerOperands(graph);
  // The names that `freeze` may match, and those that `trainable` may match.
  SmallVector<StringRef> parameters, all;
  for (const auto &entry : graph.initializerUses) {
    const InitializerUse &use = entry.second;
    bool isNumber = use.kind == InitializerUse::Kind::number;
    if (!isNumber && use.kind != InitializerUse::Kind::parameter)
      continue;
    all.push_back(use.variable);
    TrainingRule rule = chooseRule(use, clauses, layerOperands);
    bool isListed =
        graph.parameters && graph.parameters->contains(use.initializer);
    if (!isNumber || isListed)
      parameters.push_back(use.variable);
    if (!isNumber || isListed || rule == TrainingRule::trainable)
      trainingRules[use.variable] = rule;
  }
  clauses.check(parameters, all,
                [&](bool isTrainable, size_t index, const Twine &message) {
                  reporter.invalid(reporter.getFileLocation(), message);
                });
}

} // namespace mlir::hfta::onnx_import
