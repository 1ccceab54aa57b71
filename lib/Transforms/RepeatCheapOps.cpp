//===- RepeatCheapOps.cpp - What kernels compute rather than read ---------===//

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Transforms/Passes.h"
#include "Kernels.h"
#include "TaskSplitter.h"

namespace mlir::hfta {
#define GEN_PASS_DEF_HFTAREPEATCHEAPOPS
#include "Hfta/Transforms/Passes.h.inc"
} // namespace mlir::hfta

using namespace mlir;
using namespace mlir::hfta;

/// What is so much smaller than a result is read at no cost.
static constexpr int64_t kMuchSmaller = 8;

static int64_t countBits(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  return type.getNumElements() * type.getElementTypeBitWidth();
}

/// Whether a value is in memory whoever asks for it: it, or what it is made of
/// anew, comes from there, or several kernels need it, of which one isn't its
/// own.
static bool isStored(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || isa<ReadOp, ReshapeOp, UnstackOp>(op))
    return true;
  if (isRepeated(op))
    return !op->hasTrait<RepeatedTrait>();
  llvm::SmallDenseSet<Operation *> users;
  bool isNeeded = false;
  visitUsers(op, [&](Operation *user) {
    users.insert(user);
    isNeeded |= !isa<ElementwiseOpInterface>(user);
  });
  return isNeeded && users.size() > 1;
}

/// Whether nothing but small tensors is read for a value.
static bool isSpread(Value value, int64_t bits) {
  Operation *op = value.getDefiningOp();
  if (!op || !op->hasTrait<RepeatedTrait>())
    return false;
  return llvm::all_of(op->getOperands(), [&](Value operand) {
    return countBits(operand) * kMuchSmaller <= bits;
  });
}

/// Kernels that read many elements of it, such as products, would compute each
/// of these many times; views and stores need it in memory.
static bool haveUsersRoom(Operation *op) {
  llvm::SmallDenseSet<Operation *> users;
  bool isReadOnce = true;
  visitUsers(op, [&](Operation *user) {
    users.insert(user);
    isReadOnce &= isa<ElementwiseOpInterface, ReduceOp>(user);
  });
  return isReadOnce && users.size() > 1;
}

static bool isWorthRepeating(Operation *op) {
  if (!isCheap(op) || op->getNumResults() != 1 || isRepeated(op))
    return false;
  int64_t bits = countBits(op->getResult(0));
  Value read;
  for (Value operand : op->getOperands()) {
    if (isSpread(operand, bits) || operand == read)
      continue;
    if (read || !isStored(operand) || countBits(operand) > bits)
      return false;
    read = operand;
  }
  return read && haveUsersRoom(op);
}

namespace {
struct RepeatCheapOpsPass
    : hfta::impl::HftaRepeatCheapOpsBase<RepeatCheapOpsPass> {
  using HftaRepeatCheapOpsBase::HftaRepeatCheapOpsBase;

  void runOnOperation() override {
    auto repeated = UnitAttr::get(&getContext());
    getOperation()->walk([&](Operation *op) {
      if (isWorthRepeating(op))
        op->setAttr(HftaDialect::kRepeatedAttrName, repeated);
    });
  }
};
} // namespace
