//===- MarkPhase.cpp - Notes the phase that a module is in ----------------===//

#include "Hfta/Pipelines/Passes.h"

#include "mlir/IR/Builders.h"

namespace mlir::hfta {
#define GEN_PASS_DEF_HFTAMARKPHASE
#include "Hfta/Pipelines/Passes.h.inc"
} // namespace mlir::hfta

using namespace mlir;
using namespace mlir::hfta;

namespace {
struct MarkPhasePass : hfta::impl::HftaMarkPhaseBase<MarkPhasePass> {
  using HftaMarkPhaseBase::HftaMarkPhaseBase;

  void runOnOperation() override {
    getOperation()->setAttr(kPhaseAttrName,
                            StringAttr::get(&getContext(), phase));
    markAllAnalysesPreserved();
  }
};
} // namespace
