//===- CudaTarget.cpp - NVIDIA GPUs as a target ---------------------------===//

#include "Hfta/Target/Cuda/CudaTarget.h"
#include "GpuCodegen.h"

#include "Hfta/Conversion/HftaToRuntime.h"
#include "Hfta/Conversion/LowerGpuKernels/Nvidia/Nvidia.h"
#include "Hfta/Dialect/Hfta/Job/Job.h"
#include "Hfta/Dialect/Hfta/Job/Suggestions.h"
#include "Hfta/Pipelines/Phases.h"
#include "Hfta/Pipelines/Pipelines.h"
#include "Hfta/Target/Cuda/Chips.h"
#include "Hfta/Transforms/Passes.h"

#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::hfta;

const CudaTarget &hfta::getCudaTarget() {
  static const CudaTarget target;
  return target;
}

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

static constexpr llvm::StringLiteral kChipOption = "--chip";
static constexpr llvm::StringLiteral kCodeOption = "--gpu-code";
static constexpr llvm::StringLiteral kPtxasOption = "--ptxas";

/// The chips of a program if the option doesn't name any.
static constexpr llvm::StringLiteral kDefaultChips = "sm_80,sm_90";

static llvm::SmallVector<llvm::StringRef> splitNames(llvm::StringRef value) {
  llvm::SmallVector<llvm::StringRef> names;
  value.split(names, ',');
  return names;
}

static std::optional<UsageError> checkChips(llvm::StringRef value) {
  llvm::SmallVector<llvm::StringRef> seen, known;
  for (const GpuChip &chip : getGpuChips())
    known.push_back(chip.name);
  for (llvm::StringRef name : splitNames(value)) {
    if (!findGpuChip(name))
      return UsageError{("option '" + kChipOption + "': unknown chip '" + name +
                         "', expected some of " + llvm::join(known, ", "))
                            .str(),
                        ""};
    if (llvm::is_contained(seen, name))
      return UsageError{
          ("option '" + kChipOption + "' names '" + name + "' twice").str(),
          ""};
    seen.push_back(name);
  }
  return std::nullopt;
}

static std::optional<UsageError> checkCode(llvm::StringRef value) {
  static constexpr llvm::StringRef choices[] = {"cubin,ptx", "cubin", "ptx",
                                                "emulated"};
  if (llvm::is_contained(choices, value))
    return std::nullopt;
  return UsageError{
      ("option '" + kCodeOption + "' cannot be '" + value + "'").str(),
      suggest(value, choices, "values")};
}

static std::optional<UsageError> checkPtxas(llvm::StringRef value) {
  if (!value.empty())
    return std::nullopt;
  return UsageError{
      ("option '" + kPtxasOption + "' has an empty value, expected FILE").str(),
      ""};
}

llvm::ArrayRef<TargetOption> CudaTarget::getOptions() const {
  static constexpr TargetOption options[] = {
      {kChipOption, "CHIP,...", "GPUs: sm_80,sm_90 (default), sm_86, ...", true,
       nullptr, checkChips},
      {kCodeOption, "KIND",
       "cubin, ptx (also for later GPUs), emulated (on the CPU); default: "
       "cubin,ptx",
       false, nullptr, checkCode},
      {kPtxasOption, "FILE", "PTX assembler (default: from CUDA_PATH or PATH)",
       false, nullptr, checkPtxas},
  };
  return options;
}

/// Returns the value of an option, or `initial` if it isn't given.
static llvm::StringRef getOption(const TargetOptions &options,
                                 llvm::StringRef name,
                                 llvm::StringRef initial) {
  auto given = options.find(name);
  return given == options.end() ? initial : llvm::StringRef(given->second);
}

namespace {
/// The kinds of GPU code that `--gpu-code` asks for.
struct WantedCode {
  explicit WantedCode(const TargetOptions &options) {
    llvm::StringRef value = getOption(options, kCodeOption, "cubin,ptx");
    cubin = value.contains("cubin");
    ptx = value.contains("ptx");
    emulated = value == "emulated";
  }
  bool cubin, ptx;
  bool emulated; ///< code for the emulated GPU, instead of both
};
} // namespace

std::optional<UsageError> CudaTarget::checkOptions(const TargetOptions &options,
                                                   Phase emit) const {
  WantedCode code(options);
  bool isText = emit == &getPhases().back();
  std::string emits = ("'--emit=" + getPhases().back().name + "'").str();
  auto chips = splitNames(getOption(options, kChipOption, kDefaultChips));
  if (isText && chips.size() != 1)
    return UsageError{emits + " is for one chip, as in '--chip=sm_90'", ""};
  if (isText && !code.ptx)
    return UsageError{
        emits + " and '--gpu-code' without ptx exclude each other", ""};
  if (options.contains(kPtxasOption) && !code.cubin)
    return UsageError{"'--gpu-code' without cubin and option '--ptxas' exclude "
                      "each other",
                      ""};
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Machines
//===----------------------------------------------------------------------===//

std::optional<UsageError> CudaTarget::resolve(MLIRContext *context,
                                              const TargetOptions &options,
                                              TargetAttr &target) const {
  // All chips have warps of 32 threads, and 48 KiB of shared memory that a
  // kernel can have without asking the driver for it.
  constexpr int64_t warpThreads = 32, sharedBytes = 48 * 1024;
  Builder builder(context);
  SmallVector<StringAttr> chips, units = {builder.getStringAttr("warp")};
  bool hasWarpGroups = false;
  for (llvm::StringRef name :
       splitNames(getOption(options, kChipOption, kDefaultChips))) {
    chips.push_back(builder.getStringAttr(name));
    hasWarpGroups |= findGpuChip(name)->hasWarpGroups;
  }
  if (hasWarpGroups)
    units.push_back(builder.getStringAttr("warp_group"));
  target = TargetAttr::get(
      context, getName(),
      GpuAttr::get(context, chips, warpThreads, sharedBytes, units));
  return std::nullopt;
}

bool CudaTarget::accepts(Attribute machine) const {
  auto gpu = dyn_cast<GpuAttr>(machine);
  return gpu && llvm::all_of(gpu.getChips(), [](StringAttr chip) {
           return findGpuChip(chip.getValue()) != nullptr;
         });
}

void CudaTarget::printDevices(llvm::raw_ostream &os) const {
  os << getName() << ": NVIDIA GPUs, by --chip=\n ";
  for (const GpuChip &chip : getGpuChips())
    os << ' ' << chip.name;
  os << '\n';
}

llvm::ArrayRef<DeviceRates> CudaTarget::getRates() const {
  // As published by NVIDIA. Two consecutive kernels of a graph are 2 us apart.
  static const DeviceRates rates[] = {
      {"sm_80 (A100)", 2.039e12, 19.5e12, 156e12, 312e12, 2e-6},
      {"sm_90 (H100)", 3.35e12, 67e12, 495e12, 989e12, 2e-6}};
  return rates;
}

llvm::StringRef CudaTarget::findUnsupported(const Job &job) const {
  if (job.getWorkers() > 1)
    return "a pipeline of several workers, or replicas";
  return job.hasBudget() ? "a budget of memory" : "";
}

//===----------------------------------------------------------------------===//
// Kernels and phases
//===----------------------------------------------------------------------===//

const FormingPolicy &CudaTarget::getForming() const {
  static constexpr FormingPolicy policy = [] {
    FormingPolicy policy;
    policy.threadsShareRows = true;
    policy.joinsReductions = policy.joinsSmallOps = true;
    policy.storesNarrowFactors = true;
    policy.keepsProductsWhole = true;
    policy.putsStateInSlabs = true;
    return policy;
  }();
  return policy;
}

void CudaTarget::addFormingPasses(OpPassManager &pm, bool accumulates) const {
  pm.addPass(createHftaCutTaps());
  pm.addPass(createHftaRoundFactors());
  if (!accumulates)
    pm.addPass(createHftaStoreGradients());
  addCleanUp(pm);
  pm.addPass(createHftaRemakeSaved());
  pm.addNestedPass<func::FuncOp>(createHftaSinkReshapes());
  pm.addPass(createHftaReadInPlace());
  pm.addPass(createHftaPackWeights());
  addCleanUp(pm);
  pm.addPass(createHftaKeepFactors());
  pm.addPass(createHftaSplitSums());
  pm.addNestedPass<func::FuncOp>(createHftaSumByParts());
  pm.addNestedPass<func::FuncOp>(createHftaSortIndices());
  pm.addPass(createHftaRepeatCheapOps());
}

void hfta::buildGpuPipeline(OpPassManager &pm,
                            const LowerGpuKernelsOptions &options) {
  buildLowerGpuKernelsPipeline(pm, options);
  pm.addPass(createConvertHftaToRuntime());
  pm.addPass(createHftaCollectGpuCode());
  pm.addPass(createReconcileUnrealizedCastsPass());
  addPhaseMark(pm, "gpu");
}

static void addGpu(OpPassManager &pm, const PipelineSettings &settings) {
  LowerGpuKernelsOptions options;
  auto gpu = dyn_cast<GpuAttr>(settings.machine.getMachine());
  options.warpGroups = gpu && gpu.hasTensorUnit("warp_group");
  buildGpuPipeline(pm, options);
}

llvm::ArrayRef<PhaseInfo> CudaTarget::getPhases() const {
  static const PhaseInfo phases[] = {
      {"gpu", PhaseForm::module,
       "with --target=cuda: kernels in the LLVM and hfta_gpu dialects", "",
       addGpu, ExitCode::unsupported},
      {"ptx", PhaseForm::file,
       "with --target=cuda: kernels for one --chip, as text", "", nullptr,
       ExitCode::internal},
  };
  return phases;
}

void CudaTarget::registerDialects(DialectRegistry &registry) const {
  registerNvidiaDialects(registry);
}

void hfta::registerCudaPipelines() {
  PassPipelineRegistration<LowerGpuKernelsOptions>(
      "hfta-gpu-pipeline",
      "Lower kernels, tasks and variables to the LLVM dialect, and what the "
      "threads of kernels do together to the hfta_gpu dialect",
      buildGpuPipeline);
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

/// Returns the path of ptxas: of `--ptxas`, else from CUDA_PATH or PATH. Empty
/// if there is none that can be run.
static std::string findPtxas(const TargetOptions &options) {
  llvm::StringRef given = getOption(options, kPtxasOption, "");
  if (!given.empty())
    return llvm::sys::fs::can_execute(given) ? given.str() : "";
  if (const char *folder = std::getenv("CUDA_PATH"); folder && *folder) {
    llvm::SmallString<128> path(folder);
    llvm::sys::path::append(path, "bin", "ptxas");
    if (llvm::sys::fs::can_execute(path))
      return std::string(path);
  }
  llvm::ErrorOr<std::string> path = llvm::sys::findProgramByName("ptxas");
  return path ? *path : std::string();
}

/// Returns the chip whose PTX accompanies the cubins of all chips. It is the
/// latest one whose PTX isn't specific to the chip, so that GPU drivers can
/// compile it for later chips.
static std::string findPtxChip(llvm::ArrayRef<std::string> chips) {
  std::string found;
  for (const GpuChip &chip : getGpuChips())
    if (llvm::is_contained(chips, chip.name) &&
        (found.empty() || !chip.isSpecific))
      found = chip.name.str();
  return found;
}

/// Reports that there is no ptxas: a warning, or an error if the options ask
/// for cubins explicitly.
static ExitCode reportNoPtxas(const TargetOptions &options,
                              llvm::raw_ostream &errors) {
  llvm::StringRef given = getOption(options, kPtxasOption, "");
  bool isWanted = options.contains(kCodeOption) || !given.empty();
  errors << "hftac: " << (isWanted ? "error" : "warning") << ": ";
  if (given.empty())
    errors << "there is no ptxas in CUDA_PATH/bin or on the path";
  else
    errors << "'" << given << "' can't be run";
  if (isWanted) {
    errors << ", so that no cubins can be made\n"
              "hint: '--gpu-code=ptx' leaves that to the GPU's driver\n";
    return ExitCode::cannotWrite;
  }
  errors << ": the program has only PTX, which the GPU's driver compiles at "
            "each start\n";
  return ExitCode::done;
}

std::unique_ptr<DeviceCompiler> CudaTarget::createDeviceCompiler(
    const TargetOptions &options, TargetAttr target, Phase emit,
    llvm::raw_ostream &errors, ExitCode &failure) const {
  WantedCode code(options);
  GpuCodeRequest request;
  for (StringAttr chip : cast<GpuAttr>(target.getMachine()).getChips())
    request.chips.push_back(chip.str());
  request.emulated = code.emulated;
  request.isText = emit == &getPhases().back();
  if (request.emulated || request.isText)
    return std::make_unique<GpuCodeGenerator>(request);
  if (code.cubin)
    request.ptxas = findPtxas(options);
  // Without cubins, each chip needs its own PTX.
  if (code.ptx && !request.ptxas.empty())
    request.ptxChips = {findPtxChip(request.chips)};
  else if (code.ptx)
    request.ptxChips = request.chips;
  if (code.cubin && request.ptxas.empty())
    failure = reportNoPtxas(options, errors);
  if (failure != ExitCode::done)
    return nullptr;
  return std::make_unique<GpuCodeGenerator>(request);
}
