//===- SetTarget.cpp - Sets the processor that code is made for -----------===//

#include "Hfta/Pipelines/Passes.h"
#include "Hfta/Target/Cpu.h"

namespace mlir::hfta {
#define GEN_PASS_DEF_HFTASETTARGET
#include "Hfta/Pipelines/Passes.h.inc"
} // namespace mlir::hfta

using namespace mlir;
using namespace mlir::hfta;

/// Returns the target with another size of its last-level cache. Fails, with a
/// diagnostic, if the size is impossible.
static FailureOr<TargetAttr>
replaceLastCache(ModuleOp module, TargetAttr target, int64_t bytes) {
  MLIRContext *context = target.getContext();
  auto emitError = [&] { return module.emitError(); };
  SmallVector<CacheAttr> caches(target.getCaches());
  int64_t lineBytes = caches.back().getLineBytes(), ways = 1;
  if (failed(CacheAttr::verify(emitError, bytes, ways, lineBytes)))
    return failure();
  caches.back() = CacheAttr::get(context, bytes, ways, lineBytes);
  if (failed(TargetAttr::verify(
          emitError, target.getKind(), target.getVectorBytes(),
          target.getVectorRegisters(), target.getFmaUnits(), caches,
          target.getFeatures(), target.getLlvmFeatures())))
    return failure();
  return TargetAttr::get(context, target.getKind(), target.getVectorBytes(),
                         target.getVectorRegisters(), target.getFmaUnits(),
                         caches, target.getFeatures(),
                         target.getLlvmFeatures());
}

namespace {
struct SetTargetPass : hfta::impl::HftaSetTargetBase<SetTargetPass> {
  using HftaSetTargetBase::HftaSetTargetBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<TargetAttr> target = failure();
    if (isKnownCpu(cpu))
      target = resolveCpu(&getContext(), cpu);
    if (failed(target)) {
      module.emitError() << "there is no processor '" << cpu << "' here";
      return signalPassFailure();
    }
    if (lastCacheBytes > 0)
      target = replaceLastCache(module, *target, lastCacheBytes);
    if (failed(target))
      return signalPassFailure();
    module->setAttr(HftaDialect::kTargetAttrName, *target);
    markAllAnalysesPreserved();
  }
};
} // namespace
