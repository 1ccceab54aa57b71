//===- SetTarget.cpp - Sets the processor that code is made for -----------===//

#include "Hfta/Pipelines/Passes.h"
#include "Hfta/Target/Target.h"

namespace mlir::hfta {
#define GEN_PASS_DEF_HFTASETTARGET
#include "Hfta/Pipelines/Passes.h.inc"
} // namespace mlir::hfta

using namespace mlir;
using namespace mlir::hfta;

/// Returns the processor with another size of its last-level cache. Fails, with
/// a diagnostic, if the size is impossible.
static FailureOr<ProcessorAttr>
replaceLastCache(ModuleOp module, ProcessorAttr processor, int64_t bytes) {
  MLIRContext *context = processor.getContext();
  auto emitError = [&] { return module.emitError(); };
  SmallVector<CacheAttr> caches(processor.getCaches());
  int64_t lineBytes = caches.back().getLineBytes(), ways = 1;
  if (failed(CacheAttr::verify(emitError, bytes, ways, lineBytes)))
    return failure();
  caches.back() = CacheAttr::get(context, bytes, ways, lineBytes);
  if (failed(ProcessorAttr::verify(
          emitError, processor.getVectorBytes(), processor.getVectorRegisters(),
          processor.getFmaUnits(), caches, processor.getFeatures(),
          processor.getLlvmFeatures())))
    return failure();
  return ProcessorAttr::get(
      context, processor.getVectorBytes(), processor.getVectorRegisters(),
      processor.getFmaUnits(), caches, processor.getFeatures(),
      processor.getLlvmFeatures());
}

namespace {
struct SetTargetPass : hfta::impl::HftaSetTargetBase<SetTargetPass> {
  using HftaSetTargetBase::HftaSetTargetBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<TargetAttr> resolved = resolve(module);
    if (failed(resolved))
      return signalPassFailure();
    module->setAttr(HftaDialect::kTargetAttrName, *resolved);
    markAllAnalysesPreserved();
  }

private:
  FailureOr<TargetAttr> resolve(ModuleOp module) {
    const Target *found = findTarget(target);
    if (!found)
      return module.emitError() << "there is no target '" << target << "'";
    TargetOptions options;
    for (const std::string &option : given) {
      auto [shortName, value] = StringRef(option).split('=');
      std::string name = ("--" + shortName).str();
      const auto *known =
          llvm::find_if(found->getOptions(), [&](const TargetOption &other) {
            return other.name == name;
          });
      if (known == found->getOptions().end())
        return module.emitError()
               << "target '" << target << "' has no option '" << name << "'";
      if (std::optional<UsageError> error = known->check(value))
        return module.emitError() << error->message;
      options[name] = value.str();
    }
    TargetAttr attribute;
    if (std::optional<UsageError> error =
            found->resolve(&getContext(), options, attribute))
      return module.emitError() << error->message;
    if (lastCacheBytes == 0)
      return attribute;
    auto processor = dyn_cast<ProcessorAttr>(attribute.getMachine());
    if (!processor)
      return module.emitError() << "target '" << target << "' has no caches";
    FailureOr<ProcessorAttr> replaced =
        replaceLastCache(module, processor, lastCacheBytes);
    if (failed(replaced))
      return failure();
    return TargetAttr::get(&getContext(), attribute.getName(), *replaced);
  }
};
} // namespace
