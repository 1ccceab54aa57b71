//===- LlvmCode.cpp - LLVM's target machines and passes -------------------===//

#include "Hfta/Codegen/LlvmCode.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::hfta;

llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
hfta::createTargetMachine(llvm::StringRef triple, llvm::StringRef cpu,
                          llvm::StringRef features) {
  std::string message;
  llvm::Triple parsed(triple);
  const llvm::Target *found =
      llvm::TargetRegistry::lookupTarget(parsed, message);
  if (!found)
    return llvm::createStringError(message);
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  options.FunctionSections = true;
  options.DataSections = true;
  std::unique_ptr<llvm::TargetMachine> machine(found->createTargetMachine(
      parsed, cpu, features, options, llvm::Reloc::PIC_, llvm::CodeModel::Small,
      llvm::CodeGenOptLevel::Aggressive));
  if (!machine)
    return llvm::createStringError("no code generator for " + triple);
  return machine;
}

Analyses::Analyses(llvm::PassBuilder &builder) {
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
}

llvm::Expected<std::string> hfta::emitCode(llvm::TargetMachine &machine,
                                           llvm::Module &module,
                                           llvm::CodeGenFileType type) {
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream os(text);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, os, nullptr, type))
    return llvm::createStringError("no emitter for " +
                                   machine.getTargetTriple().str());
  passes.run(module);
  return std::string(text);
}
