//===- MergeBlocks.cpp - Merges adjacent blocks ---------------------------===//

#include "Hfta/Support/TaskNames.h"
#include "Hfta/Transforms/Passes.h"
#include "Tasks/TaskTags.h"

namespace mlir::hfta {
#define GEN_PASS_DEF_HFTAMERGEBLOCKS
#include "Hfta/Transforms/Passes.h.inc"
} // namespace mlir::hfta

using namespace mlir;
using namespace mlir::hfta;

namespace {
struct MergeBlocksPass : hfta::impl::HftaMergeBlocksBase<MergeBlocksPass> {
  using HftaMergeBlocksBase::HftaMergeBlocksBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    func::FuncOp training = findUndivided(module, parts::kTraining);
    if (!training) {
      module.emitError("expected the undivided function 'training'; run "
                       "hfta-differentiate first");
      return signalPassFailure();
    }
    FailureOr<TaskTags> tags = readTags(training);
    if (failed(tags) || failed(checkNumbers(countBlocks(*tags))))
      return signalPassFailure();
    mergeBlocks(module, into);
  }

  LogicalResult checkNumbers(int64_t blocks) {
    bool rises = !into.empty() && into.front() == 0;
    for (size_t block = 1; block < into.size(); ++block)
      rises &=
          into[block] == into[block - 1] || into[block] == into[block - 1] + 1;
    if (rises && static_cast<int64_t>(into.size()) == blocks)
      return success();
    InFlightDiagnostic diagnostic =
        getOperation().emitError(
            "expected 'into' to have a number for each of ")
        << blocks
        << " blocks, which begin with 0 and then stay or rise by one, "
        << "got [";
    llvm::interleaveComma(into, diagnostic);
    return diagnostic << "]";
  }
};
} // namespace
