//===- GpuCodegen.cpp - Code generation for GPUs --------------------------===//

#include "GpuCodegen.h"
#include "Hfta/Codegen/Codegen.h"
#include "Hfta/Codegen/CompileParts.h"
#include "Hfta/Codegen/LlvmCode.h"
#include "Hfta/Conversion/LowerGpuKernels.h"
#include "Hfta/Conversion/LowerGpuKernels/Nvidia/Nvidia.h"
#include "Hfta/Dialect/Gpu/GpuOps.h"
#include "Hfta/Link/Link.h"
#include "Hfta/Support/RunProgram.h"
#include "Hfta/Support/TemporaryFile.h"
#include "Hfta/Target/Cuda/Chips.h"
#include "hfta/program.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Export.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/ThreadPool.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::hfta;

extern "C" {
void LLVMInitializeNVPTXTargetInfo();
void LLVMInitializeNVPTXTarget();
void LLVMInitializeNVPTXTargetMC();
void LLVMInitializeNVPTXAsmPrinter();
}

static constexpr llvm::StringLiteral kGpuTriple = "nvptx64-nvidia-cuda";
/// The processor of emulated images. It has fused multiply-add instructions,
/// like GPUs.
static constexpr llvm::StringLiteral kEmulatedCpu = "x86-64-v3";

//===----------------------------------------------------------------------===//
// Translation
//===----------------------------------------------------------------------===//

llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
GpuCodeGenerator::createMachine(llvm::StringRef chip) const {
  if (request.emulated)
    return createTargetMachine(kHostTriple, kEmulatedCpu, "");
  return createTargetMachine(kGpuTriple, chip, findGpuChip(chip)->llvmFeatures);
}

llvm::Error GpuCodeGenerator::optimize(llvm::Module &module,
                                       llvm::StringRef chip) const {
  auto machine = createMachine(chip);
  if (!machine)
    return machine.takeError();
  module.setTargetTriple((*machine)->getTargetTriple());
  module.setDataLayout((*machine)->createDataLayout());
  llvm::PassBuilder builder(machine->get());
  Analyses analyses(builder);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2)
      .run(module, analyses.modules);
  return llvm::Error::success();
}

/// Registers LLVM's targets. Must be called before threads use them.
static void registerTargets() {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  LLVMInitializeNVPTXTargetInfo();
  LLVMInitializeNVPTXTarget();
  LLVMInitializeNVPTXTargetMC();
  LLVMInitializeNVPTXAsmPrinter();
}

/// Checks that each part defines all symbols that it uses, since parts are
/// loaded separately. Only memory that the threads of a block share may be
/// undefined: a launch allocates it.
static LogicalResult checkParts(ModuleOp op, ArrayRef<CodePart> parts) {
  for (const CodePart &part : parts) {
    llvm::LLVMContext context;
    llvm::Expected<std::unique_ptr<llvm::Module>> module =
        llvm::parseBitcodeFile(
            {llvm::StringRef(part.code.data(), part.code.size()), "part"},
            context);
    if (!module)
      return op.emitError() << llvm::toString(module.takeError());
    for (const llvm::GlobalValue &value : (*module)->global_values())
      if (value.isDeclaration() && !value.getName().starts_with("llvm.") &&
          value.getAddressSpace() != hfta_gpu::HftaGpuDialect::kSharedSpace)
        return op.emitError("a part of the kernels lacks '")
               << value.getName() << "'";
  }
  return success();
}

/// Groups the chips by their kernels. For most jobs there is one group, since
/// all chips have the same kernels.
llvm::SmallVector<GpuCodeGenerator::Kind, 2>
GpuCodeGenerator::findKinds(ModuleOp op) const {
  bool differ = llvm::any_of(op.getOps(), [](Operation &function) {
    return function.hasAttr(kWarpGroupsOfAttrName);
  });
  llvm::SmallVector<Kind, 2> found;
  for (const std::string &chip : request.chips) {
    bool warpGroups = differ && findGpuChip(chip)->hasWarpGroups;
    auto *kind = llvm::find_if(found, [&](const Kind &other) {
      return other.warpGroups == warpGroups;
    });
    if (kind == found.end()) {
      found.push_back({{}, warpGroups, {}});
      kind = std::prev(found.end());
    }
    kind->chips.push_back(chip);
  }
  return found;
}

/// Keeps the kernels of the given chips, and lowers all ops that can't be
/// translated to LLVM IR.
LogicalResult GpuCodeGenerator::prepare(ModuleOp op, const Kind &kind) const {
  PassManager passes(op.getContext(), ModuleOp::getOperationName());
  HftaChooseGpuKernelsOptions choose;
  choose.warpGroups = kind.warpGroups;
  passes.addPass(createHftaChooseGpuKernels(choose));
  if (request.emulated)
    passes.addPass(createHftaEmulateGpu());
  else
    buildNvidiaPipeline(passes, kind.warpGroups);
  return passes.run(op);
}

LogicalResult GpuCodeGenerator::translate(ModuleOp op, Kind &kind) const {
  if (failed(prepare(op, kind)))
    return failure();
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module =
      translateModuleToLLVMIR(op, context, "kernels");
  if (!module)
    return failure();
  std::string message;
  llvm::raw_string_ostream os(message);
  if (llvm::verifyModule(*module, &os))
    return op.emitError("invalid LLVM IR: ") << message;
  if (llvm::Error error = optimize(*module, kind.chips.front()))
    return op.emitError() << llvm::toString(std::move(error));
  if (request.isText) {
    kind.parts.push_back({0, writeBitcode(*module)});
    return success();
  }
  // Names in PTX can't contain slashes, so the separator is "$".
  std::vector<CodePart> moved = splitModule(*module, "hfta$");
  kind.parts.push_back({module->getInstructionCount(), writeBitcode(*module)});
  std::move(moved.begin(), moved.end(), std::back_inserter(kind.parts));
  for (CodePart &part : kind.parts)
    part.isReusable = true;
  return request.emulated ? success() : checkParts(op, kind.parts);
}

LogicalResult GpuCodeGenerator::translate(ModuleOp op) {
  registerTargets();
  kinds = findKinds(op);
  for (Kind &kind : kinds) {
    OwningOpRef<ModuleOp> own = op.clone();
    if (failed(translate(*own, kind)))
      return failure();
  }
  return success();
}

llvm::Expected<std::string> GpuCodeGenerator::emit(const CodePart &part,
                                                   llvm::StringRef chip) const {
  llvm::LLVMContext context;
  auto module = llvm::parseBitcodeFile(
      {llvm::StringRef(part.code.data(), part.code.size()), "part"}, context);
  if (!module)
    return module.takeError();
  auto machine = createMachine(chip);
  if (!machine)
    return machine.takeError();
  return emitCode(**machine, **module, llvm::CodeGenFileType::AssemblyFile);
}

llvm::Expected<std::string> GpuCodeGenerator::emitPtx() {
  const Kind &kind = kinds.front();
  return emit(kind.parts.front(), kind.chips.front());
}

//===----------------------------------------------------------------------===//
// Images
//===----------------------------------------------------------------------===//

llvm::Expected<std::string>
GpuCodeGenerator::assemble(llvm::StringRef text, llvm::StringRef chip) const {
  auto source = TemporaryFile::create("ptx");
  if (!source)
    return source.takeError();
  auto image = TemporaryFile::create("cubin");
  if (!image)
    return image.takeError();
  if (llvm::Error error = source->write(text))
    return std::move(error);
  std::string architecture = ("-arch=" + chip).str();
  if (llvm::Error error =
          runProgram({request.ptxas, architecture, "-O3", source->getPath(),
                      "-o", image->getPath()},
                     "assemble kernels"))
    return std::move(error);
  return image->read();
}

/// The compilation of one part for one chip: its input and its result.
struct GpuCodeGenerator::Work {
  const CodePart *part;
  std::string chip;
  bool warpGroups;
  std::vector<DeviceImage> images;
  std::optional<std::string> error;
};

llvm::Error GpuCodeGenerator::makeImage(Work &work) const {
  llvm::Expected<std::string> text = emit(*work.part, work.chip);
  if (!text)
    return text.takeError();
  if (!request.ptxas.empty()) {
    llvm::Expected<std::string> binary = assemble(*text, work.chip);
    if (!binary)
      return binary.takeError();
    work.images.push_back(
        {work.chip, std::move(*binary), HFTA_IMAGE_CUBIN, work.warpGroups});
  }
  if (llvm::is_contained(request.ptxChips, work.chip))
    work.images.push_back(
        {work.chip, *text + '\0', HFTA_IMAGE_PTX, work.warpGroups});
  return llvm::Error::success();
}

/// Returns a shared library with the kernels for the host. It is the image for
/// all chips of the kind.
llvm::Expected<std::string>
GpuCodeGenerator::makeEmulated(const Kind &kind) const {
  llvm::Expected<std::vector<std::string>> objects =
      compileParts(kind.parts, [&]() -> llvm::Expected<PartCompiler> {
        auto machine = createMachine(kind.chips.front());
        if (!machine)
          return machine.takeError();
        return [machine = std::move(*machine)](llvm::Module &part) {
          return emitCode(*machine, part, llvm::CodeGenFileType::ObjectFile);
        };
      });
  if (!objects)
    return objects.takeError();
  llvm::Expected<TemporaryFile> library =
      linkSharedLibrary(*objects, "link emulated kernels");
  return library ? library->read() : library.takeError();
}

llvm::Expected<std::vector<DeviceImage>>
GpuCodeGenerator::makeAllEmulated() const {
  std::vector<DeviceImage> images;
  for (const Kind &kind : kinds) {
    llvm::Expected<std::string> library = makeEmulated(kind);
    if (!library)
      return library.takeError();
    for (const std::string &chip : kind.chips)
      images.push_back({chip, *library, HFTA_IMAGE_EMULATED, kind.warpGroups});
  }
  return images;
}

llvm::Expected<std::vector<DeviceImage>> GpuCodeGenerator::makeImages() {
  if (request.emulated)
    return makeAllEmulated();
  std::vector<Work> all;
  for (const Kind &kind : kinds)
    for (const std::string &chip : kind.chips)
      for (const CodePart &part : kind.parts)
        if (!request.ptxas.empty() ||
            llvm::is_contained(request.ptxChips, chip))
          all.push_back({&part, chip, kind.warpGroups, {}, {}});
  {
    llvm::DefaultThreadPool threads(
        llvm::hardware_concurrency(getThreadLimit()));
    for (Work &work : all)
      threads.async([this, &work] {
        if (llvm::Error error = makeImage(work))
          work.error = llvm::toString(std::move(error));
      });
  }
  std::vector<DeviceImage> images;
  for (Work &work : all) {
    if (work.error)
      return llvm::createStringError(*work.error);
    std::move(work.images.begin(), work.images.end(),
              std::back_inserter(images));
  }
  return images;
}

//===----------------------------------------------------------------------===//
// All of it
//===----------------------------------------------------------------------===//

/// Writes an error and returns its code.
static ExitCode fail(llvm::raw_ostream &errors, ExitCode code,
                     llvm::Error error) {
  errors << "hftac: error: " << llvm::toString(std::move(error)) << '\n';
  return code;
}

ExitCode
GpuCodeGenerator::compile(ModuleOp module,
                          llvm::function_ref<void(llvm::StringRef)> begin,
                          llvm::raw_ostream &errors, DeviceCode &code) {
  auto nested = module.lookupSymbol<ModuleOp>(kGpuModuleName);
  if (!nested) {
    errors << "hftac: error: the module has no kernels for a GPU\n";
    return ExitCode::input;
  }
  begin("kernels");
  OwningOpRef<ModuleOp> kernels = nested;
  nested->remove();
  if (failed(translate(*kernels)))
    return ExitCode::internal;
  if (request.isText) {
    begin("ptx");
    llvm::Expected<std::string> text = emitPtx();
    if (!text)
      return fail(errors, ExitCode::internal, text.takeError());
    code.text = std::move(*text);
    return ExitCode::done;
  }
  begin(request.emulated ? "emulated kernels" : "ptxas");
  llvm::Expected<std::vector<DeviceImage>> made = makeImages();
  if (!made)
    return fail(errors, ExitCode::cannotWrite, made.takeError());
  code.images = std::move(*made);
  return ExitCode::done;
}
