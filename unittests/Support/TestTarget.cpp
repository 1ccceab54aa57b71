//===- TestTarget.cpp - The target that unit tests compile for ------------===//

#include "TestTarget.h"

#include "Hfta/Conversion/LowerGpuKernels.h"
#include "Hfta/InitAll.h"
#include "Hfta/Target/Cpu/CpuTarget.h"
#include "Hfta/Target/Cuda/CudaTarget.h"
#include "Hfta/Target/Processors.h"

#include "mlir/Pass/PassManager.h"

#include <cstdlib>

using namespace mlir;
using namespace mlir::hfta;

bool hfta::computesByThreads() {
  const char *kernels = std::getenv("HFTA_TEST_KERNELS");
  return kernels && StringRef(kernels) == "threads";
}

static void addThreads(OpPassManager &pm, const PipelineSettings &settings) {
  buildThreadsOnHostPipeline(pm);
  phases::llvm.addPasses(pm, settings);
}

namespace {
class ThreadsOnHostTarget : public CpuTarget {
public:
  llvm::StringRef getName() const override { return "threads-on-host"; }
  const FormingPolicy &getForming() const override {
    return getCudaTarget().getForming();
  }
  void addFormingPasses(OpPassManager &pm, bool accumulates) const override {
    getCudaTarget().addFormingPasses(pm, accumulates);
  }
  llvm::ArrayRef<PhaseInfo> getPhases() const override {
    static const PhaseInfo phases[] = {{"llvm", PhaseForm::module,
                                        "kernels' threads as loops", "",
                                        addThreads, ExitCode::internal}};
    return phases;
  }
};
} // namespace

const Target &hfta::getTestTarget() {
  static const ThreadsOnHostTarget threads;
  registerAllTargets();
  if (!computesByThreads())
    return getCpuTarget();
  registerTarget(threads);
  return threads;
}

void hfta::setTestTarget(ModuleOp module) {
  MLIRContext *context = module.getContext();
  module->setAttr(HftaDialect::kTargetAttrName,
                  TargetAttr::get(context, getTestTarget().getName(),
                                  getProcessor(context, "x86-64-v3")));
}
