//===- Codegen.h - From the LLVM dialect to object code ---------*- C++ -*-===//

#ifndef HFTA_CODEGEN_CODEGEN_H
#define HFTA_CODEGEN_CODEGEN_H

#include "Hfta/Dialect/Hfta/IR/HftaDialect.h"
#include "Hfta/Target/Target.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"

#include <memory>

namespace mlir::hfta {

/// Symbol of the constant of type hfta_program that a compiled module exports.
inline constexpr llvm::StringLiteral kProgramSymbol = "hfta_program";

struct KernelObject;

/// Compiles a module in the LLVM dialect to object code. Never fuses a
/// multiplication and an addition, except where the module has an fma.
class CodeGenerator {
public:
  /// `processor` is the one that the code is for.
  explicit CodeGenerator(ProcessorAttr processor) : processor(processor) {}

  /// Translates the module to LLVM IR, and sets the target attributes of its
  /// functions. Reports an error if it fails.
  LogicalResult translate(ModuleOp op);
  /// Renames the program's constant, whose symbol is kProgramSymbol at first,
  /// and hides it outside of the linked program.
  void renameProgram(llvm::StringRef symbol);
  /// Defines the constant kImagesSymbol of a program with code for a device as
  /// a table of `images`. Returns false if the program doesn't declare this
  /// constant.
  bool addImages(llvm::ArrayRef<DeviceImage> images);
  /// Adds `int main(int, char **)`, which calls the runtime's hfta_main with
  /// these programs. They are given by their symbols: the module's own, and
  /// those of modules that it is linked with.
  void addMain(llvm::ArrayRef<std::string> programs);
  /// Adds the functions NAME_create and so on of a generated library
  /// (getLibrarySymbols).
  void addLibrary(llvm::StringRef name);
  /// Gives all symbols but `symbols` internal linkage.
  void keep(llvm::ArrayRef<std::string> symbols);
  /// Returns the module's code in this form.
  llvm::Expected<std::string> emit(HostCode form);
  /// Returns the contents of object files that are to be linked together. The
  /// module is split into parts, which are compiled in parallel; symbols that
  /// the parts share are prefixed by `prefix`. Each of `kernels` either has its
  /// object already, from the cache, or has code, which is compiled to its own
  /// object. The objects of kernels come last in the result.
  llvm::Expected<std::vector<std::string>>
  emitObjects(llvm::StringRef prefix, std::vector<KernelObject> &kernels);

private:
  ProcessorAttr processor;
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module;
};

/// Returns how many threads may compile at once: 1 if the process has a memory
/// limit below 4 GiB, because each thread needs its own stack and heap; else 0,
/// which means one per processor.
unsigned getThreadLimit();

/// Returns the symbols that the generated library `name` defines.
std::vector<std::string> getLibrarySymbols(llvm::StringRef name);

} // namespace mlir::hfta

#endif // HFTA_CODEGEN_CODEGEN_H
