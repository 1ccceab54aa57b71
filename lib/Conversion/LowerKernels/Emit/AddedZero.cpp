//===- AddedZero.cpp - Sums of products to which zero is added ------------===//

#include "Emit/AddedZero.h"
#include "Hfta/Conversion/SumOrder.h"
#include "Plan/LoopPlan.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
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

bool hfta::addsProducts(linalg::GenericOp op) {
  if (op.getNumReductionLoops() == 0 || op.getNumDpsInits() != 1)
    return false;
  Value term = op.getBody()->getTerminator()->getOperand(0);
  return getAddend(term.getDefiningOp()) == op.getRegionOutputArgs().front();
}

/// Returns whether an op, or one in its regions, uses a part of `root`.
static bool usesMemory(Operation *op, Value root) {
  return op
      ->walk([&](Operation *inner) {
        return llvm::any_of(inner->getOperands(),
                            [&](Value operand) {
                              return isa<MemRefType>(operand.getType()) &&
                                     getRootMemory(operand) == root;
                            })
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Returns the product whose sums `reader` reads from an allocation: the last
/// op before it that uses the allocation. Returns null if an op after `reader`
/// uses the allocation, or if an op from its first user to `reader` uses
/// `root`, where the sums would be stored instead.
static linalg::GenericOp findProduct(memref::AllocOp alloc,
                                     linalg::GenericOp reader, Value root) {
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
  if (!product || !addsProducts(product) ||
      product.getDpsInits().front() != alloc.getMemref())
    return nullptr;
  for (Operation *op = first; op != reader; op = op->getNextNode())
    if (!isa<memref::SubViewOp>(op) && usesMemory(op, root))
      return nullptr;
  return product;
}

bool hfta::moveAddedZero(RewriterBase &rewriter, linalg::GenericOp op) {
  Value summand = getSummand(op);
  auto alloc = summand ? summand.getDefiningOp<memref::AllocOp>() : nullptr;
  if (!alloc || alloc->getBlock() != op->getBlock())
    return false;
  Value target = op.getDpsInits().front();
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
