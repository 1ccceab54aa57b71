//===- ReadInPlace.cpp - Kernels read tensors in place of moved ones ------===//
//
// An element of a slice, transpose or padding can be read from the original
// tensor just as easily. So can a product of such an element with a constant.
//===----------------------------------------------------------------------===//

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Transforms/Passes.h"
#include "Kernels/Kernels.h"
#include "Tasks/LeftVariables.h"
#include "Tasks/TaskSplitter.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::hfta {
#define GEN_PASS_DEF_HFTAREADINPLACE
#include "Hfta/Transforms/Passes.h.inc"
} // namespace mlir::hfta

using namespace mlir;
using namespace mlir::hfta;

//===----------------------------------------------------------------------===//
// Origins of values
//===----------------------------------------------------------------------===//

static bool isMove(Operation *op) {
  return isa<ReshapeOp, TransposeOp, SliceOp, PadOp>(op);
}

/// Returns the only operand on which the op's elements depend, if each of them
/// is an element of it that is moved, a constant, or a cheap function of one
/// element and constants. Returns null for other ops.
static Value getOrigin(Operation *op) {
  if (isMove(op))
    return op->getOperand(0);
  if (!isCheap(op) || op->getNumResults() != 1)
    return Value();
  Value origin;
  for (Value operand : op->getOperands()) {
    if (operand.getDefiningOp<ConstantOp>())
      continue;
    if (origin && origin != operand)
      return Value();
    origin = operand;
  }
  return origin;
}

/// Returns the ops between a value and the tensor from which it can be read,
/// the last one first.
static SmallVector<Operation *> findPath(Value value) {
  SmallVector<Operation *> path;
  while (Operation *op = value.getDefiningOp()) {
    value = getOrigin(op);
    if (!value)
      break;
    path.push_back(op);
  }
  // Ops on a tensor that hasn't been moved yet belong to the kernel that
  // computes the tensor.
  while (!path.empty() && !isMove(path.back()))
    path.pop_back();
  return path;
}

//===----------------------------------------------------------------------===//
// Variables between tasks
//===----------------------------------------------------------------------===//

namespace {
/// A variable between tasks whose value consists of elements of another tensor.
struct MovedVariable : LeftVariable {
  SmallVector<Operation *> path; ///< from the tensor to the value, last first
};

/// Saves a tensor for other tasks instead of several values that are parts of
/// it.
class SavedOrigins {
public:
  explicit SavedOrigins(ModuleOp module) : module(module), symbols(module) {}
  void run();

private:
  void collect();
  VariableOp findHolder(Value tensor, MutableArrayRef<MovedVariable> moved);
  void readFrom(VariableOp holder, RankedTensorType type, MovedVariable &moved);

  ModuleOp module;
  SymbolTable symbols;
  /// The variables whose values are parts of a tensor, by tensor.
  llvm::MapVector<Value, SmallVector<MovedVariable>> movedOf;
  /// The variable between tasks that holds a tensor, by tensor.
  DenseMap<Value, VariableOp> savedAs;
};
} // namespace

void SavedOrigins::collect() {
  for (LeftVariable &left : collectLeftVariables(module)) {
    if (left.variable.getRole() != Role::saved)
      continue;
    SmallVector<Operation *> path = findPath(left.write.getValue());
    Value tensor =
        path.empty() ? left.write.getValue() : getOrigin(path.back());
    // Skip a tensor that the task has itself read from a variable (except a
    // parameter): this pass may later make that read use another variable.
    if (tensor.getDefiningOp<ReadOp>() && !isParameter(tensor, symbols))
      continue;
    if (path.empty())
      savedAs.try_emplace(tensor, left.variable);
    else
      movedOf[tensor].push_back({left, path});
  }
}

/// Returns the variable that holds a tensor. If there is none, lets the first
/// of the moved variables hold it, unless all moved values together are smaller
/// than the tensor; then returns null.
VariableOp SavedOrigins::findHolder(Value tensor,
                                    MutableArrayRef<MovedVariable> moved) {
  if (isParameter(tensor, symbols))
    return symbols.lookup<VariableOp>(
        cast<ReadOp>(tensor.getDefiningOp()).getVariable());
  if (VariableOp saved = savedAs.lookup(tensor))
    return saved;
  int64_t bits = 0;
  for (MovedVariable &one : moved)
    bits += countBits(one.write.getValue());
  if (bits < countBits(tensor))
    return VariableOp();
  VariableOp holder = moved.front().variable;
  holder.setType(cast<RankedTensorType>(tensor.getType()));
  OpBuilder builder(moved.front().write);
  WriteOp::create(builder, moved.front().write.getLoc(), tensor,
                  holder.getSymName(), IntegerAttr());
  return holder;
}

void SavedOrigins::readFrom(VariableOp holder, RankedTensorType type,
                            MovedVariable &moved) {
  for (ReadOp read : moved.reads) {
    OpBuilder builder(read);
    Value value = ReadOp::create(builder, read.getLoc(), type,
                                 holder.getSymName(), IntegerAttr());
    for (Operation *op : llvm::reverse(moved.path)) {
      IRMapping known;
      known.map(getOrigin(op), value);
      for (Value operand : op->getOperands())
        if (!known.contains(operand))
          known.map(operand,
                    builder.clone(*operand.getDefiningOp())->getResult(0));
      value = builder.clone(*op, known)->getResult(0);
    }
    read.replaceAllUsesWith(value);
    read.erase();
  }
  moved.write.erase();
  if (holder != moved.variable)
    symbols.erase(moved.variable);
}

void SavedOrigins::run() {
  collect();
  for (auto &[tensor, moved] : movedOf) {
    VariableOp holder = findHolder(tensor, moved);
    if (!holder)
      continue;
    auto type = cast<RankedTensorType>(tensor.getType());
    for (MovedVariable &one : moved)
      readFrom(holder, type, one);
  }
}

//===----------------------------------------------------------------------===//
// Operands of kernels
//===----------------------------------------------------------------------===//

/// Marks ops that only move elements, so that kernels read the original tensor,
/// unless the task writes its variable. The length of a chain of such ops is
/// limited, because each kernel that reads its result has all of its ops.
static void markMoves(func::FuncOp task) {
  constexpr unsigned kMostOps = 16;
  llvm::StringSet<> written;
  task.walk([&](WriteOp write) { written.insert(write.getVariable()); });
  DenseMap<Value, unsigned> lengths; ///< length of the chain, by end
  task.walk([&](Operation *op) {
    Value origin = getOrigin(op);
    if (!origin || isChanged(origin, written))
      return;
    unsigned length = lengths.lookup(origin);
    // A reshape at the beginning of a chain is a view of the tensor.
    bool isFirst = isMove(op) && !isa<ReshapeOp>(op);
    if (!(isFirst || length > 0) || length == kMostOps)
      return;
    lengths[op->getResult(0)] = length + 1;
    op->setAttr(HftaDialect::kRepeatedAttrName,
                UnitAttr::get(op->getContext()));
  });
}

namespace {
struct ReadInPlacePass : hfta::impl::HftaReadInPlaceBase<ReadInPlacePass> {
  using HftaReadInPlaceBase::HftaReadInPlaceBase;

  void runOnOperation() override {
    SavedOrigins(getOperation()).run();
    for (auto task : getOperation().getOps<func::FuncOp>())
      if (task->hasAttr(HftaDialect::kTaskAttrName))
        markMoves(task);
  }
};
} // namespace
