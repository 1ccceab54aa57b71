//===- Phases.cpp - The compiler's phases ---------------------------------===//

#include "Hfta/Pipelines/Phases.h"

#include "Hfta/Pipelines/Pipelines.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::hfta;

//===----------------------------------------------------------------------===//
// The phases that all targets have
//===----------------------------------------------------------------------===//

static void addFused(OpPassManager &pm, const PipelineSettings &) {
  buildFusedPipeline(pm, {});
}

static void addTrain(OpPassManager &pm, const PipelineSettings &settings) {
  TrainPipelineOptions options;
  options.cuts = settings.cuts;
  options.plansMemory = settings.plansMemory;
  buildTrainPipeline(pm, options);
}

static void addPlanned(OpPassManager &pm, const PipelineSettings &settings) {
  buildPlannedPipeline(pm, *settings.target, settings.accumulates);
}

static void addScheduled(OpPassManager &pm, const PipelineSettings &) {
  buildScheduledPipeline(pm, {});
}

static void addLinalg(OpPassManager &pm, const PipelineSettings &) {
  buildLinalgPipeline(pm, {});
}

namespace mlir::hfta::phases {
const PhaseInfo import = {
    "import", PhaseForm::module, "imported models, each distinct one once",
    "",       nullptr,           ExitCode::input};
const PhaseInfo fused = {
    "fused", PhaseForm::module, "one model with the operations of all copies",
    "",      addFused,          ExitCode::unsupported};
const PhaseInfo train = {
    "train", PhaseForm::module, "tasks: forward, backward, norm, update, ...",
    "",      addTrain,          ExitCode::unsupported};
const PhaseInfo planned = {
    "planned", PhaseForm::module, "kernels, and places of tensors in memory",
    "",        addPlanned,        ExitCode::unsupported};
const PhaseInfo scheduled = {"scheduled",
                             PhaseForm::module,
                             "the order in which kernels and transfers run",
                             "",
                             addScheduled,
                             ExitCode::unsupported};
const PhaseInfo linalg = {
    "linalg", PhaseForm::module, "kernels in MLIR's linalg dialect",
    "",       addLinalg,         ExitCode::internal};
const PhaseInfo object = {"obj", PhaseForm::file, "object file",
                          ".o",  nullptr,         ExitCode::internal};
const PhaseInfo library = {
    "lib", PhaseForm::linked, "static library and C header",
    ".a",  nullptr,           ExitCode::cannotWrite};
const PhaseInfo executable = {
    "exe", PhaseForm::linked, "program that trains (default)",
    "",    nullptr,           ExitCode::cannotWrite};
} // namespace mlir::hfta::phases

/// The common phases before the branches, and those after them.
static constexpr Phase kBefore[] = {&phases::import,    &phases::fused,
                                    &phases::train,     &phases::planned,
                                    &phases::scheduled, &phases::linalg};
static constexpr Phase kAfter[] = {&phases::object, &phases::library,
                                   &phases::executable};

//===----------------------------------------------------------------------===//
// Paths
//===----------------------------------------------------------------------===//

static llvm::SmallVector<Phase> join(llvm::ArrayRef<const Target *> targets) {
  llvm::SmallVector<Phase> found(std::begin(kBefore), std::end(kBefore));
  for (const Target *target : targets)
    for (const PhaseInfo &phase : target->getPhases())
      found.push_back(&phase);
  llvm::append_range(found, kAfter);
  return found;
}

llvm::SmallVector<Phase> hfta::getPhases() { return join(getTargets()); }

llvm::SmallVector<Phase> hfta::getPath(const Target &target) {
  return join(&target);
}

Phase hfta::findPhase(llvm::StringRef name, const Target &target) {
  for (Phase phase : getPath(target))
    if (phase->name == name)
      return phase;
  return nullptr;
}

const Target *hfta::findBranch(Phase phase) {
  if (llvm::is_contained(kBefore, phase) || llvm::is_contained(kAfter, phase))
    return nullptr;
  return *llvm::find_if(getTargets(), [&](const Target *target) {
    return llvm::is_contained(getPath(*target), phase);
  });
}

const Target *hfta::findTargetOfPhase(llvm::StringRef name) {
  for (const Target *target : getTargets())
    if (findPhase(name, *target))
      return target;
  return nullptr;
}

bool hfta::comesAfter(Phase phase, Phase other) {
  return llvm::any_of(getTargets(), [&](const Target *target) {
    llvm::SmallVector<Phase> path = getPath(*target);
    auto *first = llvm::find(path, other);
    return first != path.end() &&
           std::find(std::next(first), path.end(), phase) != path.end();
  });
}
