//===- Prefetch.cpp - Prefetching for the next work item ------------------===//

#include "Emit/Prefetch.h"
#include "Hfta/Conversion/LowerKernels.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::hfta;

/// Returns the number of ops before `op` in its block that read `memory`.
static int64_t countReaders(linalg::GenericOp op, Value memory) {
  int64_t readers = 0;
  for (Operation *before = op->getPrevNode(); before;
       before = before->getPrevNode()) {
    auto other = dyn_cast<linalg::LinalgOp>(before);
    readers += other && llvm::any_of(other.getDpsInputs(), [&](Value input) {
                 return getRootMemory(input) == memory;
               });
  }
  return readers;
}

/// Returns the view that corresponds to `view` for the next item; null if the
/// view is the same for all items. For the last item it is the item's own view.
static Value createNextView(OpBuilder &builder, func::FuncOp kernel,
                            BlockArgument item, Value view) {
  BackwardSliceOptions options;
  options.inclusive = true;
  SetVector<Operation *> slice;
  (void)getBackwardSlice(view, &slice, options);
  bool depends = llvm::any_of(slice, [&](Operation *op) {
    return llvm::is_contained(op->getOperands(), item);
  });
  if (!depends)
    return Value();
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfterValue(view);
  Location loc = view.getLoc();
  auto items = kernel->getAttrOfType<IntegerAttr>(kItemsAttrName).getInt();
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  Value next = arith::AddIOp::create(builder, loc, item, constant(1));
  IRMapping mapping;
  mapping.map(item,
              arith::MinUIOp::create(builder, loc, next, constant(items - 1)));
  for (Operation *op : slice)
    builder.clone(*op, mapping);
  return mapping.lookup(view);
}

Prefetcher::Prefetcher(OpBuilder &builder, linalg::GenericOp op,
                       const TargetModel &target)
    : builder(builder), lineBytes(target.getLineBytes()) {
  auto kernel = op->getParentOfType<func::FuncOp>();
  Block &body = kernel.getBody().front();
  // The item's number is the argument before the scratch memory.
  BlockArgument item = body.getArgument(body.getNumArguments() - 2);
  for (OpOperand *operand : op.getDpsInputOperands()) {
    auto type = dyn_cast<MemRefType>(operand->get().getType());
    Value root = getRootMemory(operand->get());
    if (type && isa<BlockArgument>(root) && op->getBlock() == &body &&
        type.getNumElements() * getStoredElementBytes(type) <=
            target.getCoreCache().getBytes() /
                TargetModel::Prefetches::kCacheParts &&
        countReaders(op, root) == 1)
      if (Value next = createNextView(builder, kernel, item, operand->get()))
        memories[operand] = next;
  }
}

void Prefetcher::create(OpOperand &operand, ValueRange indices,
                        int64_t offset) {
  Value memory = memories.lookup(&operand);
  if (!memory ||
      offset * getStoredElementBytes(memory.getType()) % lineBytes != 0)
    return;
  memref::PrefetchOp::create(builder, operand.getOwner()->getLoc(), memory,
                             indices, /*isWrite=*/false,
                             TargetModel::Prefetches::kAllCaches,
                             /*isDataCache=*/true);
}
