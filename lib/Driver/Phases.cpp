//===- Phases.cpp - The compiler's phases ---------------------------------===//

#include "Hfta/Driver/Phases.h"

#include "Hfta/Driver/Pipelines.h"

using namespace mlir;
using namespace mlir::hfta;

static void addFused(OpPassManager &pm, const PipelineSettings &) {
  buildFusedPipeline(pm, {});
}

static void addTrain(OpPassManager &pm, const PipelineSettings &settings) {
  TrainPipelineOptions options;
  options.cuts = settings.cuts;
  buildTrainPipeline(pm, options);
}

static void addPlanned(OpPassManager &pm, const PipelineSettings &) {
  buildPlannedPipeline(pm, {});
}

static void addScheduled(OpPassManager &pm, const PipelineSettings &) {
  buildScheduledPipeline(pm, {});
}

static void addLinalg(OpPassManager &pm, const PipelineSettings &) {
  buildLinalgPipeline(pm, {});
}

static void addLLVM(OpPassManager &pm, const PipelineSettings &settings) {
  LLVMPipelineOptions options;
  options.verifySums = settings.verifySums;
  buildLLVMPipeline(pm, options);
}

llvm::ArrayRef<PhaseInfo> hfta::getPhases() {
  static const PhaseInfo phases[] = {
      {Phase::import, "import", "hfta dialect, one model a copy", "", nullptr,
       ExitCode::input},
      {Phase::fused, "fused", "hfta dialect, one model for all copies", "",
       addFused, ExitCode::unsupported},
      {Phase::train, "train", "tasks: forward, backward, norm, update, ...", "",
       addTrain, ExitCode::unsupported},
      {Phase::planned, "planned", "kernels on planned memory", "", addPlanned,
       ExitCode::unsupported},
      {Phase::scheduled, "scheduled", "tasks and schedules as data", "",
       addScheduled, ExitCode::internal},
      {Phase::linalg, "linalg", "kernels as linalg on tensors", "", addLinalg,
       ExitCode::internal},
      {Phase::llvm, "llvm", "LLVM dialect", "", addLLVM, ExitCode::internal},
      {Phase::llvmIR, "llvm-ir", "optimized LLVM IR", "", nullptr,
       ExitCode::internal},
      {Phase::assembly, "asm", "assembly", "", nullptr, ExitCode::internal},
      {Phase::object, "obj", "object file", ".o", nullptr, ExitCode::internal},
      {Phase::library, "lib", "static library and C header", ".a", nullptr,
       ExitCode::cannotWrite},
      {Phase::executable, "exe", "program that trains (default)", "", nullptr,
       ExitCode::cannotWrite},
  };
  return phases;
}

const PhaseInfo &hfta::getPhase(Phase phase) {
  return getPhases()[static_cast<size_t>(phase)];
}

const PhaseInfo *hfta::findPhase(llvm::StringRef name) {
  for (const PhaseInfo &info : getPhases())
    if (info.name == name)
      return &info;
  return nullptr;
}
