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
  bool warpGroups; ///< has kernels for these
};

/// What images are made for, and with what.
struct GpuCodeRequest {
  std::vector<std::string> chips;
  bool emulated = false;
  bool isText = false; ///< PTX of all kernels for the one chip, not images
  std::vector<std::string> ptxChips; ///< whose text is kept
  std::string ptxas;                 ///< empty: there are no cubins
};

/// What the options ask for. Where there is no ptxas a warning says so, or, if
/// it was asked for, an error.
ExitCode resolveGpuCode(const DriverOptions &options, GpuCodeRequest &request,
                        llvm::raw_ostream &errors);

/// A module of kernels on its way to images.
class GpuCodeGenerator {
public:
  explicit GpuCodeGenerator(const GpuCodeRequest &request) : request(request) {}

  /// Translates the module, for the host's processor if images are emulated,
  /// and optimizes it. Diagnoses failures.
  LogicalResult translate(ModuleOp op);
  /// The text that is asked for in place of images.
  llvm::Expected<std::string> emitPtx();
  /// All images, chip by chip, each in parts.
  llvm::Expected<std::vector<GpuImage>> makeImages();

private:
  struct Work;
  /// Chips for which the kernels are the same, and these in parts.
  struct Kind {
    std::vector<std::string> chips;
    bool warpGroups; ///< whether kernels have instructions of these
    std::vector<Bitcode> parts;
  };
  llvm::SmallVector<Kind, 2> findKinds(ModuleOp op) const;
  LogicalResult translate(ModuleOp op, Kind &kind) const;
  LogicalResult prepare(ModuleOp op, const Kind &kind) const;
  llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
  createMachine(llvm::StringRef chip) const;
  llvm::Error optimize(llvm::Module &module, llvm::StringRef chip) const;
  llvm::Expected<std::string> emit(const Bitcode &code,
                                   llvm::StringRef chip) const;
  llvm::Expected<std::string> assemble(llvm::StringRef text,
                                       llvm::StringRef chip) const;
  llvm::Expected<std::string> link(llvm::ArrayRef<std::string> objects) const;
  llvm::Expected<std::string> makeEmulated(const Kind &kind) const;
  llvm::Expected<std::vector<GpuImage>> makeAllEmulated() const;
  llvm::Error makeImage(Work &work) const;

  GpuCodeRequest request;
  llvm::SmallVector<Kind, 2> kinds;
};

} // namespace mlir::hfta

#endif // HFTA_LIB_DRIVER_GPUCODEGEN_H
