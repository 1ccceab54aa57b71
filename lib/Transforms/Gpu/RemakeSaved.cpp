//===- RemakeSaved.cpp - Recompute saved values instead of reading --------===//
//
// A value that a forward saves for a backward is written and read again. Of
// several tensors, it is often enough to save one: the others can be computed
// from it by elementwise ops, which takes a GPU less time than reading them.
//===----------------------------------------------------------------------===//

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Transforms/Passes.h"
#include "Kernels/Kernels.h"
#include "Tasks/LeftVariables.h"
#include "Tasks/TaskSplitter.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace mlir::hfta {
#define GEN_PASS_DEF_HFTAREMAKESAVED
#include "Hfta/Transforms/Passes.h.inc"
} // namespace mlir::hfta

using namespace mlir;
using namespace mlir::hfta;

/// The most ops that recompute one value, and the most costly ops among them. A
/// value that needs more is read.
static constexpr size_t kMostOps = 24;
static constexpr size_t kMostCostly = 2;

namespace {
class SavedRemaker {
public:
  explicit SavedRemaker(ModuleOp module) : module(module), symbols(module) {}
  void run();

private:
  /// The ops and values from which a value is computed.
  struct Making {
    llvm::SmallPtrSet<Operation *, 16> ops;
    llvm::SmallPtrSet<const void *, 4> large; ///< saved values of similar size
    size_t costly = 0;
    int64_t bits;
  };

  void collect();
  bool isLeaf(Value value) const;
  bool canMake(Value value, Making &making);
  bool isWorth(const LeftVariable &saved);
  Value make(Value value, func::FuncOp task);
  void remake(Value value);
  Value findSource(Value value);
  void remakeWhereSourceIsRead(Value value);

  ModuleOp module;
  SymbolTable symbols;
  llvm::MapVector<Value, LeftVariable> saved;
  /// The state of a task that recomputes values at its beginning.
  struct Maker {
    IRMapping known; ///< maps another task's values to this task's
    Operation *last = nullptr;
  };
  DenseMap<Operation *, Maker> makers;
  DenseMap<Operation *, unsigned> position;
};
} // namespace

void SavedRemaker::collect() {
  module.walk(
      [&](Operation *op) { position.try_emplace(op, position.size()); });
  // A value that a task only reads and saves again is left out, because this
  // pass may recompute it where it is read.
  for (LeftVariable &left : collectLeftVariables(module))
    if (!left.write.getValue().getDefiningOp<ReadOp>())
      saved.insert({left.write.getValue(), left});
}

/// Returns whether other tasks can read a value from memory, where it is saved
/// or a parameter. Nothing changes parameters between a forward and its
/// backward.
bool SavedRemaker::isLeaf(Value value) const {
  return saved.contains(value) || isParameter(value, symbols);
}

/// Returns whether each element of an op's result is computed from single
/// elements of its operands.
static bool isOfElements(Operation *op) {
  return isa<ElementwiseOpInterface, ReshapeOp, TransposeOp, SliceOp, PadOp,
             BroadcastOp>(op) &&
         op->getNumResults() == 1;
}

bool SavedRemaker::canMake(Value value, Making &making) {
  constexpr int64_t kMuchSmaller = 8;
  Operation *op = value.getDefiningOp();
  if (!op || making.ops.contains(op) || isa<ConstantOp>(op))
    return op;
  if (isLeaf(value) && !making.ops.empty()) {
    if (countBits(value) * kMuchSmaller > making.bits)
      making.large.insert(value.getAsOpaquePointer());
    return making.large.size() <= 1;
  }
  if (!isOfElements(op) || making.ops.size() == kMostOps)
    return false;
  if (isa<ElementwiseOpInterface>(op) && !isCheap(op)) {
    // GPUs have few units for double precision.
    if (getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth() > 32)
      return false;
    ++making.costly;
  }
  making.ops.insert(op);
  return making.costly <= kMostCostly &&
         llvm::all_of(op->getOperands(),
                      [&](Value operand) { return canMake(operand, making); });
}

/// Returns whether to recompute a saved value. A value that a product uses, or
/// that is stored unchanged, has to be in memory, so it is read.
bool SavedRemaker::isWorth(const LeftVariable &one) {
  for (ReadOp read : one.reads)
    for (Operation *user : read->getUsers())
      if (!isa<ElementwiseOpInterface, ReduceOp>(user))
        return false;
  Making making;
  making.bits = countBits(one.write->getOperand(0));
  return canMake(one.write->getOperand(0), making);
}

/// Returns a task's read of a saved value, which is moved to the insertion
/// point. A second read would access memory again.
static ReadOp readFirst(LeftVariable &left, func::FuncOp task,
                        OpBuilder &builder) {
  for (ReadOp read : left.reads)
    if (read->getParentOfType<func::FuncOp>() == task) {
      read->moveBefore(builder.getInsertionBlock(),
                       builder.getInsertionPoint());
      return read;
    }
  VariableOp variable = left.variable;
  left.reads.push_back(ReadOp::create(builder, left.write->getLoc(),
                                      variable.getType(), variable.getSymName(),
                                      IntegerAttr()));
  return left.reads.back();
}

/// Returns the value in another task, and recomputes it there if necessary.
Value SavedRemaker::make(Value value, func::FuncOp task) {
  if (Value mine = makers[task].known.lookupOrNull(value))
    return mine;
  auto left = saved.find(value);
  Operation *op = value.getDefiningOp();
  if (left == saved.end())
    for (Value operand : op->getOperands())
      make(operand, task);
  Maker &maker = makers[task];
  auto builder = OpBuilder::atBlockBegin(&task.getBody().front());
  if (maker.last)
    builder.setInsertionPointAfter(maker.last);
  if (left == saved.end()) {
    maker.last = builder.clone(*op, maker.known);
  } else {
    maker.last = readFirst(left->second, task, builder);
    maker.known.map(value, maker.last->getResult(0));
  }
  return maker.last->getResult(0);
}

void SavedRemaker::remake(Value value) {
  LeftVariable one = saved.lookup(value);
  saved.erase(value);
  for (ReadOp read : one.reads) {
    read.replaceAllUsesWith(make(value, read->getParentOfType<func::FuncOp>()));
    read.erase();
  }
  one.write.erase();
  symbols.erase(one.variable);
}

/// Returns the saved value from which a value is computed, if there is exactly
/// one that isn't much smaller; otherwise null.
Value SavedRemaker::findSource(Value value) {
  Making making;
  making.bits = countBits(value);
  if (!canMake(value, making) || making.large.size() != 1)
    return Value();
  return Value::getFromOpaquePointer(*making.large.begin());
}

/// Finds ops that compute elements from the values' elements at the same index.
/// Stops at a limit.
static llvm::SmallPtrSet<Operation *, 16> findElements(ArrayRef<Value> values) {
  constexpr size_t kMost = 32;
  llvm::SmallPtrSet<Operation *, 16> found;
  SmallVector<Value> left(values);
  while (!left.empty() && found.size() < kMost) {
    Value value = left.pop_back_val();
    for (Operation *user : value.getUsers())
      if (isElementwise(user) &&
          getResultShape(user) ==
              cast<RankedTensorType>(value.getType()).getShape() &&
          found.insert(user).second)
        left.push_back(user->getResult(0));
  }
  return found;
}

/// Returns whether a reduction adds up values that are computed from both an
/// op's result and a source, so that it reads both.
static bool isSummedWith(Operation *op,
                         const llvm::SmallPtrSetImpl<Operation *> &ofSource) {
  llvm::SmallPtrSet<Operation *, 16> own = findElements(op->getResult(0));
  return llvm::any_of(own, [&](Operation *made) {
    return ofSource.contains(made) &&
           llvm::any_of(made->getUsers(), llvm::IsaPred<ReduceOp>);
  });
}

/// Recomputes a value that has to be in memory, because a product uses it, for
/// ops that read its source as well. For example, an activation's gradient
/// needs the sign of the activation. This can be computed from the
/// normalization's input, which the normalization's gradients read anyway.
void SavedRemaker::remakeWhereSourceIsRead(Value value) {
  Value source = findSource(value);
  if (!source || !saved.contains(source))
    return;
  const LeftVariable one = saved.lookup(value);
  const SmallVector<ReadOp> sourceReads = saved.lookup(source).reads;
  for (ReadOp read : one.reads) {
    auto task = read->getParentOfType<func::FuncOp>();
    SmallVector<Value> sources;
    for (ReadOp other : sourceReads)
      if (other->getParentOfType<func::FuncOp>() == task)
        sources.push_back(other);
    llvm::SmallPtrSet<Operation *, 16> ofSource = findElements(sources);
    SmallVector<OpOperand *> uses;
    for (OpOperand &use : read->getUses())
      if (isElementwise(use.getOwner()) && !ofSource.contains(use.getOwner()) &&
          isSummedWith(use.getOwner(), ofSource))
        uses.push_back(&use);
    if (uses.empty())
      continue;
    saved.erase(value);
    Value made = make(value, task);
    makers[task].known.erase(value);
    saved.insert({value, one});
    for (OpOperand *use : uses)
      use->set(made);
  }
}

/// Recomputes values in the order of their computation, so that values that are
/// computed from recomputed ones depend on the same sources.
void SavedRemaker::run() {
  collect();
  SmallVector<Value> all;
  for (auto &[value, one] : saved)
    if (one.variable.getRole() == Role::saved)
      all.push_back(value);
  auto getPosition = [&](Value value) {
    auto result = cast<OpResult>(value);
    return std::pair(position.lookup(result.getOwner()),
                     result.getResultNumber());
  };
  llvm::sort(all,
             [&](Value a, Value b) { return getPosition(a) < getPosition(b); });
  for (Value value : all)
    if (isWorth(saved.find(value)->second))
      remake(value);
    else
      remakeWhereSourceIsRead(value);
}

namespace {
struct RemakeSavedPass : hfta::impl::HftaRemakeSavedBase<RemakeSavedPass> {
  using HftaRemakeSavedBase::HftaRemakeSavedBase;

  void runOnOperation() override { SavedRemaker(getOperation()).run(); }
};
} // namespace
