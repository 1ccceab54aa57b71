//===- CollectGpuCode.cpp - The module of code for GPUs -------------------===//

#include "Hfta/Conversion/LowerGpuKernels.h"
#include "Hfta/Dialect/Gpu/GpuOps.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace mlir::hfta {
#define GEN_PASS_DEF_HFTACOLLECTGPUCODE
#include "Hfta/Conversion/Passes.h.inc"
} // namespace mlir::hfta

using namespace mlir;
using namespace mlir::hfta;
using hfta_gpu::HftaGpuDialect;

/// Collects an op and all symbols of the module that it refers to, directly or
/// indirectly.
static void collect(Operation *op, SymbolTable &symbols,
                    llvm::SetVector<Operation *> &found) {
  if (!found.insert(op))
    return;
  op->walk([&](Operation *user) {
    for (NamedAttribute attribute : user->getAttrs())
      if (auto symbol = dyn_cast<FlatSymbolRefAttr>(attribute.getValue()))
        if (Operation *used = symbols.lookup(symbol.getAttr()))
          collect(used, symbols, found);
  });
}

namespace {
struct CollectGpuCodePass
    : hfta::impl::HftaCollectGpuCodeBase<CollectGpuCodePass> {
  using HftaCollectGpuCodeBase::HftaCollectGpuCodeBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SymbolTable symbols(module);
    llvm::SetVector<Operation *> found;
    for (auto function : module.getOps<LLVM::LLVMFuncOp>())
      if (function->hasAttr(HftaGpuDialect::kEntryAttrName))
        collect(function, symbols, found);
    OpBuilder builder(module.getBody(), module.getBody()->end());
    auto code = ModuleOp::create(builder, module.getLoc(), kGpuModuleName);
    // Keeps the order of the module, which doesn't depend on which op refers to
    // which.
    for (Operation &op : llvm::make_early_inc_range(*module.getBody()))
      if (found.contains(&op))
        op.moveBefore(code.getBody(), code.getBody()->end());
  }
};
} // namespace
