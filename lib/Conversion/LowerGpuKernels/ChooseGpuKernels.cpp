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

static FlatSymbolRefAttr getReplaced(Operation *function) {
  return function->getAttrOfType<FlatSymbolRefAttr>(kWarpGroupsOfAttrName);
}

/// Puts a function in the place of the other one that it names. What is called
/// by its own entry point keeps its name.
static LogicalResult replaceOther(LLVM::LLVMFuncOp function,
                                  SymbolTable &symbols) {
  FlatSymbolRefAttr of = getReplaced(function);
  auto other = symbols.lookup<LLVM::LLVMFuncOp>(of.getAttr());
  if (!other || getReplaced(other) ||
      other.getFunctionType() != function.getFunctionType())
    return function.emitError("expected ")
           << kWarpGroupsOfAttrName
           << " to name another function of the same type, got " << of;
  symbols.erase(other);
  function->removeAttr(kWarpGroupsOfAttrName);
  if (function->hasAttr(NVVM::NVVMDialect::getKernelFuncAttrName()))
    SymbolTable::setSymbolName(function, of.getAttr());
  return success();
}

namespace {
struct ChooseGpuKernelsPass
    : hfta::impl::HftaChooseGpuKernelsBase<ChooseGpuKernelsPass> {
  using HftaChooseGpuKernelsBase::HftaChooseGpuKernelsBase;

  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    SmallVector<LLVM::LLVMFuncOp> others;
    for (auto function : getOperation().getOps<LLVM::LLVMFuncOp>())
      if (getReplaced(function))
        others.push_back(function);
    for (LLVM::LLVMFuncOp function : others) {
      if (!warpGroups)
        symbols.erase(function);
      else if (failed(replaceOther(function, symbols)))
        return signalPassFailure();
    }
  }
};
} // namespace
