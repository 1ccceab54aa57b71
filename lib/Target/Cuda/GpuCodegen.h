//===- GpuCodegen.h - Code generation for GPUs ------------------*- C++ -*-===//

#ifndef HFTA_LIB_TARGET_CUDA_GPUCODEGEN_H
#define HFTA_LIB_TARGET_CUDA_GPUCODEGEN_H

#include "Hfta/Codegen/Codegen.h"
#include "Hfta/Codegen/CodegenParts.h"
#include "Hfta/Target/Target.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"
#include "llvm/Target/TargetMachine.h"

namespace mlir::hfta {

/// The images to make, and the tools that make them.
struct GpuCodeRequest {
  std::vector<std::string> chips;
  bool emulated = false;
  /// Whether to make the PTX of all kernels, for the only chip, instead of
  /// images.
  bool isText = false;
  /// The chips for which images of PTX are made.
  std::vector<std::string> ptxChips;
  std::string ptxas; ///< path; empty if no cubins are made
};

/// Generates a program's images from its module of GPU kernels.
class GpuCodeGenerator : public DeviceCompiler {
public:
  explicit GpuCodeGenerator(const GpuCodeRequest &request) : request(request) {}

  ExitCode compile(ModuleOp module,
                   llvm::function_ref<void(llvm::StringRef)> begin,
                   llvm::raw_ostream &errors, DeviceCode &code) override;

private:
  /// Translates the module to LLVM IR and optimizes it. If images are emulated,
  /// the code is for the host's processor. Errors are reported to the context.
  LogicalResult translate(ModuleOp op);
  /// Returns the PTX of all kernels, if the request is for text.
  llvm::Expected<std::string> emitPtx();
  /// Returns all images, ordered by chip. Each part of a chip's code has its
  /// own images.
  llvm::Expected<std::vector<DeviceImage>> makeImages();

  struct Work;
  /// The chips for which kernels are the same code, and the parts of that code.
  struct Kind {
    std::vector<std::string> chips;
    bool warpGroups; ///< whether kernels use warp-group instructions
    std::vector<CodePart> parts;
  };
  llvm::SmallVector<Kind, 2> findKinds(ModuleOp op) const;
  LogicalResult translate(ModuleOp op, Kind &kind) const;
  LogicalResult prepare(ModuleOp op, const Kind &kind) const;
  llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
  createMachine(llvm::StringRef chip) const;
  llvm::Error optimize(llvm::Module &module, llvm::StringRef chip) const;
  llvm::Expected<std::string> emit(const CodePart &part,
                                   llvm::StringRef chip) const;
  llvm::Expected<std::string> assemble(llvm::StringRef text,
                                       llvm::StringRef chip) const;
  llvm::Expected<std::string> makeEmulated(const Kind &kind) const;
  llvm::Expected<std::vector<DeviceImage>> makeAllEmulated() const;
  llvm::Error makeImage(Work &work) const;

  GpuCodeRequest request;
  llvm::SmallVector<Kind, 2> kinds;
};

} // namespace mlir::hfta

#endif // HFTA_LIB_TARGET_CUDA_GPUCODEGEN_H
