//===- CudaTarget.h - NVIDIA GPUs as a target -------------------*- C++ -*-===//

#ifndef HFTA_TARGET_CUDA_CUDATARGET_H
#define HFTA_TARGET_CUDA_CUDATARGET_H

#include "Hfta/Conversion/LowerGpuKernels.h"
#include "Hfta/Target/Target.h"

namespace mlir::hfta {

/// The target `cuda`: NVIDIA GPUs, whose threads compute single elements. Its
/// machine is a `#hfta.gpu`.
class CudaTarget : public Target {
public:
  llvm::StringRef getName() const override { return "cuda"; }
  void printDevices(llvm::raw_ostream &os) const override;
  llvm::ArrayRef<TargetOption> getOptions() const override;
  std::optional<UsageError> checkOptions(const TargetOptions &options,
                                         Phase emit) const override;
  std::optional<UsageError> resolve(MLIRContext *context,
                                    const TargetOptions &options,
                                    TargetAttr &target) const override;
  bool accepts(Attribute machine) const override;
  llvm::StringRef findUnsupported(const Job &job) const override;
  const FormingPolicy &getForming() const override;
  void addFormingPasses(OpPassManager &pm, bool accumulates) const override;
  llvm::ArrayRef<DeviceRates> getRates() const override;
  llvm::ArrayRef<PhaseInfo> getPhases() const override;
  void registerDialects(DialectRegistry &registry) const override;
  bool hasImages() const override { return true; }
  std::unique_ptr<DeviceCompiler>
  createDeviceCompiler(const TargetOptions &options, TargetAttr target,
                       Phase emit, llvm::raw_ostream &errors,
                       ExitCode &failure) const override;
};

/// Returns the one instance of the target.
const CudaTarget &getCudaTarget();

/// Builds the passes that lower kernels to the LLVM and hfta_gpu dialects, in a
/// nested module, and all else to the constant table hfta_program.
void buildGpuPipeline(OpPassManager &pm, const LowerGpuKernelsOptions &options);

/// Registers hfta-gpu-pipeline.
void registerCudaPipelines();

} // namespace mlir::hfta

#endif // HFTA_TARGET_CUDA_CUDATARGET_H
