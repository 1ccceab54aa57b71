//===- ParameterGroups.cpp - The groups to which parameters belong --------===//

#include "Building/JobBuilder.h"
#include "Hfta/Dialect/Hfta/IR/ParameterKinds.h"
#include "Hfta/Dialect/Hfta/IR/Training.h"
#include "Hfta/Dialect/Hfta/Job/Optimizers.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::language;

namespace {
/// The members of a job's groups.
class GroupChooser {
public:
  GroupChooser(const JobInfo &info, JobDiagnostics &diagnostics)
      : info(info), groups(info.groups), diagnostics(diagnostics) {}

  /// Notes on a trained parameter to which groups it belongs.
  void choose(VariableOp variable, const ParameterKinds &kinds) {
    names.push_back(variable.getOwnName());
    SmallVector<int64_t> chosen;
    for (auto [index, group] : llvm::enumerate(groups)) {
      bool isMember = false;
      for (const NamedRange &kind : group.kinds)
        isMember |=
            note(kind, kinds.has(variable, *findParameterKind(kind.name)));
      for (const NamedRange &pattern : group.patterns)
        isMember |=
            note(pattern, ParameterPattern(pattern.name).matches(names.back()));
      if (isMember)
        chosen.push_back(static_cast<int64_t>(index));
    }
    setParameterGroups(variable, chosen);
    checkAxes(variable);
  }

  /// Reports kinds and patterns to which no parameter belongs. Returns false if
  /// there are any, or if an optimizer doesn't take a parameter.
  bool check() {
    for (const GroupInfo &group : groups) {
      for (const NamedRange &kind : group.kinds)
        if (!matched.contains(&kind)) {
          ok = false;
          diagnostics.error(
              kind.range,
              "the model has no trained parameters of the kind '" + kind.name +
                  "'",
              "leave it out");
        }
      for (const NamedRange &pattern : group.patterns)
        if (!matched.contains(&pattern)) {
          ok = false;
          StringRef invalid = ParameterPattern(pattern.name).getError();
          diagnostics.error(
              pattern.range,
              "group pattern '" + pattern.name + "'" +
                  (invalid.empty()
                       ? std::string(
                             " matches no trained parameter of the model")
                       : (": " + invalid).str()),
              suggest(pattern.name,
                      SmallVector<StringRef>(names.begin(), names.end()),
                      "trained parameters are"));
        }
    }
    return ok;
  }

private:
  /// Reports an optimizer of matrices that a parameter of fewer than two axes
  /// would have.
  void checkAxes(VariableOp variable) {
    ArrayRef<int64_t> shape = variable.getTensorType().getShape();
    const ParameterGroup *own =
        findOptimizerGroup(info.job, getParameterGroups(variable));
    for (auto [index, kind] : llvm::enumerate(info.job.optimizers)) {
      auto number = static_cast<int64_t>(index);
      bool isUsed = own ? own->optimizer == number
                        : !info.job.getCopiesOfOptimizer(number).empty();
      if (!ok || !isUsed || shape.size() >= 2 ||
          findOptimizer(kind.name)->matrixUse != MatrixUse::only)
        continue;
      ok = false;
      size_t group = own ? own - info.job.groupsOfParameters.data() : 0;
      const ast::Clause *clause = info.train->find("optimizer");
      diagnostics.error(own      ? groups[group].range
                        : clause ? clause->range
                                 : info.turns.front().range,
                        "'" + kind.name + "' updates matrices, but '" +
                            names.back() + "' has the shape " +
                            printShape(shape),
                        "give the job another optimizer, and these parameters "
                        "this one: group hidden, optimizer = " +
                            kind.name + "(...)");
    }
  }

  bool note(const NamedRange &selector, bool matches) {
    if (matches)
      matched.insert(&selector);
    return matches;
  }

  const JobInfo &info;
  ArrayRef<GroupInfo> groups;
  JobDiagnostics &diagnostics;
  bool ok = true;
  llvm::DenseSet<const NamedRange *> matched;
  std::vector<std::string> names;
};
} // namespace

/// Notes on each trained parameter to which groups it belongs and, for adaptive
/// clipping and optimizers of matrices, which axes number its layer's outputs.
/// Checks that everything that
/// a group names matches some parameters.
bool JobBuilder::chooseGroups(ModuleOp module) {
  auto takesMatrices = [](const OptimizerKind &kind) {
    return findOptimizer(kind.name)->matrixUse != MatrixUse::none;
  };
  // A job's optimizers include those of its groups.
  bool needsOutputs = info.job.clipsAdaptively() ||
                      llvm::any_of(info.job.optimizers, takesMatrices);
  if (info.groups.empty() && !needsOutputs)
    return true;
  GroupChooser chooser(info, diagnostics);
  for (ModelOp model : module.getOps<ModelOp>()) {
    auto forward = model.lookupSymbol<func::FuncOp>("forward");
    SmallVector<unsigned> outputs;
    for (const LossTermInfo &term : info.terms)
      outputs.push_back(
          *findOutput(term.loss.output, term.loss.range, forward));
    ParameterKinds kinds(model, outputs);
    for (VariableOp variable : model.getBody().getOps<VariableOp>())
      if (variable.getTrained()) {
        chooser.choose(variable, kinds);
        if (needsOutputs)
          setOutputAxes(variable, kinds.getOutputAxes(variable));
      }
  }
  return chooser.check();
}
