//===- CpuTarget.h - Processors as a target ---------------------*- C++ -*-===//

#ifndef HFTA_TARGET_CPU_CPUTARGET_H
#define HFTA_TARGET_CPU_CPUTARGET_H

#include "Hfta/Target/Target.h"

#include "mlir/Pass/PassOptions.h"

namespace mlir::hfta {

/// The target `cpu`: x86-64 processors, whose threads compute rows of tensors
/// with vectors. Its machine is a `#hfta.processor`. A target that forms or
/// lowers kernels in nearly the same way can derive from it.
class CpuTarget : public Target {
public:
  llvm::StringRef getName() const override { return "cpu"; }
  void printDevices(llvm::raw_ostream &os) const override;
  llvm::ArrayRef<TargetOption> getOptions() const override;
  std::optional<UsageError> resolve(MLIRContext *context,
                                    const TargetOptions &options,
                                    TargetAttr &target) const override;
  bool accepts(Attribute machine) const override {
    return isa<ProcessorAttr>(machine);
  }
  const FormingPolicy &getForming() const override;
  void addFormingPasses(OpPassManager &pm, bool accumulates) const override;
  void addScratchPasses(OpPassManager &pm) const override;
  llvm::ArrayRef<PhaseInfo> getPhases() const override;
  Phase getKernelPhase() const override;
};

/// The phases that lead to the host's code.
namespace phases {
extern const PhaseInfo &llvm, &llvmIR, &assembly;
} // namespace phases

/// Returns the one instance of the target.
const CpuTarget &getCpuTarget();

/// Returns the attribute of the target `cpu` for a processor of getCpuNames()
/// other than "native".
TargetAttr getCpuTargetAttr(MLIRContext *context, llvm::StringRef processor);

struct LLVMPipelineOptions : PassPipelineOptions<LLVMPipelineOptions> {
  Option<bool> verifySums{
      *this, "verify-sums",
      llvm::cl::desc("check after each step that sums keep their order"),
      llvm::cl::init(false)};
};

/// Builds the passes that lower kernels to the LLVM dialect for the module's
/// `hfta.target`, and all else to the constant table hfta_program.
void buildLLVMPipeline(OpPassManager &pm, const LLVMPipelineOptions &options);

/// Registers hfta-llvm-pipeline.
void registerCpuPipelines();

} // namespace mlir::hfta

#endif // HFTA_TARGET_CPU_CPUTARGET_H
