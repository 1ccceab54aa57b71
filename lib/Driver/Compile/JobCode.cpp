//===- JobCode.cpp - Code generation for one job --------------------------===//

#include "Compile/JobCode.h"
#include "Hfta/Conversion/HftaToRuntime.h"
#include "Hfta/Conversion/LowerGpuKernels.h"
#include "Hfta/Dialect/Hfta/Job/Job.h"
#include "Hfta/Support/Output.h"

using namespace mlir;
using namespace mlir::hfta;

static llvm::StringRef getTargetName(TargetKind kind) {
  return getTarget(kind).name;
}

bool hfta::accumulates(Phase phase) {
  return phase == Phase::library || phase == Phase::object;
}

ExitCode hfta::checkTarget(ModuleOp module, Phase phase,
                           const DriverOptions &options,
                           llvm::raw_ostream &errors) {
  TargetAttr target = TargetAttr::get(module);
  // A module without target but with kernels was made for the CPU.
  bool hasKernels = comesAfter(phase, Phase::train);
  if (!target && !hasKernels)
    return ExitCode::done;
  TargetKind kind = target ? target.getKind() : TargetKind::cpu;
  if (kind == options.target && accumulates(options.emit) &&
      module->hasAttr(HftaDialect::kStoresGradientsAttrName)) {
    errors << "hftac: error: the module is for an executable, whose steps have "
              "one backward; a library's, or an object's, may have several\n"
              "hint: compile the job itself with '--emit="
           << getPhase(options.emit).name << "'\n";
    return ExitCode::usage;
  }
  if (kind == options.target)
    return ExitCode::done;
  errors << "hftac: error: the module is for '--target=" << getTargetName(kind)
         << "', not for '--target=" << getTargetName(options.target) << "'\n";
  return ExitCode::usage;
}

ExitCode hfta::checkJobOnTarget(ModuleOp module, const DriverOptions &options,
                                llvm::raw_ostream &errors) {
  if (options.target != TargetKind::cuda)
    return ExitCode::done;
  FailureOr<Job> job = Job::read(module);
  if (failed(job))
    return ExitCode::input;
  llvm::StringRef missing;
  if (job->getWorkers() > 1)
    missing = "a pipeline of several workers, or replicas";
  else if (job->hasBudget())
    missing = "a budget of memory";
  if (missing.empty())
    return ExitCode::done;
  errors << "hftac: error: '--target=cuda' is not supported in this version "
            "for a job with "
         << missing << '\n';
  return ExitCode::unsupported;
}

ExitCode JobCode::fail(ExitCode code, llvm::Error error) {
  errors << "hftac: error: " << llvm::toString(std::move(error)) << '\n';
  return code;
}

//===----------------------------------------------------------------------===//
// GPUs
//===----------------------------------------------------------------------===//

ExitCode JobCode::emitPtx(GpuCodeGenerator &generator) {
  begin("ptx");
  llvm::Expected<std::string> text = generator.emitPtx();
  if (!text)
    return fail(ExitCode::internal, text.takeError());
  if (llvm::Error error = writeOutput(options.output, *text))
    return fail(ExitCode::cannotWrite, std::move(error));
  return ExitCode::done;
}

/// Removes the module of kernels from the program's module and compiles it to
/// images. Sets `isDone` if PTX was asked for, which was then written.
ExitCode JobCode::makeImages(std::vector<GpuImage> &images, bool &isDone) {
  auto code = module.lookupSymbol<ModuleOp>(kGpuModuleName);
  if (!code) {
    errors << "hftac: error: the module has no kernels for a GPU\n";
    return ExitCode::input;
  }
  begin("kernels");
  OwningOpRef<ModuleOp> kernels = code;
  code->remove();
  GpuCodeGenerator generator(gpu);
  if (failed(generator.translate(*kernels)))
    return ExitCode::internal;
  isDone = gpu.isText;
  if (isDone)
    return emitPtx(generator);
  begin(gpu.emulated ? "emulated kernels" : "ptxas");
  llvm::Expected<std::vector<GpuImage>> made = generator.makeImages();
  if (!made)
    return fail(ExitCode::cannotWrite, made.takeError());
  images = std::move(*made);
  return ExitCode::done;
}

//===----------------------------------------------------------------------===//
// The host
//===----------------------------------------------------------------------===//

/// Adds the entry points of a program or library. Returns the symbols that the
/// outside may refer to.
std::vector<std::string> JobCode::addEntries(CodeGenerator &generator,
                                             llvm::StringRef library) {
  if (options.generatedJob)
    return {kProgramSymbol.str()};
  if (options.emit == Phase::library) {
    generator.addLibrary(library);
    return getLibrarySymbols(library);
  }
  if (options.emit != Phase::executable)
    return {kProgramSymbol.str()};
  std::vector<std::string> symbols;
  if (programs.size() > 1) {
    symbols.push_back(getSymbolPrefix(job) + kProgramSymbol.str());
    generator.renameProgram(symbols.front());
  }
  // The last job's module has `main`, which has a table of all jobs' programs.
  if (programs.size() == 1 || symbols.front() == programs.back()) {
    generator.addMain(programs);
    symbols.push_back("main");
  }
  return symbols;
}

ExitCode JobCode::emitText(CodeGenerator &generator) {
  begin(getPhase(options.emit).name);
  llvm::Expected<std::string> code = generator.emit(options.emit);
  if (!code)
    return fail(ExitCode::internal, code.takeError());
  if (llvm::Error error = writeOutput(options.output, *code))
    return fail(ExitCode::cannotWrite, std::move(error));
  return ExitCode::done;
}

/// Appends the job's objects to those that are to be linked. Jobs may have a
/// kernel in common, whose object is appended once.
ExitCode JobCode::emitObjects(CodeGenerator &generator, llvm::StringRef library,
                              std::vector<std::string> &objects) {
  begin(getPhase(Phase::object).name);
  std::string prefix = getSymbolPrefix(programs.size() > 1 ? job : library);
  llvm::Expected<std::vector<std::string>> code =
      generator.emitObjects(prefix, kernels.getKernels());
  if (!code)
    return fail(ExitCode::internal, code.takeError());
  kernels.store(module);
  for (std::string &object : *code)
    if (!llvm::is_contained(objects, object))
      objects.push_back(std::move(object));
  return ExitCode::done;
}

ExitCode JobCode::generate(std::vector<std::string> &objects) {
  TargetAttr target = TargetAttr::get(module);
  bool isGpu = target.getKind() == TargetKind::cuda, isDone = false;
  std::vector<GpuImage> images;
  if (isGpu)
    if (ExitCode code = makeImages(images, isDone);
        code != ExitCode::done || isDone)
      return code;
  begin("translate");
  if (isLinked(options.emit))
    kernels.takeCode(module);
  CodeGenerator generator(target);
  if (failed(generator.translate(module)))
    return ExitCode::internal;
  if (isGpu && !generator.addImages(images)) {
    errors << "hftac: error: the module declares no '" << kImagesSymbol
           << "'\n";
    return ExitCode::input;
  }
  std::string library = getLibraryName(options.output);
  std::vector<std::string> symbols = addEntries(generator, library);
  generator.keep(symbols);
  return isLinked(options.emit) ? emitObjects(generator, library, objects)
                                : emitText(generator);
}
