//===- RemakeSaved.cpp - What a backward computes rather than reads -------===//
//
// What a forward leaves for a backward is written and read again. Of several
// tensors one is often enough: the others are made of it by elementwise ops,
// which a GPU does in less time than it takes to read them.
//===----------------------------------------------------------------------===//

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Transforms/Passes.h"
#include "Kernels.h"
#include "LeftVariables.h"
#include "TaskSplitter.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace mlir::hfta {
#define GEN_PASS_DEF_HFTAREMAKESAVED
#include "Hfta/Transforms/Passes.h.inc"
} // namespace mlir::hfta

using namespace mlir;
using namespace mlir::hfta;

/// Ops for one value, beyond which it is rather read; and costly ones.
static constexpr size_t kMostOps = 24;
static constexpr size_t kMostCostly = 2;

namespace {
class SavedRemaker {
public:
  explicit SavedRemaker(ModuleOp module) : module(module), symbols(module) {}
  void run();

private:
  /// What a value is made of.
  struct Making {
    llvm::SmallPtrSet<Operation *, 16> ops;
    llvm::SmallPtrSet<const void *, 4> large; ///< values that are read for it
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
  /// A task that makes some, at its beginning.
  struct Maker {
    IRMapping known; ///< what it has of another task's values
    Operation *last = nullptr;
  };
  DenseMap<Operation *, Maker> makers;
  DenseMap<Operation *, unsigned> position;
};
} // namespace

void SavedRemaker::collect() {
  module.walk(
      [&](Operation *op) { position.try_emplace(op, position.size()); });
  // What a task only hands on may be made elsewhere afterwards.
  for (LeftVariable &left : collectLeftVariables(module))
    if (!left.write.getValue().getDefiningOp<ReadOp>())
      saved.insert({left.write.getValue(), left});
}

/// Whether other tasks find a value where it lies: nothing between a forward
/// and its backward changes parameters.
bool SavedRemaker::isLeaf(Value value) const {
  return saved.contains(value) || isParameter(value, symbols);
}

/// Whether an op computes a result's elements one by one from what it reads.
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
    // Processors have few units for double precision.
    if (getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth() > 32)
      return false;
    ++making.costly;
  }
  making.ops.insert(op);
  return making.costly <= kMostCostly &&
         llvm::all_of(op->getOperands(),
                      [&](Value operand) { return canMake(operand, making); });
}

/// What a product multiplies, or is stored as it is, has to lie in memory.
bool SavedRemaker::isWorth(const LeftVariable &one) {
  for (ReadOp read : one.reads)
    for (Operation *user : read->getUsers())
      if (!isa<ElementwiseOpInterface, ReduceOp>(user))
        return false;
  Making making;
  making.bits = countBits(one.write->getOperand(0));
  return canMake(one.write->getOperand(0), making);
}

/// A task's read of what was left for it, moved to where it is needed first:
/// who reads it once more would read it from memory once more.
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

/// The value as a task has it.
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

/// What a value is made of that is as large as itself, if there is one such.
Value SavedRemaker::findSource(Value value) {
  Making making;
  making.bits = countBits(value);
  if (!canMake(value, making) || making.large.size() != 1)
    return Value();
  return Value::getFromOpaquePointer(*making.large.begin());
}

/// Ops that take elements of the values to elements of the same place, as far
/// as some go.
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

/// Whether what is made of an op's result is added up together with what is
/// made of a source: whoever does that reads both.
static bool isSummedWith(Operation *op,
                         const llvm::SmallPtrSetImpl<Operation *> &ofSource) {
  llvm::SmallPtrSet<Operation *, 16> own = findElements(op->getResult(0));
  return llvm::any_of(own, [&](Operation *made) {
    return ofSource.contains(made) &&
           llvm::any_of(made->getUsers(), llvm::IsaPred<ReduceOp>);
  });
}

/// What has to lie in memory, because a product multiplies it, other ops need
/// not read: the sign of an activation, which its gradient asks for, is that of
/// what the norm before it has made of its input, and the norm's gradients are
/// made of both.
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

/// Those first that are computed first: what is made of them is then made of
/// what these are made of.
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
