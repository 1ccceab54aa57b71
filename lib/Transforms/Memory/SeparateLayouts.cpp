//===- SeparateLayouts.cpp - Separates copies by layouts ------------------===//

#include "Memory/SeparateLayouts.h"

#include "Kernels/Kernels.h"
#include "Memory/LayoutClasses.h"
#include "Tasks/CopyUses.h"
#include "Tasks/Recomputed.h"
#include "mlir/IR/IRMapping.h"

#include <map>

using namespace mlir;
using namespace mlir::hfta;
using llvm::SmallBitVector;

namespace {

class LayoutSeparator {
public:
  LayoutSeparator(ModuleOp module, int64_t copies);
  void separate();

private:
  /// One value per copy, which is null for copies that don't use the value.
  using Parts = SmallVector<Value>;

  bool differs(const SmallBitVector &copies,
               llvm::function_ref<bool(const LayoutClasses &)> isSo) const;
  bool differs(const SmallBitVector &copies, Value value) const;
  bool differs(Operation *op) const;
  Parts &getParts(Value value);
  /// Returns a copy's part of a value. If necessary, builds an op for it after
  /// the value.
  Value getPart(Value value, int64_t copy);
  Value getAnyPart(Value value, int64_t copy);
  Value stack(OpBuilder &builder, Value value);
  void splitVariable(VariableOp variable);
  void splitOp(Operation *op, const SmallBitVector &served);
  void visit(Operation *op);
  void visitRead(ReadOp read);
  void visitStack(StackOp stack);
  void visitWrite(WriteOp write);
  void visitPure(Operation *op);

  ModuleOp module;
  int64_t copies;
  SymbolTable symbols;
  CopyUses uses;
  std::vector<LayoutClasses> views;
  DenseMap<Value, Parts> apart;
  std::map<std::pair<const void *, int64_t>, Value> unstacked;
  llvm::StringMap<SmallVector<VariableOp>> split;
};

} // namespace

LayoutSeparator::LayoutSeparator(ModuleOp module, int64_t copies)
    : module(module), copies(copies), symbols(module), uses(module, copies) {
  SmallVector<std::pair<Value, Value>> recomputed = findRecomputed(module);
  for (int64_t copy = 0; copy < copies; ++copy)
    views.emplace_back(module, recomputed, LayoutView{&uses, copy});
}

//===----------------------------------------------------------------------===//
// Differences between copies
//===----------------------------------------------------------------------===//

bool LayoutSeparator::differs(
    const SmallBitVector &copies,
    llvm::function_ref<bool(const LayoutClasses &)> isSo) const {
  int first = copies.find_first();
  return llvm::any_of(copies.set_bits(), [&](unsigned copy) {
    return isSo(views[copy]) != isSo(views[first]);
  });
}

bool LayoutSeparator::differs(const SmallBitVector &copies, Value value) const {
  return differs(copies,
                 [&](const LayoutClasses &classes) {
                   return classes.isChannelsLast(value);
                 }) ||
         (isa<OpResult>(value) &&
          !isa<KernelOp>(value.getDefiningOp()->getParentOp()) &&
          differs(copies, [&](const LayoutClasses &classes) {
            return classes.isChannelsLast(value) && classes.isCarried(value);
          }));
}

/// Returns whether any tensor that the op reads, computes or returns would have
/// different layouts if the copies were compiled alone.
bool LayoutSeparator::differs(Operation *op) const {
  const SmallBitVector &served = uses.getCopies(op);
  if (served.count() < 2)
    return false;
  auto isSo = [&](Value value) { return differs(served, value); };
  if (llvm::any_of(op->getResults(), isSo))
    return true;
  auto kernel = dyn_cast<KernelOp>(op);
  if (!kernel)
    return false;
  Block &body = kernel.getBody().front();
  return llvm::any_of(kernel.getInputs(), isSo) ||
         llvm::any_of(body.getArguments(), isSo) ||
         llvm::any_of(body.without_terminator(), [&](Operation &inner) {
           return llvm::any_of(inner.getResults(), isSo);
         });
}

//===----------------------------------------------------------------------===//
// Parts of values
//===----------------------------------------------------------------------===//

LayoutSeparator::Parts &LayoutSeparator::getParts(Value value) {
  return apart.try_emplace(value, Parts(copies)).first->second;
}

Value LayoutSeparator::getPart(Value value, int64_t copy) {
  auto known = apart.find(value);
  if (known != apart.end())
    return known->second[copy];
  if (!isArrayed(value.getType()))
    return value;
  Operation *op = value.getDefiningOp();
  if (auto stack = dyn_cast<StackOp>(op))
    return stack.getInputs()[copy];
  Value &part = unstacked[{value.getAsOpaquePointer(), copy}];
  if (part)
    return part;
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  IntegerAttr number = builder.getI64IntegerAttr(copy);
  Type type = getLogicalType(value.getType());
  if (auto read = dyn_cast<ReadOp>(op))
    part =
        ReadOp::create(builder, op->getLoc(), type, read.getVariable(), number);
  else
    part = UnstackOp::create(builder, op->getLoc(), type, value, number);
  return part;
}

/// Returns a copy's part of a value. A copy that doesn't use the value gets
/// another copy's part.
Value LayoutSeparator::getAnyPart(Value value, int64_t copy) {
  if (Value part = getPart(value, copy))
    return part;
  return *llvm::find_if(apart[value], [](Value part) { return part; });
}

Value LayoutSeparator::stack(OpBuilder &builder, Value value) {
  SmallVector<Value> parts;
  for (int64_t copy = 0; copy < copies; ++copy)
    parts.push_back(getAnyPart(value, copy));
  return StackOp::create(
      builder, value.getLoc(),
      withCopies(cast<RankedTensorType>(parts.front().getType()), copies),
      parts);
}

//===----------------------------------------------------------------------===//
// Ops and variables for single copies
//===----------------------------------------------------------------------===//

void LayoutSeparator::splitVariable(VariableOp variable) {
  SmallVector<VariableOp> &parts = split[variable.getSymName()];
  OpBuilder builder(variable);
  for (int64_t copy = 0; copy < copies; ++copy) {
    auto part = cast<VariableOp>(builder.clone(*variable));
    part.makeOfCopy(copy);
    part.setType(getLogicalType(variable.getType()));
    parts.push_back(part);
  }
}

void LayoutSeparator::splitOp(Operation *op, const SmallBitVector &served) {
  OpBuilder builder(op);
  for (unsigned copy : served.set_bits()) {
    IRMapping mapping;
    for (Value operand : op->getOperands())
      mapping.map(operand, getAnyPart(operand, copy));
    Operation *part = builder.clone(*op, mapping);
    for (auto [old, result] : llvm::zip(op->getResults(), part->getResults())) {
      result.setType(getLogicalType(old.getType()));
      getParts(old)[copy] = result;
    }
  }
}

void LayoutSeparator::visitRead(ReadOp read) {
  auto known = split.find(read.getVariable());
  bool isSplit = known != split.end();
  OpBuilder builder(read);
  auto makePart = [&](int64_t copy) -> Value {
    if (isSplit) {
      VariableOp part = known->second[copy];
      return ReadOp::create(builder, read.getLoc(), part.getType(),
                            part.getSymName(), IntegerAttr());
    }
    if (isArrayed(read.getType()))
      return getPart(read.getResult(), copy);
    return builder.clone(*read)->getResult(0);
  };
  if (isSplit && read.getCopy())
    return read.getResult().replaceAllUsesWith(makePart(*read.getCopy()));
  if (!isSplit && !differs(read))
    return;
  Parts parts(copies);
  for (unsigned copy : uses.getCopies(read).set_bits())
    parts[copy] = makePart(copy);
  apart[read.getResult()] = parts;
}

void LayoutSeparator::visitStack(StackOp stack) {
  for (OpOperand &operand : stack->getOpOperands())
    operand.set(getAnyPart(operand.get(), operand.getOperandNumber()));
  if (differs(stack))
    getParts(stack.getResult()) = Parts(stack.getInputs());
}

void LayoutSeparator::visitWrite(WriteOp write) {
  auto variable = symbols.lookup<VariableOp>(write.getVariable());
  Value value = write.getValue();
  bool isApart = apart.contains(value);
  // Parts for each copy can't be stored in one shared variable.
  if (isApart && isOfTasksAlone(variable) && !isArrayed(variable.getType()) &&
      uses.getReaders(variable).count() > 1 &&
      !split.contains(write.getVariable()))
    splitVariable(variable);
  auto known = split.find(write.getVariable());
  if (known == split.end() && !isApart)
    return;
  const SmallBitVector &served = uses.getCopies(write);
  if (known == split.end() &&
      (write.getCopy() || !isArrayed(variable.getType()))) {
    write.getValueMutable().assign(
        getAnyPart(value, write.getCopy().value_or(served.find_first())));
    return;
  }
  OpBuilder builder(write);
  for (unsigned copy : served.set_bits()) {
    if (known != split.end())
      WriteOp::create(builder, write.getLoc(), getAnyPart(value, copy),
                      known->second[copy].getSymName(), IntegerAttr());
    else
      WriteOp::create(builder, write.getLoc(), getAnyPart(value, copy),
                      write.getVariable(), builder.getI64IntegerAttr(copy));
  }
  write.erase();
}

/// Handles kernels and reshapes.
void LayoutSeparator::visitPure(Operation *op) {
  const SmallBitVector &served = uses.getCopies(op);
  bool readsParts = llvm::any_of(op->getOperands(), [&](Value operand) {
    return apart.contains(operand);
  });
  if (served.none() || (!readsParts && !differs(op)))
    return;
  bool isOfArray = llvm::any_of(op->getResultTypes(),
                                [](Type type) { return isArrayed(type); });
  bool isOwn = !isOfArray && served.count() == 1;
  if (!isOwn && (differs(op) || !isOfArray || !isa<KernelOp>(op)))
    return splitOp(op, served);
  OpBuilder builder(op);
  for (OpOperand &operand : op->getOpOperands())
    if (apart.contains(operand.get()))
      operand.set(isOwn ? getAnyPart(operand.get(), served.find_first())
                        : stack(builder, operand.get()));
}

void LayoutSeparator::visit(Operation *op) {
  if (auto read = dyn_cast<ReadOp>(op))
    return visitRead(read);
  if (auto stack = dyn_cast<StackOp>(op))
    return visitStack(stack);
  if (auto write = dyn_cast<WriteOp>(op))
    return visitWrite(write);
  if (auto unstack = dyn_cast<UnstackOp>(op)) {
    if (apart.contains(unstack.getInput()))
      unstack.getResult().replaceAllUsesWith(
          getAnyPart(unstack.getInput(), unstack.getCopy()));
    return;
  }
  visitPure(op);
}

void LayoutSeparator::separate() {
  for (auto variable : llvm::to_vector(module.getOps<VariableOp>()))
    if (isOfTasksAlone(variable) &&
        differs(uses.getReaders(variable), [&](const LayoutClasses &classes) {
          return classes.isChannelsLast(variable);
        }))
      splitVariable(variable);
  SmallVector<func::FuncOp> tasks = getTasksInOrder(module);
  for (func::FuncOp task : tasks)
    for (Operation &op : llvm::make_early_inc_range(
             task.getBody().front().without_terminator()))
      visit(&op);
  if (apart.empty() && split.empty())
    return;
  for (func::FuncOp task : tasks) {
    for (Operation &op :
         llvm::make_early_inc_range(llvm::reverse(task.getBody().front())))
      if (op.use_empty() && !isa<WriteOp, func::ReturnOp>(op))
        op.erase();
    insertCopies(task);
  }
  for (const auto &entry : split)
    symbols.erase(symbols.lookup(entry.getKey()));
}

void hfta::separateLayouts(ModuleOp module) {
  int64_t copies = countCopiesApart(module);
  if (copies > 1)
    LayoutSeparator(module, copies).separate();
}
