//===- HftaToRuntime.cpp - Tables for the C runtime -----------------------===//

#include "Hfta/Conversion/HftaToRuntime.h"
#include "ProgramTable.h"

namespace mlir::hfta {
#define GEN_PASS_DEF_CONVERTHFTATORUNTIME
#include "Hfta/Conversion/Passes.h.inc"
} // namespace mlir::hfta

using namespace mlir;
using namespace mlir::hfta;

namespace {
struct HftaToRuntimePass
    : hfta::impl::ConvertHftaToRuntimeBase<HftaToRuntimePass> {
  using ConvertHftaToRuntimeBase::ConvertHftaToRuntimeBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<Job> job = Job::readPlanned(module);
    if (failed(job))
      return signalPassFailure();
    if (failed(buildProgramTable(module, *job, symbol)))
      return signalPassFailure();
    for (Operation &op : llvm::make_early_inc_range(*module.getBody()))
      if (isa<VariableOp, TaskOp, ScheduleOp>(op))
        op.erase();
    // The tables now hold these attributes, so modules of later phases do
    // without them.
    for (StringRef name :
         {StringRef(HftaDialect::kSegmentsAttrName), StringRef("hfta.models"),
          StringRef("hfta.plan_json")})
      module->removeAttr(name);
  }
};
} // namespace
