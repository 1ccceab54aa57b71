//===- VerifySumOrder.cpp - Sums keep the order that they state -----------===//

#include "Hfta/Conversion/LowerKernels.h"
#include "Hfta/Conversion/SumOrder.h"
#include "Verify/SumTracer.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::hfta {
#define GEN_PASS_DEF_HFTAVERIFYSUMORDER
#include "Hfta/Conversion/Passes.h.inc"
} // namespace mlir::hfta

using namespace mlir;
using namespace mlir::hfta;

/// The number of steps above which a kernel isn't traced a second time, for the
/// last iterations of its loops.
static constexpr int64_t kManySteps = 1 << 16;

/// Verifies that the loops of an op run through the terms that its order
/// states, in that order.
static LogicalResult verifyOp(linalg::LinalgOp op) {
  if (op.getNumReductionLoops() == 0)
    return success();
  auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
  auto stated = op->getAttrOfType<SumOrderAttr>(SumOrderAttr::kAttrName);
  if (generic && !stated && !getLoopOrder(generic))
    return success();
  if (!generic || !stated)
    return op.emitOpError()
           << "has reduction loops, but no '" << SumOrderAttr::kAttrName << "'";
  SumOrderAttr order = getLoopOrder(generic);
  if (!order || order.getAxes() != stated.getAxes())
    return op.emitOpError()
           << "goes through other terms than it states: " << Attribute(order);
  for (AffineMap read : order.getReads())
    if (!llvm::is_contained(stated.getReads(), read))
      return op.emitOpError() << "reads its terms in another order than it "
                                 "states: "
                              << AffineMapAttr::get(read);
  return success();
}

static LogicalResult verifyLoops(func::FuncOp kernel, ArrayAttr list) {
  SmallVector<SumOrderAttr> orders;
  for (Attribute entry : list) {
    auto order = dyn_cast<SumOrderAttr>(entry);
    if (!order || llvm::any_of(order.getReads(), [](AffineMap read) {
          return read.getNumResults() != 1;
        }))
      return kernel.emitError()
             << "'" << kSumsAttrName << "' must list orders of addresses";
    orders.push_back(order);
  }
  SumChecker checker(kernel, orders);
  if (failed(checker.checkLanes()))
    return failure();
  if (checker.isTooLong())
    return success();
  SumTracer first(kernel, checker, /*runsLast=*/false);
  if (failed(first.trace()))
    return failure();
  return first.getSteps() > kManySteps
             ? success()
             : SumTracer(kernel, checker, /*runsLast=*/true).trace();
}

static void eraseMarks(func::FuncOp kernel) {
  if (!kernel->removeAttr(kSumsAttrName))
    return;
  kernel.walk([](Operation *op) {
    for (StringRef mark : {kTermAttrName, kCombineAttrName, kStartAttrName,
                           kTermLoopAttrName, kPanelAttrName})
      op->removeDiscardableAttr(mark);
  });
}

namespace {
struct VerifySumOrderPass
    : hfta::impl::HftaVerifySumOrderBase<VerifySumOrderPass> {
  using HftaVerifySumOrderBase::HftaVerifySumOrderBase;

  void runOnOperation() override {
    func::FuncOp kernel = getOperation();
    if (!kernel->hasAttr(kKernelAttrName) || kernel.isDeclaration())
      return;
    auto orders = kernel->getAttrOfType<ArrayAttr>(kSumsAttrName);
    bool fails = false;
    if (check)
      kernel.walk([&](linalg::LinalgOp op) { fails |= failed(verifyOp(op)); });
    if (check && orders)
      fails |= failed(verifyLoops(kernel, orders));
    if (fails)
      return signalPassFailure();
    if (eraseMarks)
      ::eraseMarks(kernel);
  }
};
} // namespace
