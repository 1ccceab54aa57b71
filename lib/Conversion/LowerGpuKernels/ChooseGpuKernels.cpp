//===- ChooseGpuKernels.cpp - The kernels for one kind of chip ------------===//

#include "Hfta/Conversion/LowerGpuKernels.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

namespace mlir::hfta {
#define GEN_PASS_DEF_HFTACHOOSEGPUKERNELS
#include "Hfta/Conversion/Passes.h.inc"
} // namespace mlir::hfta

using namespace mlir;
using namespace mlir::hfta;

namespace {
struct ChooseGpuKernelsPass
    : hfta::impl::HftaChooseGpuKernelsBase<ChooseGpuKernelsPass> {
  using HftaChooseGpuKernelsBase::HftaChooseGpuKernelsBase;

  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    for (auto function :
         llvm::to_vector(getOperation().getOps<LLVM::LLVMFuncOp>())) {
      auto of =
          function->getAttrOfType<FlatSymbolRefAttr>(kWarpGroupsOfAttrName);
      if (!of)
        continue;
      if (!warpGroups) {
        symbols.erase(function);
        continue;
      }
      Operation *other = symbols.lookup(of.getAttr());
      if (!other) {
        function.emitError("is in the place of ")
            << of << ", which isn't in the module";
        return signalPassFailure();
      }
      symbols.erase(other);
      function->removeAttr(kWarpGroupsOfAttrName);
      // What is called by its own entry point keeps its name.
      if (function->hasAttr(NVVM::NVVMDialect::getKernelFuncAttrName()))
        SymbolTable::setSymbolName(function, of.getAttr());
    }
  }
};
} // namespace
