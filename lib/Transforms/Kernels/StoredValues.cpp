//===- StoredValues.cpp - Values that tasks write, in kernels -------------===//

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Dialect/Hfta/IR/VariableNames.h"
#include "Kernels/Kernels.h"
#include "Tasks/CopyUses.h"

using namespace mlir;
using namespace mlir::hfta;

/// The bytes up to which constants are cloned; larger ones are read from
/// memory.
static constexpr int64_t kLargestInlineConstant = 256;

void hfta::storeLargeConstants(func::FuncOp task, SymbolTable &symbols,
                               DenseMap<Attribute, VariableOp> &stored) {
  for (auto constant : llvm::make_early_inc_range(task.getOps<ConstantOp>())) {
    auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
    if (getLogicalBytes(constant.getType()) <= kLargestInlineConstant ||
        (dense && dense.isSplat()))
      continue;
    OpBuilder builder(constant);
    VariableOp &variable = stored[constant.getValue()];
    if (!variable) {
      OpBuilder outer(task.getContext());
      variable = VariableOp::create(
          outer, constant.getLoc(),
          names::getCompilerSymbol("constant/value" + Twine(stored.size() - 1)),
          cast<RankedTensorType>(constant.getType()), Role::constant,
          constant.getValue());
      symbols.insert(variable,
                     cast<ModuleOp>(symbols.getOp()).getBody()->begin());
    }
    Value read = ReadOp::create(builder, constant.getLoc(), constant.getType(),
                                variable.getSymName(), IntegerAttr());
    constant.replaceAllUsesWith(read);
    constant.erase();
  }
}

bool hfta::sinkWrites(func::FuncOp task) {
  SmallVector<WriteOp> writes;
  DenseMap<StringRef, SmallVector<WriteOp>> before;
  for (Operation &op : task.getBody().front()) {
    if (auto read = dyn_cast<ReadOp>(op);
        read &&
        llvm::any_of(before.lookup(read.getVariable()), [&](WriteOp write) {
          return mayAccessSameCopy(read, write);
        }))
      return false;
    auto write = dyn_cast<WriteOp>(op);
    if (!write)
      continue;
    SmallVector<WriteOp> &others = before[write.getVariable()];
    bool isSecond = llvm::any_of(
        others, [&](WriteOp other) { return mayAccessSameCopy(write, other); });
    if (isSecond)
      return false;
    others.push_back(write);
    writes.push_back(write);
  }
  Operation *end = task.getBody().front().getTerminator();
  for (WriteOp write : writes)
    write->moveBefore(end);
  return true;
}

WriteSet hfta::findFixedWrites(func::FuncOp task) {
  DenseMap<StringRef, SmallVector<ReadOp>> reads;
  DenseMap<StringRef, SmallVector<WriteOp>> writes;
  for (auto read : task.getOps<ReadOp>())
    reads[read.getVariable()].push_back(read);
  for (auto write : task.getOps<WriteOp>())
    writes[write.getVariable()].push_back(write);
  WriteSet fixed;
  for (auto write : task.getOps<WriteOp>()) {
    bool isRead = llvm::any_of(reads[write.getVariable()], [&](ReadOp read) {
      return mayAccessSameCopy(read, write);
    });
    bool isWrittenAgain =
        llvm::any_of(writes[write.getVariable()], [&](WriteOp other) {
          return other != write && mayAccessSameCopy(write, other);
        });
    if (isRead || isWrittenAgain)
      fixed.insert(write);
  }
  return fixed;
}

/// Returns the variable in which a constant is stored; null if the constant has
/// other uses.
static VariableOp getStore(Operation *op, const SymbolTable &symbols) {
  auto write = isa<ConstantOp>(op) && op->hasOneUse()
                   ? dyn_cast<WriteOp>(*op->user_begin())
                   : WriteOp();
  return write && !write.getCopy()
             ? symbols.lookup<VariableOp>(write.getVariable())
             : VariableOp();
}

bool hfta::areStoredAlike(Operation *one, Operation *other,
                          const SymbolTable &symbols) {
  VariableOp first = getStore(one, symbols), second = getStore(other, symbols);
  return first && second &&
         isArrayed(first.getType()) == isArrayed(second.getType()) &&
         first.getCopy() == second.getCopy();
}

/// Builds a kernel that copies a value, and returns the copy.
static Value buildCopy(OpBuilder &builder, Value value) {
  auto kernel =
      KernelOp::create(builder, value.getLoc(), value.getType(), "copy", value,
                       ArrayAttr(), DenseI64ArrayAttr());
  Block &body = kernel.getBody().emplaceBlock();
  Value argument =
      body.addArgument(getLogicalType(value.getType()), value.getLoc());
  OpBuilder inner = OpBuilder::atBlockEnd(&body);
  YieldOp::create(inner, value.getLoc(), argument);
  return kernel.getResult(0);
}

void hfta::insertCopies(func::FuncOp task) {
  for (Operation &op : llvm::make_early_inc_range(task.getBody().front())) {
    if (!isa<WriteOp, StackOp>(op))
      continue;
    for (OpOperand &use : op.getOpOperands()) {
      auto result = dyn_cast<OpResult>(use.get());
      bool fresh =
          result && isa<KernelOp>(result.getOwner()) &&
          llvm::none_of(result.getUses(), [&](OpOperand &other) {
            return &other != &use && isa<WriteOp, StackOp>(other.getOwner());
          });
      if (isa<StackOp>(op))
        fresh &= result.hasOneUse();
      if (fresh)
        continue;
      OpBuilder builder(&op);
      use.set(buildCopy(builder, use.get()));
    }
  }
}

void hfta::sinkStoredValues(func::FuncOp task, bool areWritesLast) {
  Operation *end = task.getBody().front().getTerminator();
  while (areWritesLast && isa_and_present<WriteOp>(end->getPrevNode()))
    end = end->getPrevNode();
  for (Operation &op : llvm::make_early_inc_range(task.getBody().front())) {
    if (!isa<WriteOp, StackOp>(op) && !op.hasTrait<AloneTrait>())
      continue;
    for (OpOperand &use : op.getOpOperands()) {
      Operation *def = use.get().getDefiningOp();
      if (!def || !isRepeated(def))
        continue;
      OpBuilder builder(op.isBeforeInBlock(end) ? &op : end);
      use.set(builder.clone(*def)->getResult(0));
    }
  }
}
