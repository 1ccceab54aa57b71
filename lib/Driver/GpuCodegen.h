//===- GpuCodegen.h - Images for GPUs ---------------------------*- C++ -*-===//

#ifndef HFTA_LIB_DRIVER_GPUCODEGEN_H
#define HFTA_LIB_DRIVER_GPUCODEGEN_H

#include "CodegenParts.h"
#include "Hfta/Driver/CommandLine.h"
#include "Hfta/Driver/ExitCode.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"
#include "llvm/Target/TargetMachine.h"

namespace mlir::hfta {

/// A row of a program's hfta_image_table.
struct GpuImage {
  std::string chip, data;
  uint32_t kind;   ///< hfta_image_kind
  bool warpGroups; ///< the image has warp-group kernels
};

/// The images to make, and the tools for that.
struct GpuCodeRequest {
  std::vector<std::string> chips;
  bool emulated = false;
  bool isText =
      false; ///< make PTX of all kernels for the one chip instead of images
  std::vector<std::string> ptxChips; ///< the chips whose PTX is kept
  std::string ptxas;                 ///< empty: no cubins are made
};

/// Finds out which code the options ask for. If there is no ptxas, this warns,
/// or fails if cubins were asked for explicitly.
ExitCode resolveGpuCode(const DriverOptions &options, GpuCodeRequest &request,
                        llvm::raw_ostream &errors);

/// A module of kernels on its way to images.
class GpuCodeGenerator {
public:
  explicit GpuCodeGenerator(const GpuCodeRequest &request) : request(request) {}

  /// Translates the module, for the host's processor if images are emulated,
  /// and optimizes it. Diagnoses failures.
  LogicalResult translate(ModuleOp op);
  /// Returns the PTX that is asked for instead of images.
  llvm::Expected<std::string> emitPtx();
  /// Returns all images, chip by chip, each of them in parts.
  llvm::Expected<std::vector<GpuImage>> makeImages();

private:
  struct Work;
  /// Chips whose kernels are equal, with the parts of these kernels.
  struct Kind {
    std::vector<std::string> chips;
    bool warpGroups; ///< the kernels use warp-group instructions
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
  llvm::Expected<std::vector<GpuImage>> makeAllEmulated() const;
  llvm::Error makeImage(Work &work) const;

  GpuCodeRequest request;
  llvm::SmallVector<Kind, 2> kinds;
};

} // namespace mlir::hfta

#endif // HFTA_LIB_DRIVER_GPUCODEGEN_H
