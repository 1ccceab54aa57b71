//===- RepeatCheapOps.cpp - Recompute ops that cost less than reads -------===//

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Transforms/Passes.h"
#include "Kernels/KernelRows.h"
#include "Kernels/Kernels.h"
#include "Tasks/TaskSplitter.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::hfta {
#define GEN_PASS_DEF_HFTAREPEATCHEAPOPS
#include "Hfta/Transforms/Passes.h.inc"
} // namespace mlir::hfta

using namespace mlir;
using namespace mlir::hfta;

/// The ratio of sizes from which on reading the smaller tensor is almost free.
static constexpr int64_t kMuchSmaller = 8;

/// Returns whether a value is in memory anyway while a task runs: it is read
/// from a variable that the task doesn't write, or several kernels need it and
/// one of them adds it up, multiplies it or stores it.
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

/// Returns whether a value is computed from small tensors only. Large constants
/// of different elements are tensors in memory.
static bool isSpread(Value value, int64_t bits,
                     const llvm::StringSet<> &written) {
  Operation *op = value.getDefiningOp();
  if (!op || !isRepeated(op))
    return false;
  if (auto constant = dyn_cast<ConstantOp>(op))
    return isa<SplatElementsAttr>(constant.getValue());
  return llvm::all_of(op->getOperands(), [&](Value operand) {
    bool isSmall = countBits(operand) * kMuchSmaller <= bits;
    return isSmall ? !isChanged(operand, written)
                   : isSpread(operand, bits, written);
  });
}

/// Returns whether each element is in only a few of a pooling's windows.
static bool isPoolOfFew(Operation *op) {
  constexpr int64_t kFewWindows = 4;
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<MaxPoolOp, AveragePoolOp>([](auto pool) {
        return llvm::product_of(pool.getKernel()) <=
               kFewWindows * llvm::product_of(pool.getStrides());
      })
      .Default([](Operation *) { return false; });
}

/// Returns whether users of an op should recompute it. Kernels that read an
/// element many times, such as products, would compute it as often; views and
/// stores need it in memory. If only one kernel reads the result, the kernel
/// that computes the op's operands should compute it as well, unless the reader
/// is a pooling, which can't be fused with that kernel.
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
/// The computation of a value: cheap ops that nothing else needs, the last one
/// first, and the only tensor of the value's size that they read, if any.
struct CheapPath {
  int64_t bits; ///< the value's size
  SmallVector<Operation *> ops;
  Value read;
  size_t count = 0; ///< includes ops that are recomputed anyway
};
} // namespace

/// Adds an op, and the ops that compute its operands, to the path. Returns
/// false if they aren't cheap to recompute.
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
      // The result of a reduction is small, and ops on it belong to its kernel.
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

/// Returns whether the path, which ends in `op`, reads a sum of each row, or
/// what is computed from it. If a kernel computes whole rows, one kernel then
/// computes the sum, the path and what reads it, and stores none of it.
static bool readsRowSums(const CheapPath &path, Operation *op) {
  return llvm::any_of(path.ops, [&](Operation *reader) {
    return llvm::any_of(reader->getOperands(), [&](Value operand) {
      Operation *source = getRowSource(operand);
      return source && source != operand.getDefiningOp() &&
             isOfRows(source, getResultShape(op));
    });
  });
}

/// Returns whether a value is so large that storing it costs more than to
/// compute it once more, and no user would compute an element of it several
/// times, for each element of a larger tensor.
static bool isWorthwhileForRows(Operation *op, int64_t bits) {
  // 32 KiB, the size of a first-level cache.
  constexpr int64_t kFewBits = 1 << 18;
  int64_t elements = ShapedType::getNumElements(getResultShape(op));
  bool isSpreadOut = false;
  visitUsers(op, [&](Operation *user) {
    isSpreadOut |= isElementwise(user) &&
                   ShapedType::getNumElements(getResultShape(user)) > elements;
  });
  return bits > kFewBits && !isSpreadOut;
}

static void mark(Operation *op) {
  op->setAttr(HftaDialect::kRepeatedAttrName, UnitAttr::get(op->getContext()));
}

/// Marks an op as recomputed if that is worthwhile, together with the ops
/// before it that only it needs.
static void markWhereWorth(Operation *op, const llvm::StringSet<> &written,
                           bool wholeRows) {
  if (op->getNumResults() != 1 || !isCheap(op) || isRepeated(op))
    return;
  CheapPath path = {countBits(op->getResult(0)), {}, Value(), 0};
  if (!follow(op, written, path) || !haveUsersRoom(op, !path.read) ||
      (wholeRows && (!path.read || readsRowSums(path, op) ||
                     !isWorthwhileForRows(op, path.bits))))
    return;
  for (Operation *marked : path.ops)
    mark(marked);
}

/// Marks an op as recomputed if it is computed from small tensors and positions
/// alone. Random numbers are cheaper to read.
static void markWhereSpread(Operation *op, const llvm::StringSet<> &written) {
  if (op->getNumResults() != 1 || !isCheap(op) || isRepeated(op) ||
      !haveUsersRoom(op, /*readsLittle=*/true))
    return;
  if (llvm::all_of(op->getOperands(), [&](Value operand) {
        Operation *source = operand.getDefiningOp();
        return source && !isa<RandomUniformOp>(source) &&
               isSpread(operand, countBits(op->getResult(0)), written);
      }))
    mark(op);
}

namespace {
struct RepeatCheapOpsPass
    : hfta::impl::HftaRepeatCheapOpsBase<RepeatCheapOpsPass> {
  using HftaRepeatCheapOpsBase::HftaRepeatCheapOpsBase;

  void runOnOperation() override {
    getOperation()->walk([&](func::FuncOp task) {
      llvm::StringSet<> written;
      task.walk([&](WriteOp write) { written.insert(write.getVariable()); });
      task.walk([&](Operation *op) {
        if (wholeRows)
          markWhereSpread(op, written);
        markWhereWorth(op, written, wholeRows);
      });
    });
  }
};
} // namespace
