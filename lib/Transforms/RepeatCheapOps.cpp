//===- RepeatCheapOps.cpp - What kernels compute rather than read ---------===//

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Transforms/Passes.h"
#include "Kernels.h"
#include "TaskSplitter.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::hfta {
#define GEN_PASS_DEF_HFTAREPEATCHEAPOPS
#include "Hfta/Transforms/Passes.h.inc"
} // namespace mlir::hfta

using namespace mlir;
using namespace mlir::hfta;

/// What is so much smaller than a result is read at no cost.
static constexpr int64_t kMuchSmaller = 8;

/// Whether a value is in memory anyway, for as long as a task runs: it is read
/// from a variable that the task doesn't write, or several kernels need it,
/// among them one that adds it up, multiplies it or stores it.
static bool isInMemory(Value value, const llvm::StringSet<> &written) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return true;
  if (isa<ReshapeOp, UnstackOp>(op))
    return isInMemory(op->getOperand(0), written);
  if (isa<ReadOp>(op))
    return !isChanged(value, written);
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
static bool isSpread(Value value, int64_t bits,
                     const llvm::StringSet<> &written) {
  Operation *op = value.getDefiningOp();
  if (!op || !isRepeated(op))
    return false;
  return llvm::all_of(op->getOperands(), [&](Value operand) {
    bool isSmall = countBits(operand) * kMuchSmaller <= bits;
    return isSmall ? !isChanged(operand, written)
                   : isSpread(operand, bits, written);
  });
}

/// Whether an op takes each element into few windows.
static bool isPoolOfFew(Operation *op) {
  constexpr int64_t kFewWindows = 4;
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<MaxPoolOp, AveragePoolOp>([](auto pool) {
        return llvm::product_of(pool.getKernel()) <=
               kFewWindows * llvm::product_of(pool.getStrides());
      })
      .Default([](Operation *) { return false; });
}

/// Kernels that read many elements of it, such as products, would compute each
/// of these many times; views and stores need it in memory. What one kernel
/// reads is better computed by that which makes what it is made of, but for a
/// pooling, which can't be that.
static bool haveUsersRoom(Operation *op, bool readsLittle) {
  llvm::SmallDenseSet<Operation *> users;
  bool isReadFewTimes = true, isPooled = false;
  visitUsers(op, [&](Operation *user) {
    users.insert(user);
    isPooled |= isPoolOfFew(user);
    isReadFewTimes &= isa<ElementwiseOpInterface, ReduceOp, PartSumsOp>(user) ||
                      isPoolOfFew(user);
  });
  return isReadFewTimes && (readsLittle || isPooled || users.size() > 1);
}

namespace {
/// What a value is made of: cheap ops that nothing else needs, the last first,
/// and the one tensor of its size that they read, if they do.
struct CheapPath {
  int64_t bits; ///< of the value
  SmallVector<Operation *> ops;
  Value read;
  size_t count = 0; ///< of ops, those that are computed again anyway too
};
} // namespace

/// Follows an op's operands; false where they aren't cheap to compute again.
static bool follow(Operation *op, const llvm::StringSet<> &written,
                   CheapPath &path) {
  constexpr size_t kMostOps = 32;
  if (!isCheap(op) || op->getNumResults() != 1 || path.count++ == kMostOps)
    return false;
  if (!isRepeated(op))
    path.ops.push_back(op);
  for (Value operand : op->getOperands()) {
    Operation *source = operand.getDefiningOp();
    if (isSpread(operand, path.bits, written) || operand == path.read)
      continue;
    if (isInMemory(operand, written)) {
      // What is made of sums is little, and their kernel's.
      if (path.read || countBits(operand) > path.bits ||
          operand.getDefiningOp<ReduceOp>())
        return false;
      path.read = operand;
    } else if (!(operand.hasOneUse() || isRepeated(source)) ||
               !follow(source, written, path)) {
      return false;
    }
  }
  return true;
}

/// Marks an op, with those before it that only it needs.
static void markWhereWorth(Operation *op, const llvm::StringSet<> &written) {
  if (op->getNumResults() != 1 || !isCheap(op) || isRepeated(op))
    return;
  CheapPath path = {countBits(op->getResult(0)), {}, Value(), 0};
  if (follow(op, written, path) && haveUsersRoom(op, !path.read))
    for (Operation *marked : path.ops)
      marked->setAttr(HftaDialect::kRepeatedAttrName,
                      UnitAttr::get(op->getContext()));
}

namespace {
struct RepeatCheapOpsPass
    : hfta::impl::HftaRepeatCheapOpsBase<RepeatCheapOpsPass> {
  using HftaRepeatCheapOpsBase::HftaRepeatCheapOpsBase;

  void runOnOperation() override {
    getOperation()->walk([&](func::FuncOp task) {
      llvm::StringSet<> written;
      task.walk([&](WriteOp write) { written.insert(write.getVariable()); });
      task.walk([&](Operation *op) { markWhereWorth(op, written); });
    });
  }
};
} // namespace
