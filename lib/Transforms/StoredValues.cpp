//===- StoredValues.cpp - What tasks write, as kernels are formed ---------===//

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Kernels.h"

using namespace mlir;
using namespace mlir::hfta;

bool hfta::sinkWrites(func::FuncOp task) {
  Operation *end = task.getBody().front().getTerminator();
  DenseMap<StringRef, Operation *> lastReads;
  for (auto read : task.getOps<ReadOp>())
    lastReads[read.getVariable()] = read;
  bool areAll = true;
  for (auto write : llvm::to_vector(task.getOps<WriteOp>())) {
    Operation *read = lastReads.lookup(write.getVariable());
    if (read && write->isBeforeInBlock(read))
      areAll = false;
    else
      write->moveBefore(end);
  }
  return areAll;
}

bool hfta::areStoredAlike(Operation *one, Operation *other,
                          const SymbolTable &symbols) {
  std::array<bool, 2> areArrayed;
  for (auto [op, isOfCopies] :
       llvm::zip(std::array<Operation *, 2>{one, other}, areArrayed)) {
    auto write = isa<ConstantOp>(op) && op->hasOneUse()
                     ? dyn_cast<WriteOp>(*op->user_begin())
                     : WriteOp();
    auto variable =
        write ? symbols.lookup<VariableOp>(write.getVariable()) : VariableOp();
    if (!variable || write.getCopy())
      return false;
    isOfCopies = isArrayed(variable.getType());
  }
  return areArrayed[0] == areArrayed[1];
}

/// A kernel that copies a value.
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
