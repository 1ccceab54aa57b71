//===- TransposedCopies.cpp - Products that read past a copy --------------===//

#include "Emit/TransposedCopies.h"
#include "Plan/LoopPlan.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace mlir::hfta;

/// Returns the only op apart from `reader` that uses an allocation, if `reader`
/// uses it once; else null.
static Operation *getWriter(memref::AllocOp alloc, Operation *reader) {
  Operation *writer = nullptr;
  if (!alloc.getMemref().hasNUses(2))
    return nullptr;
  for (Operation *user : alloc->getUsers())
    if (user != reader)
      writer = user;
  return writer;
}

/// Returns whether an op may write to `memory`: a structured op that has it as
/// an output, any other op that uses it and isn't a view, or one with regions.
static bool mayWrite(Operation *op, Value memory) {
  if (isa<ViewLikeOpInterface>(op))
    return false;
  auto linalg = dyn_cast<linalg::LinalgOp>(op);
  if (!linalg && op->getNumRegions() > 0)
    return true;
  SmallVector<Value> written(op->getOperands());
  if (linalg)
    written = llvm::to_vector(linalg.getDpsInits());
  return llvm::any_of(
      written, [&](Value operand) { return getRootMemory(operand) == memory; });
}

/// Returns whether nothing writes to `memory` between two ops of a block, nor
/// does the second one.
static bool staysUntil(Value memory, Operation *from, Operation *to) {
  Value root = getRootMemory(memory);
  for (Operation *op = to; op != from; op = op->getPrevNode())
    if (mayWrite(op, root))
      return false;
  return true;
}

linalg::TransposeOp hfta::findTransposedCopy(OpOperand &input) {
  Operation *reader = input.getOwner();
  auto alloc = input.get().getDefiningOp<memref::AllocOp>();
  auto copy = dyn_cast_or_null<linalg::TransposeOp>(
      alloc ? getWriter(alloc, reader) : nullptr);
  if (!copy || copy.getInit() != input.get() ||
      copy->getBlock() != reader->getBlock() ||
      !copy->isBeforeInBlock(reader) ||
      !staysUntil(copy.getInput(), copy, reader))
    return nullptr;
  return copy;
}

linalg::GenericOp hfta::readPastCopy(RewriterBase &rewriter, OpOperand &input,
                                     linalg::TransposeOp copy) {
  auto product = cast<linalg::GenericOp>(input.getOwner());
  unsigned number = input.getOperandNumber();
  // Axis i of the copy is axis `permutation[i]` of what was copied.
  SmallVector<AffineMap> maps = product.getIndexingMapsArray();
  SmallVector<AffineExpr> indices(maps[number].getNumResults());
  for (auto [index, axis] :
       llvm::zip(maps[number].getResults(), copy.getPermutation()))
    indices[axis] = index;
  maps[number] =
      AffineMap::get(product.getNumLoops(), 0, indices, product.getContext());
  rewriter.setInsertionPoint(product);
  auto direct = cast<linalg::GenericOp>(rewriter.clone(*product));
  direct.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
  direct->setOperand(number, copy.getInput());
  return direct;
}
