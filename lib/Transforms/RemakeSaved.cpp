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
  void remake(LeftVariable &saved);

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
    VariableOp variable = left->second.variable;
    maker.last = ReadOp::create(builder, value.getLoc(), variable.getType(),
                                variable.getSymName(), IntegerAttr());
    maker.known.map(value, maker.last->getResult(0));
  }
  return maker.last->getResult(0);
}

void SavedRemaker::remake(LeftVariable &one) {
  Value value = one.write.getValue();
  saved.erase(value);
  for (ReadOp read : one.reads) {
    read.replaceAllUsesWith(make(value, read->getParentOfType<func::FuncOp>()));
    read.erase();
  }
  one.write.erase();
  symbols.erase(one.variable);
}

/// Those first that are computed first: what is made of them is then made of
/// what these are made of.
void SavedRemaker::run() {
  collect();
  SmallVector<LeftVariable> all;
  for (auto &[value, one] : saved)
    if (one.variable.getRole() == Role::saved)
      all.push_back(one);
  auto getPosition = [&](const LeftVariable &one) {
    auto result = cast<OpResult>(one.write->getOperand(0));
    return std::pair(position.lookup(result.getOwner()),
                     result.getResultNumber());
  };
  llvm::sort(all, [&](const LeftVariable &a, const LeftVariable &b) {
    return getPosition(a) < getPosition(b);
  });
  for (LeftVariable &one : all)
    if (isWorth(one))
      remake(one);
}

namespace {
struct RemakeSavedPass : hfta::impl::HftaRemakeSavedBase<RemakeSavedPass> {
  using HftaRemakeSavedBase::HftaRemakeSavedBase;

  void runOnOperation() override { SavedRemaker(getOperation()).run(); }
};
} // namespace
