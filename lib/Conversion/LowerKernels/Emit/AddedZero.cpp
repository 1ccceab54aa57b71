//===- AddedZero.cpp - Sums of products to which zero is added ------------===//

#include "Emit/AddedZero.h"
#include "Hfta/Conversion/LowerKernels.h"
#include "Plan/LoopPlan.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace mlir::hfta;

/// Returns the memory to whose elements an op adds +0; null if it does anything
/// else.
static Value getSummand(linalg::GenericOp op) {
  if (op.getNumDpsInputs() != 1 || op.getNumDpsInits() != 1 ||
      op.getNumReductionLoops() > 0 ||
      !llvm::all_of(op.getIndexingMapsArray(),
                    [](AffineMap map) { return map.isIdentity(); }) ||
      !llvm::hasNItems(op.getBody()->without_terminator(), 1))
    return Value();
  auto add = dyn_cast<arith::AddFOp>(op.getBody()->front());
  if (!add || op.getBody()->getTerminator()->getOperand(0) != add.getResult())
    return Value();
  BlockArgument element = op.getBody()->getArgument(0);
  Value other = add.getLhs() == element ? add.getRhs() : add.getLhs();
  if ((add.getLhs() != element && add.getRhs() != element) ||
      !matchPattern(other, m_PosZeroFloat()))
    return Value();
  return op.getDpsInputs().front();
}

/// Returns the product that writes last to an allocation before `reader`, if
/// `reader` is the last op that uses it, only structured ops of its block use
/// it, and none of these, or of the ops between them, uses `target`. Else
/// returns null.
static linalg::GenericOp findProduct(memref::AllocOp alloc,
                                     linalg::GenericOp reader, Value target) {
  Operation *first = reader, *last = nullptr;
  for (Operation *user : alloc->getUsers()) {
    if (!isa<linalg::LinalgOp>(user) || user->getBlock() != reader->getBlock())
      return nullptr;
    if (user == reader)
      continue;
    if (reader->isBeforeInBlock(user))
      return nullptr;
    first = user->isBeforeInBlock(first) ? user : first;
    last = !last || last->isBeforeInBlock(user) ? user : last;
  }
  auto product = dyn_cast_or_null<linalg::GenericOp>(last);
  if (!product || product.getNumDpsInits() != 1 ||
      product.getDpsInits().front() != alloc.getMemref() ||
      product.getBody()->getOps<math::FmaOp>().empty())
    return nullptr;
  for (Operation *op = first; op != reader; op = op->getNextNode())
    if (op->getNumRegions() > 0 && !isa<linalg::LinalgOp>(op))
      return nullptr;
    else if (!isa<memref::SubViewOp>(op) &&
             llvm::any_of(op->getOperands(), [&](Value operand) {
               return getRootMemory(operand) == target;
             }))
      return nullptr;
  return product;
}

/// Returns whether a result of the kernel is written over one of its operands.
static bool hasTies(Operation *op) {
  auto ties =
      op->getParentOfType<func::FuncOp>()->getAttrOfType<DenseI64ArrayAttr>(
          kTiesAttrName);
  return ties &&
         llvm::any_of(ties.asArrayRef(), [](int64_t tie) { return tie >= 0; });
}

bool hfta::moveAddedZero(RewriterBase &rewriter, linalg::GenericOp op) {
  Value summand = getSummand(op);
  auto alloc = summand ? summand.getDefiningOp<memref::AllocOp>() : nullptr;
  Value target = op.getDpsInits().front();
  if (!alloc || hasTies(op) || alloc->getBlock() != op->getBlock())
    return false;
  linalg::GenericOp product = findProduct(alloc, op, getRootMemory(target));
  if (!product ||
      failed(moveValueDefinitions(rewriter, ValueRange(target), alloc)))
    return false;
  rewriter.eraseOp(op);
  rewriter.replaceAllUsesWith(alloc.getMemref(), target);
  rewriter.eraseOp(alloc);
  product->setAttr(kAddsZeroAttrName, rewriter.getUnitAttr());
  return true;
}
