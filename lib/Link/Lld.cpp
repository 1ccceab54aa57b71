//===- Lld.cpp - LLVM's linker as part of the compiler --------------------===//

#include "Hfta/Link/Lld.h"

#include "lld/Common/Driver.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Plugins/PassPlugin.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::hfta;

LLD_HAS_DRIVER(elf)

int hfta::runLld(llvm::ArrayRef<const char *> arguments) {
  llvm::SmallVector<const char *> words = {"ld.lld"};
  words.append(arguments.begin(), arguments.end());
  return lld::lldMain(words, llvm::outs(), llvm::errs(),
                      {{lld::Gnu, &lld::elf::link}})
      .retCode;
}

//===----------------------------------------------------------------------===//
// What lld would link in for link-time optimization
//===----------------------------------------------------------------------===//
//
// lld initializes all of LLVM's back ends, to optimize inputs that are bitcode.
// It gets none here. For back ends that nothing else refers to, these functions
// take the place of those in LLVM's archives, which makes the compiler half as
// large.

#define HFTA_NO_ASM_PARSER(TARGET)                                             \
  extern "C" void LLVMInitialize##TARGET##AsmParser() {}
#define HFTA_NO_BACK_END(TARGET)                                               \
  HFTA_NO_ASM_PARSER(TARGET)                                                   \
  extern "C" void LLVMInitialize##TARGET##TargetInfo() {}                      \
  extern "C" void LLVMInitialize##TARGET##Target() {}                          \
  extern "C" void LLVMInitialize##TARGET##TargetMC() {}                        \
  extern "C" void LLVMInitialize##TARGET##AsmPrinter() {}
#include "NoBackEnds.inc"

#define HANDLE_EXTENSION(NAME)                                                 \
  llvm::PassPluginLibraryInfo get##NAME##PluginInfo() { return {}; }
#include "llvm/Support/Extension.def"
