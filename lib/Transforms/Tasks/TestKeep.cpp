//===- TestKeep.cpp - Keeps values at random, for tests -------------------===//

#include "Hfta/Support/TaskNames.h"
#include "Hfta/Transforms/Passes.h"
#include "Tasks/TaskTags.h"

#include <random>

namespace mlir::hfta {
#define GEN_PASS_DEF_HFTATESTKEEP
#include "Hfta/Transforms/Passes.h.inc"
} // namespace mlir::hfta

using namespace mlir;
using namespace mlir::hfta;

namespace {
struct TestKeepPass : hfta::impl::HftaTestKeepBase<TestKeepPass> {
  using HftaTestKeepBase::HftaTestKeepBase;

  void runOnOperation() override {
    func::FuncOp training = findUndivided(getOperation(), parts::kTraining);
    if (!training) {
      getOperation().emitError(
          "expected the undivided function 'training'; run "
          "hfta-differentiate first");
      return signalPassFailure();
    }
    FailureOr<TaskTags> tags = readTags(training);
    if (failed(tags))
      return signalPassFailure();
    // The C++ standard defines this generator's numbers, so they are equal on
    // all machines.
    std::mt19937 generator(static_cast<uint32_t>(seed));
    for (Operation &op : training.getBody().front().without_terminator()) {
      if (tags->lookup(&op).part != TaskPart::forward ||
          op.getNumResults() == 0)
        continue;
      switch (generator() % 4) {
      case 0:
        op.setAttr(HftaDialect::kKeepAttrName,
                   KeepAttr::get(&getContext(), Keep::save));
        break;
      case 1:
      case 2:
        op.setAttr(HftaDialect::kKeepAttrName,
                   KeepAttr::get(&getContext(), Keep::recompute));
        break;
      default:
        op.removeAttr(HftaDialect::kKeepAttrName);
      }
    }
  }
};
} // namespace
