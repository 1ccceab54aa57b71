//===- Phases.cpp - The compiler's phases ---------------------------------===//

#include "Hfta/Pipelines/Phases.h"

#include "Hfta/Pipelines/Pipelines.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::hfta;

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
  PlannedPipelineOptions options;
  options.byElements = settings.byElements;
  options.accumulates = settings.accumulates;
  buildPlannedPipeline(pm, options);
}

static void addScheduled(OpPassManager &pm, const PipelineSettings &) {
  buildScheduledPipeline(pm, {});
}

static void addLinalg(OpPassManager &pm, const PipelineSettings &settings) {
  LinalgPipelineOptions options;
  options.byElements = settings.byElements;
  buildLinalgPipeline(pm, options);
}

static void addLLVM(OpPassManager &pm, const PipelineSettings &settings) {
  LLVMPipelineOptions options;
  options.verifySums = settings.verifySums;
  buildLLVMPipeline(pm, options);
}

static void addGpu(OpPassManager &pm, const PipelineSettings &settings) {
  LowerGpuKernelsOptions options;
  options.warpGroups = settings.warpGroups;
  buildGpuPipeline(pm, options);
}

llvm::ArrayRef<TargetInfo> hfta::getTargets() {
  static const TargetInfo targets[] = {{"cpu", TargetKind::cpu},
                                       {"cuda", TargetKind::cuda}};
  return targets;
}

const TargetInfo &hfta::getTarget(TargetKind kind) {
  return *llvm::find_if(getTargets(), [&](const TargetInfo &target) {
    return target.kind == kind;
  });
}

// In this table, the phases of one target come after those of the other targets
// and before the phases that all targets have in common. A new target needs its
// phases here, a row in getTargets(), and code wherever the driver, lib/Target
// and lib/Conversion/HftaToRuntime distinguish targets by their TargetKind.
llvm::ArrayRef<PhaseInfo> hfta::getPhases() {
  constexpr PhaseForm module = PhaseForm::module, file = PhaseForm::file,
                      linked = PhaseForm::linked;
  constexpr std::nullopt_t all = std::nullopt;
  constexpr TargetKind cpu = TargetKind::cpu, cuda = TargetKind::cuda;
  static const PhaseInfo phases[] = {
      {Phase::import, "import", module, all,
       "imported models, each distinct one once", "", nullptr, ExitCode::input},
      {Phase::fused, "fused", module, all,
       "one model with the operations of all copies", "", addFused,
       ExitCode::unsupported},
      {Phase::train, "train", module, all,
       "tasks: forward, backward, norm, update, ...", "", addTrain,
       ExitCode::unsupported},
      {Phase::planned, "planned", module, all,
       "kernels, and places of tensors in memory", "", addPlanned,
       ExitCode::unsupported},
      {Phase::scheduled, "scheduled", module, all,
       "the order in which kernels and transfers run", "", addScheduled,
       ExitCode::unsupported},
      {Phase::linalg, "linalg", module, all, "kernels in MLIR's linalg dialect",
       "", addLinalg, ExitCode::internal},
      {Phase::llvm, "llvm", module, cpu, "everything in the LLVM dialect", "",
       addLLVM, ExitCode::internal},
      {Phase::llvmIR, "llvm-ir", file, cpu, "optimized LLVM IR", "", nullptr,
       ExitCode::internal},
      {Phase::assembly, "asm", file, cpu, "assembly", "", nullptr,
       ExitCode::internal},
      {Phase::gpu, "gpu", module, cuda,
       "with --target=cuda: kernels in the NVVM dialect", "", addGpu,
       ExitCode::unsupported},
      {Phase::ptx, "ptx", file, cuda,
       "with --target=cuda: kernels for one --chip, as text", "", nullptr,
       ExitCode::internal},
      {Phase::object, "obj", file, all, "object file", ".o", nullptr,
       ExitCode::internal},
      {Phase::library, "lib", linked, all, "static library and C header", ".a",
       nullptr, ExitCode::cannotWrite},
      {Phase::executable, "exe", linked, all, "program that trains (default)",
       "", nullptr, ExitCode::cannotWrite},
  };
  return phases;
}

const PhaseInfo &hfta::getPhase(Phase phase) {
  return *llvm::find_if(
      getPhases(), [&](const PhaseInfo &info) { return info.phase == phase; });
}

llvm::SmallVector<const PhaseInfo *> hfta::getPath(TargetKind target) {
  llvm::SmallVector<const PhaseInfo *> path;
  for (const PhaseInfo &info : getPhases())
    if (!info.target || info.target == target)
      path.push_back(&info);
  return path;
}

const PhaseInfo *hfta::findPhase(llvm::StringRef name, TargetKind target) {
  for (const PhaseInfo *info : getPath(target))
    if (info->name == name)
      return info;
  return nullptr;
}

const TargetInfo *hfta::findTargetOfPhase(llvm::StringRef name) {
  for (const TargetInfo &target : getTargets())
    if (findPhase(name, target.kind))
      return &target;
  return nullptr;
}

bool hfta::comesAfter(Phase phase, Phase other) {
  const PhaseInfo &first = getPhase(other), &second = getPhase(phase);
  bool isOnePath =
      !first.target || !second.target || first.target == second.target;
  return isOnePath && &first < &second;
}
