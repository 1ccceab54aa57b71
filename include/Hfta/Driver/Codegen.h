//===- Codegen.h - From the LLVM dialect to object code ---------*- C++ -*-===//

#ifndef HFTA_DRIVER_CODEGEN_H
#define HFTA_DRIVER_CODEGEN_H

#include "Hfta/Dialect/Hfta/IR/HftaDialect.h"
#include "Hfta/Driver/Phases.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"

#include <memory>

namespace mlir::hfta {

/// The constant of type hfta_program that a compiled module exports.
inline constexpr llvm::StringLiteral kProgramSymbol = "hfta_program";

struct GpuImage;
struct KernelObject;

/// An LLVM module on its way to object code. Multiply-adds are fused only where
/// the module asks for it.
class CodeGenerator {
public:
  explicit CodeGenerator(TargetAttr target) : target(target) {}

  /// Translates the module and sets the functions' target. Diagnoses failures.
  LogicalResult translate(ModuleOp op);
  /// Renames the program's symbol, which is kProgramSymbol at first.
  void renameProgram(llvm::StringRef symbol);
  /// Defines kImagesSymbol of a program for GPUs; returns false if the program
  /// declares none.
  bool addImages(llvm::ArrayRef<GpuImage> images);
  /// Adds `int main(int, char **)` for programs, given by their symbols: the
  /// module's own and others that it is linked with.
  void addMain(llvm::ArrayRef<std::string> programs);
  /// Adds the functions of a generated library for the program.
  void addLibrary(llvm::StringRef name);
  /// Makes everything private but `symbols`.
  void keep(llvm::ArrayRef<std::string> symbols);
  /// Returns the module's text or object for `phase`, which is one from llvmIR
  /// to object.
  llvm::Expected<std::string> emit(Phase phase);
  /// Returns objects that are to be linked together: the module is split into
  /// parts, which are compiled in parallel. Symbols that the parts share get
  /// the prefix `prefix`. `kernels` are those whose objects are known, or
  /// wanted: their objects come last.
  llvm::Expected<std::vector<std::string>>
  emitObjects(llvm::StringRef prefix, std::vector<KernelObject> &kernels);

private:
  TargetAttr target;
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module;
};

/// Returns the number of threads that compile; 0 stands for one per processor.
/// Each thread needs a stack and a heap of its own, so it is one thread if the
/// process' memory limit is low.
unsigned getThreadLimit();

/// Returns the symbols that a generated library defines.
std::vector<std::string> getLibrarySymbols(llvm::StringRef name);

} // namespace mlir::hfta

#endif // HFTA_DRIVER_CODEGEN_H
