//===- Recomputed.cpp - Values that tasks compute again -------------------===//

#include "Tasks/Recomputed.h"

#include "Hfta/Support/TaskNames.h"

using namespace mlir;
using namespace mlir::hfta;

ValueNumbers::ValueNumbers(ModuleOp module, ArrayRef<StringRef> ofParts)
    : symbols(module) {
  if (int64_t copies = countCopiesApart(module))
    uses.emplace(module, copies);
  SmallVector<func::FuncOp> tasks = getTasksInOrder(module);
  llvm::erase_if(tasks, [&](func::FuncOp task) {
    StringRef part =
        task->getAttrOfType<TaskAttr>(HftaDialect::kTaskAttrName).getPart();
    return !llvm::is_contained(ofParts, part);
  });
  for (func::FuncOp task : tasks)
    for (auto write : task.getBody().front().getOps<WriteOp>())
      written.insert(write.getVariable());
  for (func::FuncOp task : tasks)
    for (Operation &op : task.getBody().front().without_terminator())
      visit(op);
}

void ValueNumbers::visitRead(ReadOp read) {
  StringRef name = read.getVariable();
  auto known = ofVariable.find(name);
  if (known != ofVariable.end() && !read.getCopy()) {
    numbers[read.getResult()] = known->second;
    return;
  }
  if (written.contains(name))
    return renew(read.getResult());
  visitPure(*read);
}

/// Returns whether a recomputed result is paired with its first computation.
/// Results of elementwise ops are, and all results in `recompute` tasks, which
/// repeat what `forward` did.
static bool isTied(Operation &op) {
  auto task = op.getParentOfType<func::FuncOp>()->getAttrOfType<TaskAttr>(
      HftaDialect::kTaskAttrName);
  return isa<ElementwiseOpInterface>(op) || task.getPart() == parts::kRecompute;
}

void ValueNumbers::visitPure(Operation &op) {
  Key key = {op.getName().getAsOpaquePointer(),
             op.getAttrDictionary().getAsOpaquePointer()};
  for (Value operand : op.getOperands())
    key.push_back(reinterpret_cast<const void *>(
        static_cast<uintptr_t>(numbers.lookup(operand))));
  for (OpResult result : op.getResults()) {
    key.push_back(result.getType().getAsOpaquePointer());
    unsigned number = find(key);
    numbers[result] = number;
    if (!isa<KernelOp>(op.getParentOp()))
      continue;
    auto tie = [&](int64_t copy) {
      Value original = first.try_emplace({number, copy}, result).first->second;
      if (original != result && isTied(op))
        again.emplace_back(result, original);
    };
    if (!uses)
      tie(-1);
    else
      for (unsigned copy : uses->getCopies(op.getParentOp()).set_bits())
        tie(copy);
  }
}

void ValueNumbers::visitKernel(KernelOp kernel) {
  Block &body = kernel.getBody().front();
  for (auto [input, argument] :
       llvm::zip(kernel.getInputs(), body.getArguments()))
    numbers[argument] = numbers.lookup(input);
  for (Operation &op : body.without_terminator())
    visitPure(op);
  for (auto [result, yielded] :
       llvm::zip(kernel.getResults(), body.getTerminator()->getOperands()))
    numbers[result] = numbers.lookup(yielded);
}

void ValueNumbers::visit(Operation &op) {
  if (auto read = dyn_cast<ReadOp>(op))
    return visitRead(read);
  if (auto kernel = dyn_cast<KernelOp>(op))
    return visitKernel(kernel);
  if (auto write = dyn_cast<WriteOp>(op)) {
    auto variable = symbols.lookup<VariableOp>(write.getVariable());
    if (isOfTasksAlone(variable) && !write.getCopy())
      ofVariable[write.getVariable()] = numbers.lookup(write.getValue());
    return;
  }
  visitPure(op);
}

SmallVector<std::pair<Value, Value>> hfta::findRecomputed(ModuleOp module) {
  ValueNumbers ofTraining(module, {parts::kForward, parts::kRecompute,
                                   parts::kBackward, parts::kBackwardWeight});
  SmallVector<std::pair<Value, Value>> again(ofTraining.getAgain());
  // In an evaluation or inference, only values that another block's task
  // recomputes count.
  for (StringRef part : {parts::kEvaluate, parts::kInfer}) {
    ValueNumbers ofPart(module, part);
    for (auto [value, original] : ofPart.getAgain())
      if (value.getDefiningOp()->getParentOfType<func::FuncOp>() !=
          original.getDefiningOp()->getParentOfType<func::FuncOp>())
        again.emplace_back(value, original);
  }
  return again;
}
