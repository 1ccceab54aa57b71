//===- Epilogue.cpp - Elementwise ops on a product's registers ------------===//

#include "Emit/Epilogue.h"
#include "Emit/AddedZero.h"
#include "Plan/Access.h"
#include "Plan/LoopPlan.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace mlir::hfta;

/// Returns whether an op computes each element of one result by few elementwise
/// operations, from elements at the same indices or broadcasts of them. More
/// operations would be much code, as they are repeated for each vector of a
/// tile.
static bool isCheapElementwise(linalg::GenericOp op) {
  if (op.getNumReductionLoops() > 0 || op.getNumDpsInits() != 1 ||
      op.getNumLoops() == 0 || op.hasIndexSemantics() ||
      op.payloadUsesValueFromOperand(op.getDpsInitOperand(0)) ||
      !op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isIdentity())
    return false;
  constexpr size_t kMostOps = 4;
  auto body = op.getBody()->without_terminator();
  return llvm::hasNItemsOrLess(body, kMostOps) &&
         llvm::all_of(body,
                      [](Operation &inner) {
                        return isa_and_present<arith::ArithDialect>(
                                   inner.getDialect()) &&
                               inner.getNumRegions() == 0 &&
                               inner.getNumResults() == 1;
                      }) &&
         llvm::all_of(op.getIndexingMapsArray(), [](AffineMap map) {
           return map.isProjectedPermutation();
         });
}

/// Returns the allocation whose elements an op reads once each, and which a
/// fill, a sum and the op alone use; null if there is none.
static memref::AllocOp findSums(linalg::GenericOp op) {
  constexpr unsigned kUsers = 3;
  memref::AllocOp sums;
  for (OpOperand *input : op.getDpsInputOperands()) {
    auto alloc = input->get().getDefiningOp<memref::AllocOp>();
    if (alloc && alloc->getBlock() == op->getBlock() &&
        alloc.getMemref().hasNUses(kUsers) &&
        op.getMatchingIndexingMap(input).isIdentity())
      sums = alloc;
  }
  return sums;
}

linalg::GenericOp hfta::findProductOfEpilogue(linalg::GenericOp op) {
  memref::AllocOp sums = isCheapElementwise(op) ? findSums(op) : nullptr;
  if (!sums)
    return nullptr;
  Value target = op.getDpsInits().front();
  if (sums.getType().getElementType() != getElementTypeOrSelf(target.getType()))
    return nullptr;
  Operation *before = op->getPrevNode();
  while (before && (isa<ViewLikeOpInterface>(before) || isPure(before)))
    before = before->getPrevNode();
  auto product = dyn_cast_or_null<linalg::GenericOp>(before);
  if (!product || !addsProducts(product) ||
      product.getDpsInits().front() != sums.getMemref() ||
      !product.getMatchingIndexingMap(product.getDpsInitOperand(0))
           .isProjectedPermutation())
    return nullptr;
  // The target's elements are written while the product, and the op, still read
  // others, maybe twice.
  Value root = getRootMemory(target);
  auto usesRoot = [&](Value read) { return getRootMemory(read) == root; };
  if (llvm::any_of(product.getDpsInputs(), usesRoot) ||
      llvm::any_of(op.getDpsInputs(), usesRoot))
    return nullptr;
  return product;
}

linalg::GenericOp hfta::addEpilogueInputs(RewriterBase &rewriter,
                                          linalg::GenericOp product,
                                          linalg::GenericOp op) {
  OpOperand &result = *product.getDpsInitOperand(0);
  SmallVector<Value> inputs(product.getDpsInputs());
  SmallVector<AffineMap> maps = product.getIndexingMapsArray();
  AffineMap ofResult = maps.pop_back_val();
  int64_t added = 0;
  for (OpOperand &operand : op->getOpOperands()) {
    if (operand.get() == result.get())
      continue;
    inputs.push_back(operand.get());
    maps.push_back(op.getMatchingIndexingMap(&operand).compose(ofResult));
    ++added;
  }
  maps.push_back(ofResult);
  rewriter.setInsertionPoint(op);
  auto extended = linalg::GenericOp::create(
      rewriter, product.getLoc(), TypeRange(), inputs, result.get(), maps,
      product.getIteratorTypesArray());
  extended->setDiscardableAttrs(product->getDiscardableAttrDictionary());
  extended->setAttr(kEpilogueInputsAttrName, rewriter.getI64IntegerAttr(added));
  extended.getRegion().takeBody(product.getRegion());
  Block &body = *extended.getBody();
  for (Value input : ArrayRef(inputs).take_back(added))
    body.insertArgument(body.getNumArguments() - 1,
                        getElementTypeOrSelf(input.getType()),
                        product.getLoc());
  rewriter.eraseOp(product);
  return extended;
}

linalg::GenericOp hfta::dropEpilogueInputs(RewriterBase &rewriter,
                                           linalg::GenericOp product) {
  unsigned added = countEpilogueInputs(product);
  unsigned kept = product.getNumDpsInputs() - added;
  SmallVector<AffineMap> maps = product.getIndexingMapsArray();
  maps.erase(maps.begin() + kept, maps.begin() + kept + added);
  rewriter.setInsertionPoint(product);
  auto plain = linalg::GenericOp::create(
      rewriter, product.getLoc(), TypeRange(),
      ValueRange(product.getDpsInputs()).take_front(kept),
      product.getDpsInits(), maps, product.getIteratorTypesArray());
  plain->setDiscardableAttrs(product->getDiscardableAttrDictionary());
  plain->removeAttr(kEpilogueInputsAttrName);
  plain.getRegion().takeBody(product.getRegion());
  plain.getBody()->eraseArguments(kept, added);
  rewriter.eraseOp(product);
  return plain;
}

std::optional<Epilogue> hfta::getEpilogue(linalg::GenericOp product,
                                          linalg::GenericOp op,
                                          std::optional<unsigned> vectorAxis) {
  Epilogue epilogue = {op, {}};
  unsigned next = product.getNumDpsInputs() - countEpilogueInputs(product);
  Value sums = getRootMemory(product.getDpsInits().front());
  for (OpOperand &operand : op->getOpOperands()) {
    if (operand.get() == sums) {
      epilogue.places.emplace_back();
      continue;
    }
    Access access = getAccess(product, product->getOpOperand(next), vectorAxis);
    if (access.kind != Access::Uniform && !access.isContiguous())
      return std::nullopt;
    epilogue.places.emplace_back(next++);
  }
  return epilogue;
}
