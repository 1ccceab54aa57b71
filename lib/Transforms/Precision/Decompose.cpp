//===- Decompose.cpp - Rewrite composite ops ------------------------------===//

#include "Precision/Decompose.h"

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Transforms/Passes.h"

namespace mlir::hfta {
#define GEN_PASS_DEF_HFTADECOMPOSE
#include "Hfta/Transforms/Passes.h.inc"
} // namespace mlir::hfta

using namespace mlir;
using namespace mlir::hfta;

void hfta::decomposeAll(Operation *root, bool keepsMatrices) {
  SmallVector<DecomposableOpInterface> ops;
  auto add = [&](Operation *op) {
    auto composite = dyn_cast<DecomposableOpInterface>(op);
    if (composite && !(keepsMatrices && op->hasTrait<MatrixTrait>()))
      ops.push_back(composite);
  };
  root->walk(add);
  while (!ops.empty()) {
    DecomposableOpInterface op = ops.pop_back_val();
    OpBuilder builder(op);
    Operation *before = op->getPrevNode();
    SmallVector<Value> replacements = op.decompose(builder);
    // A decomposition may itself contain composite ops.
    for (Operation *made = before ? before->getNextNode()
                                  : &op->getBlock()->front();
         made != op; made = made->getNextNode())
      add(made);
    op->replaceAllUsesWith(replacements);
    op->erase();
  }
}

namespace {
struct DecomposePass : hfta::impl::HftaDecomposeBase<DecomposePass> {
  using HftaDecomposeBase::HftaDecomposeBase;

  void runOnOperation() override {
    decomposeAll(getOperation(), keepsMatrices);
  }
};
} // namespace
