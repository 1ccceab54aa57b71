//===- ReadInPlace.cpp - Kernels read what others would move --------------===//
//
// What is only cut out of a tensor, turned or padded is as easily read where
// the tensor lies. So is what that is multiplied by a constant.
//===----------------------------------------------------------------------===//

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Transforms/Passes.h"
#include "Kernels.h"
#include "LeftVariables.h"
#include "TaskSplitter.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::hfta {
#define GEN_PASS_DEF_HFTAREADINPLACE
#include "Hfta/Transforms/Passes.h.inc"
} // namespace mlir::hfta

using namespace mlir;
using namespace mlir::hfta;

//===----------------------------------------------------------------------===//
// Where elements are
//===----------------------------------------------------------------------===//

static bool isMove(Operation *op) {
  return isa<ReshapeOp, TransposeOp, SliceOp, PadOp>(op);
}

/// The operand of which each element becomes one of the op's result, or none:
/// it is moved, or a cheap function of it and of constants. NULL for others.
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

/// The ops between a value and the tensor that it is read from, the last first.
static SmallVector<Operation *> findPath(Value value) {
  SmallVector<Operation *> path;
  while (Operation *op = value.getDefiningOp()) {
    value = getOrigin(op);
    if (!value)
      break;
    path.push_back(op);
  }
  // What is computed of a tensor as it lies in memory is that tensor's
  // kernel's.
  while (!path.empty() && !isMove(path.back()))
    path.pop_back();
  return path;
}

//===----------------------------------------------------------------------===//
// What tasks leave for others
//===----------------------------------------------------------------------===//

namespace {
/// A variable between tasks, which holds what is read from another tensor.
struct MovedVariable : LeftVariable {
  SmallVector<Operation *> path; ///< from the tensor to it, the last first
};

/// Has variables between tasks hold tensors from which others are read, instead
/// of these.
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
  /// By the tensor that they are read from.
  llvm::MapVector<Value, SmallVector<MovedVariable>> movedOf;
  /// Variables between tasks that hold it.
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
    // What a task only hands on may be read from somewhere else afterwards.
    if (tensor.getDefiningOp<ReadOp>() && !isParameter(tensor, symbols))
      continue;
    if (path.empty())
      savedAs.try_emplace(tensor, left.variable);
    else
      movedOf[tensor].push_back({left, path});
  }
}

/// The variable that holds a tensor from which others are read, or is to; none
/// where these are less than it.
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
// What kernels read
//===----------------------------------------------------------------------===//

/// Marks what a task only moves, but for what it moves in variables that it
/// writes. What comes behind ends somewhere: each kernel that reads it has all
/// of it.
static void markMoves(func::FuncOp task) {
  constexpr unsigned kMostOps = 16;
  llvm::StringSet<> written;
  task.walk([&](WriteOp write) { written.insert(write.getVariable()); });
  DenseMap<Value, unsigned> lengths; ///< of what is marked: ops in a row
  task.walk([&](Operation *op) {
    Value origin = getOrigin(op);
    if (!origin || isChanged(origin, written))
      return;
    unsigned length = lengths.lookup(origin);
    // As long as nothing else is done to a tensor, a reshape is a view of it.
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
