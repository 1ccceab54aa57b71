//===- Kernels.cpp - Helpers of passes that form kernels ------------------===//

#include "Kernels/Kernels.h"

using namespace mlir;
using namespace mlir::hfta;

bool hfta::isRepeated(Operation *op) {
  return op->hasTrait<RepeatedTrait>() ||
         op->hasAttr(HftaDialect::kRepeatedAttrName);
}

bool hfta::isStructural(Operation *op) {
  return isa<ReadOp, WriteOp, KernelOp, StackOp, UnstackOp>(op) ||
         (isa<ReshapeOp>(op) && !isRepeated(op)) ||
         op->hasTrait<OpTrait::IsTerminator>();
}

bool hfta::isStored(Operation *op) {
  return llvm::any_of(op->getUsers(), [](Operation *user) {
    return isStructural(user) || user->hasTrait<AloneTrait>();
  });
}

bool hfta::isScatteredSum(Operation *op) {
  return isa<ScatterAddOp, SegmentSumOp>(op);
}

Value hfta::reshapeInKernels(OpBuilder &builder, Location loc, Value value,
                             ArrayRef<int64_t> shape) {
  if (cast<RankedTensorType>(value.getType()).getShape() == shape)
    return value;
  auto made = ReshapeOp::create(builder, loc, value, shape);
  Operation *source = value.getDefiningOp();
  if (source && isRepeated(source))
    made->setAttr(HftaDialect::kRepeatedAttrName, builder.getUnitAttr());
  return made;
}

int64_t hfta::countBits(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  return type.getNumElements() * type.getElementTypeBitWidth();
}

bool hfta::isChanged(Value value, const llvm::StringSet<> &written) {
  while (isa_and_present<ReshapeOp, UnstackOp>(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  auto read = value.getDefiningOp<ReadOp>();
  return read && written.contains(read.getVariable());
}

void hfta::visitUsers(Operation *op,
                      llvm::function_ref<void(Operation *)> visit) {
  // Visits each recomputed op once, however many paths lead to it.
  llvm::SmallSetVector<Operation *, 8> made;
  made.insert(op);
  for (size_t i = 0; i < made.size(); ++i)
    for (Operation *user : made[i]->getUsers())
      if (isRepeated(user) && !isStored(user))
        made.insert(user);
      else
        visit(user);
}

bool hfta::isUsedOutside(Value value,
                         const llvm::SetVector<Operation *> &members) {
  llvm::SmallSetVector<Value, 8> values;
  values.insert(value);
  for (size_t i = 0; i < values.size(); ++i)
    for (Operation *user : values[i].getUsers()) {
      if (isRepeated(user))
        values.insert(user->getResult(0));
      else if (!members.contains(user))
        return true;
    }
  return false;
}
