//===- Targets.cpp - The targets that programs can be compiled for --------===//

#include "Hfta/InitAll.h"
#include "Hfta/Target/Cpu/CpuTarget.h"
#include "Hfta/Target/Cuda/CudaTarget.h"

using namespace mlir;

void mlir::hfta::registerAllTargets() {
  registerTarget(getCpuTarget());
  registerTarget(getCudaTarget());
}
