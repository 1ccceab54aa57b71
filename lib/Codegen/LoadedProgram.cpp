//===- LoadedProgram.cpp - Compiled code in this process ------------------===//

#include "Hfta/Codegen/LoadedProgram.h"
#include "Hfta/Codegen/Codegen.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/ExecutionEngine/RuntimeDyld.h"
#include "llvm/ExecutionEngine/SectionMemoryManager.h"
#include "llvm/Object/ObjectFile.h"

#include <cstring>

using namespace mlir;
using namespace mlir::hfta;

/// The memory of the program's code and data, and what it may call.
class LoadedProgram::Memory : public llvm::SectionMemoryManager {
public:
  uint64_t getSymbolAddress(const std::string &name) override {
    return llvm::StringSwitch<uint64_t>(name)
        .Case("memcpy", reinterpret_cast<uint64_t>(memcpy))
        .Case("memmove", reinterpret_cast<uint64_t>(memmove))
        .Case("memset", reinterpret_cast<uint64_t>(memset))
        .Default(0);
  }
  // No exception passes through the program.
  void registerEHFrames(uint8_t *, uint64_t, size_t) override {}
  void deregisterEHFrames() override {}
};

static llvm::Error makeLoadError(const llvm::Twine &reason) {
  return llvm::createStringError("cannot load the program: " + reason);
}

llvm::Expected<LoadedProgram>
LoadedProgram::load(llvm::ArrayRef<std::string> objects) {
  auto memory = std::make_unique<Memory>();
  llvm::RuntimeDyld loader(*memory, *memory);
  // The loader refers to its objects until all of them are resolved.
  std::vector<std::unique_ptr<llvm::object::ObjectFile>> files;
  for (const std::string &object : objects) {
    auto file = llvm::object::ObjectFile::createObjectFile(
        llvm::MemoryBufferRef(object, "object"));
    if (!file)
      return makeLoadError(llvm::toString(file.takeError()));
    files.push_back(std::move(*file));
    loader.loadObject(*files.back());
  }
  loader.resolveRelocations();
  if (loader.hasError())
    return makeLoadError(loader.getErrorString());
  auto *program = static_cast<const hfta_program *>(
      loader.getSymbolLocalAddress(kProgramSymbol));
  if (!program)
    return makeLoadError("it has no '" + kProgramSymbol + "'");
  std::string message;
  if (memory->finalizeMemory(&message))
    return makeLoadError(message);
  return LoadedProgram(std::move(memory), program);
}

LoadedProgram::LoadedProgram(std::unique_ptr<Memory> memory,
                             const hfta_program *program)
    : memory(std::move(memory)), program(program) {}
LoadedProgram::LoadedProgram(LoadedProgram &&other) = default;
LoadedProgram::~LoadedProgram() = default;
