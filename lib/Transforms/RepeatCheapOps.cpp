//===- RepeatCheapOps.cpp - What kernels compute rather than read ---------===//

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Transforms/Passes.h"
#include "Kernels.h"
#include "TaskSplitter.h"

#include "llvm/ADT/StringSet.h"

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

/// Whether a value is in memory anyway, for as long as a task runs: it is read
/// from a variable that the task doesn't write, or several kernels need it,
/// among them one that adds it up, multiplies it or stores it.
static bool isStored(Value value, const llvm::StringSet<> &written) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return true;
  if (isa<ReshapeOp, UnstackOp>(op))
    return isStored(op->getOperand(0), written);
  if (auto read = dyn_cast<ReadOp>(op))
    return !written.contains(read.getVariable());
  if (isRepeated(op))
    return false;
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

static bool isWorthRepeating(Operation *op, const llvm::StringSet<> &written) {
  if (!isCheap(op) || op->getNumResults() != 1 || isRepeated(op))
    return false;
  int64_t bits = countBits(op->getResult(0));
  Value read;
  for (Value operand : op->getOperands()) {
    if (isSpread(operand, bits) || operand == read)
      continue;
    if (read || !isStored(operand, written) || countBits(operand) > bits)
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
    getOperation()->walk([&](func::FuncOp task) {
      llvm::StringSet<> written;
      task.walk([&](WriteOp write) { written.insert(write.getVariable()); });
      task.walk([&](Operation *op) {
        if (isWorthRepeating(op, written))
          op->setAttr(HftaDialect::kRepeatedAttrName, repeated);
      });
    });
  }
};
} // namespace
