//===- CpuTarget.cpp - Processors as a target -----------------------------===//

#include "Hfta/Target/Cpu/CpuTarget.h"

#include "Hfta/Conversion/HftaToRuntime.h"
#include "Hfta/Conversion/LowerKernels.h"
#include "Hfta/Dialect/Hfta/Job/Suggestions.h"
#include "Hfta/Pipelines/Phases.h"
#include "Hfta/Pipelines/Pipelines.h"
#include "Hfta/Target/Processors.h"
#include "Hfta/Transforms/Passes.h"

#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::hfta;

const CpuTarget &hfta::getCpuTarget() {
  static const CpuTarget target;
  return target;
}

TargetAttr hfta::getCpuTargetAttr(MLIRContext *context,
                                  llvm::StringRef processor) {
  return TargetAttr::get(context, getCpuTarget().getName(),
                         getProcessor(context, processor));
}

//===----------------------------------------------------------------------===//
// Options and processors
//===----------------------------------------------------------------------===//

static constexpr llvm::StringLiteral kProcessorOption = "--cpu";

static std::optional<UsageError> checkProcessor(llvm::StringRef value) {
  if (isKnownCpu(value))
    return std::nullopt;
  llvm::StringRef nearest = findNearest(value, getCpuNames());
  return UsageError{("unknown processor '" + value + "'").str(),
                    nearest.empty()
                        ? std::string("'hftac --list-targets' lists them")
                        : ("did you mean '" + nearest + "'?").str()};
}

llvm::ArrayRef<TargetOption> CpuTarget::getOptions() const {
  static constexpr TargetOption options[] = {
      {kProcessorOption, "CPU",
       "processor: native (default), x86-64-v3, x86-64-v4, ...", true,
       &phases::linalg, checkProcessor}};
  return options;
}

std::optional<UsageError> CpuTarget::resolve(MLIRContext *context,
                                             const TargetOptions &options,
                                             TargetAttr &target) const {
  auto given = options.find(kProcessorOption);
  FailureOr<ProcessorAttr> processor = resolveProcessor(
      context, given == options.end() ? llvm::StringRef("native")
                                      : llvm::StringRef(given->second));
  if (failed(processor))
    return UsageError{"this machine's processor is not an x86-64 one",
                      "name a processor with '--cpu'"};
  target = TargetAttr::get(context, getName(), *processor);
  return std::nullopt;
}

static void printNative(llvm::raw_ostream &os, ProcessorAttr processor) {
  os << "native: " << 8 * processor.getVectorBytes()
     << "-bit vectors, caches of ";
  llvm::interleave(
      processor.getCaches(), os,
      [&](CacheAttr cache) { os << cache.getBytes() / 1024; }, ", ");
  os << " KiB, " << processor.getFeatures() << '\n';
}

void CpuTarget::printDevices(llvm::raw_ostream &os) const {
  os << getName() << ": x86-64 processors, by --cpu=\n";
  unsigned column = 2;
  os << ' ';
  for (llvm::StringRef name : getCpuNames()) {
    if (column + name.size() + 1 > 80) {
      os << "\n ";
      column = 1;
    }
    os << ' ' << name;
    column += name.size() + 1;
  }
  os << '\n';
  MLIRContext context;
  context.loadDialect<HftaDialect>();
  FailureOr<ProcessorAttr> native = resolveProcessor(&context, "native");
  if (succeeded(native))
    printNative(os, *native);
}

//===----------------------------------------------------------------------===//
// Kernels and phases
//===----------------------------------------------------------------------===//

const FormingPolicy &CpuTarget::getForming() const {
  static constexpr FormingPolicy policy = {.joinsReductions = true,
                                           .pairsFactors = true};
  return policy;
}

void CpuTarget::addFormingPasses(OpPassManager &pm, bool accumulates) const {
  pm.addPass(createHftaRoundFactors());
  if (!accumulates)
    pm.addPass(createHftaStoreGradients());
  addCleanUp(pm);
  pm.addPass(createHftaRepeatCheapOps({/*wholeRows=*/true}));
}

void CpuTarget::addScratchPasses(OpPassManager &pm) const {
  buildScratchLinalgPipeline(pm);
  buildLowerKernelsPipeline(pm, {});
}

void hfta::buildLLVMPipeline(OpPassManager &pm,
                             const LLVMPipelineOptions &options) {
  LowerKernelsOptions lower;
  lower.verifySums = options.verifySums;
  buildLowerKernelsPipeline(pm, lower);
  // The kernels have been lowered, so their scratch memory is known.
  pm.addPass(createHftaScheduleTransfers());
  pm.addPass(createConvertHftaToRuntime());
  pm.addPass(createReconcileUnrealizedCastsPass());
  addPhaseMark(pm, "llvm");
}

static void addLLVM(OpPassManager &pm, const PipelineSettings &settings) {
  LLVMPipelineOptions options;
  options.verifySums = settings.verifySums;
  buildLLVMPipeline(pm, options);
}

static const PhaseInfo kPhases[] = {
    {"llvm", PhaseForm::module, "everything in the LLVM dialect", "", addLLVM,
     ExitCode::internal},
    {"llvm-ir", PhaseForm::file, "optimized LLVM IR", "", nullptr,
     ExitCode::internal, HostCode::llvmIR},
    {"asm", PhaseForm::file, "assembly", "", nullptr, ExitCode::internal,
     HostCode::assembly},
};
const PhaseInfo &phases::llvm = kPhases[0];
const PhaseInfo &phases::llvmIR = kPhases[1];
const PhaseInfo &phases::assembly = kPhases[2];

llvm::ArrayRef<PhaseInfo> CpuTarget::getPhases() const { return kPhases; }

Phase CpuTarget::getKernelPhase() const { return &phases::llvm; }

void hfta::registerCpuPipelines() {
  PassPipelineRegistration<LLVMPipelineOptions>(
      "hfta-llvm-pipeline",
      "Lower kernels, tasks and variables to the LLVM dialect",
      buildLLVMPipeline);
}
