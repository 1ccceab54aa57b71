//===- JobCode.cpp - Code generation for one job --------------------------===//

#include "Compile/JobCode.h"
#include "Hfta/Conversion/HftaToRuntime.h"
#include "Hfta/Dialect/Hfta/Job/Job.h"
#include "Hfta/Support/Output.h"
#include "Hfta/Target/TargetModel.h"

using namespace mlir;
using namespace mlir::hfta;

bool hfta::accumulates(Phase phase) {
  return phase == &phases::library || phase == &phases::object;
}

ExitCode hfta::checkTarget(ModuleOp module, Phase phase,
                           const DriverOptions &options,
                           llvm::raw_ostream &errors) {
  // A module without target but with kernels is for the default one.
  bool hasKernels = comesAfter(phase, &phases::train);
  if (!TargetAttr::get(module) && !hasKernels)
    return ExitCode::done;
  const Target *target = Target::read(module);
  if (!target)
    return ExitCode::input;
  if (target == options.target && accumulates(options.emit) &&
      module->hasAttr(HftaDialect::kStoresGradientsAttrName)) {
    errors << "hftac: error: the module is for an executable, whose steps have "
              "one backward; a library's, or an object's, may have several\n"
              "hint: compile the job itself with '--emit="
           << options.emit->name << "'\n";
    return ExitCode::usage;
  }
  if (target == options.target)
    return ExitCode::done;
  errors << "hftac: error: the module is for '--target=" << target->getName()
         << "', not for '--target=" << options.target->getName() << "'\n";
  return ExitCode::usage;
}

ExitCode hfta::checkJobOnTarget(ModuleOp module, const DriverOptions &options,
                                llvm::raw_ostream &errors) {
  // A module without a job can be read and printed.
  if (!module->hasAttr(HftaDialect::kJobAttrName))
    return ExitCode::done;
  FailureOr<Job> job = Job::read(module);
  if (failed(job))
    return ExitCode::input;
  llvm::StringRef missing = options.target->findUnsupported(*job);
  if (missing.empty())
    return ExitCode::done;
  errors << "hftac: error: '--target=" << options.target->getName()
         << "' is not supported in this version for a job with " << missing
         << '\n';
  return ExitCode::unsupported;
}

ExitCode JobCode::fail(ExitCode code, llvm::Error error) {
  errors << "hftac: error: " << llvm::toString(std::move(error)) << '\n';
  return code;
}

//===----------------------------------------------------------------------===//
// The host
//===----------------------------------------------------------------------===//

/// Adds the entry points of a program or library. Returns the symbols that the
/// outside may refer to.
std::vector<std::string> JobCode::addEntries(CodeGenerator &generator,
                                             llvm::StringRef library) {
  if (options.checkGradients)
    return {kProgramSymbol.str()};
  if (options.emit == &phases::library) {
    generator.addLibrary(library);
    return getLibrarySymbols(library);
  }
  if (options.emit != &phases::executable)
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
  begin(options.emit->name);
  llvm::Expected<std::string> code = generator.emit(options.emit->hostCode);
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
  begin(phases::object.name);
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
  DeviceCode made;
  if (device)
    if (ExitCode code = device->compile(module, begin, errors, made);
        code != ExitCode::done)
      return code;
  if (made.text) {
    llvm::Error error = writeOutput(options.output, *made.text);
    return error ? fail(ExitCode::cannotWrite, std::move(error))
                 : ExitCode::done;
  }
  begin("translate");
  if (isLinked(options.emit))
    kernels.takeCode(module);
  CodeGenerator generator(TargetModel::get(module).getProcessor());
  if (failed(generator.translate(module)))
    return ExitCode::internal;
  if (options.target->hasImages() && !generator.addImages(made.images)) {
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
