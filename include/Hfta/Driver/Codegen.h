//===- Codegen.h - From the LLVM dialect to object code ---------*- C++ -*-===//

#ifndef HFTA_DRIVER_CODEGEN_H
#define HFTA_DRIVER_CODEGEN_H

#include "Hfta/Dialect/Hfta/IR/HftaDialect.h"
#include "Hfta/Driver/Phases.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"
#include "llvm/Target/TargetMachine.h"

#include <memory>

namespace mlir::hfta {

/// The constant of type hfta_program that a compiled module exports.
inline constexpr llvm::StringLiteral kProgramSymbol = "hfta_program";

struct GpuImage;

/// An LLVM module on its way to object code. Fused multiply-adds are only those
/// that the module asks for.
class CodeGenerator {
public:
  explicit CodeGenerator(TargetAttr target) : target(target) {}

  /// Translates the module and sets the functions' target. Diagnoses failures.
  LogicalResult translate(ModuleOp op);
  /// Gives the program another symbol than kProgramSymbol.
  void renameProgram(llvm::StringRef symbol);
  /// Defines kImagesSymbol of a program for GPUs; false if it has none.
  bool addImages(llvm::ArrayRef<GpuImage> images);
  /// Adds `int main(int, char **)` over programs, by their symbols: the
  /// module's own and others that it is linked with.
  void addMain(llvm::ArrayRef<std::string> programs);
  /// Adds the functions of a generated library over the program.
  void addLibrary(llvm::StringRef name);
  /// Makes everything private but `symbols`.
  void keep(llvm::ArrayRef<std::string> symbols);
  /// Cuts the module into parts, to be linked together; what they share is
  /// called `prefix` and its name.
  llvm::Error split(llvm::StringRef prefix);
  /// Optimizes, all parts at once.
  void optimize();
  /// The text or object of `phase`, one from llvmIR to object, of each part.
  llvm::Expected<std::vector<std::string>> emit(Phase phase);

private:
  /// A module of its own.
  struct Part {
    llvm::LLVMContext context;
    std::unique_ptr<llvm::Module> module;
    std::unique_ptr<llvm::TargetMachine> machine;
  };

  llvm::Expected<std::unique_ptr<llvm::TargetMachine>> createMachine() const;
  llvm::Error addPart(llvm::StringRef bitcode);
  static void optimize(Part &part);
  static llvm::Expected<std::string> emit(Part &part, Phase phase);

  TargetAttr target;
  std::vector<std::unique_ptr<Part>> parts;
  llvm::Module *module = nullptr; ///< the first part's
};

/// How many threads compile; 0: one a processor. Each has a stack and a heap of
/// its own: where the process' memory is limited to little, there is one.
unsigned getThreadLimit();

/// Symbols of a generated library.
std::vector<std::string> getLibrarySymbols(llvm::StringRef name);

} // namespace mlir::hfta

#endif // HFTA_DRIVER_CODEGEN_H
