//===- LayoutClasses.cpp - Tensors that share a layout --------------------===//

#include "Memory/LayoutClasses.h"
#include "Hfta/Dialect/Hfta/IR/TensorTypes.h"
#include "Hfta/Target/ReferenceModel.h"

#include "Hfta/Dialect/Hfta/IR/Layouts.h"

using namespace mlir;
using namespace mlir::hfta;

RankedTensorType hfta::getStoredType(RankedTensorType logical) {
  SmallVector<int64_t> shape =
      permute(logical.getShape(), getChannelsLast(logical.getRank()));
  return RankedTensorType::get(shape, logical.getElementType(),
                               logical.getEncoding());
}

/// Returns whether vectors along channels cost no more than vectors along the
/// last spatial axis.
static bool prefersChannelsLast(RankedTensorType type) {
  ArrayRef<int64_t> shape = type.getShape();
  if (shape.size() < 3 || ShapedType::getNumElements(shape) == 0)
    return false;
  return getVectorCost(shape[1], type.getElementType()) <=
         getVectorCost(shape.back(), type.getElementType());
}

//===----------------------------------------------------------------------===//
// Classes
//===----------------------------------------------------------------------===//

unsigned LayoutClasses::getNumber(const void *tensor) {
  auto [entry, isNew] = numbers.try_emplace(tensor, numbers.size());
  if (isNew)
    classes.grow(numbers.size());
  return entry->second;
}

void LayoutClasses::join(Value one, Value other) {
  classes.join(getNumber(one.getAsOpaquePointer()),
               getNumber(other.getAsOpaquePointer()));
}

/// Joins the activations of an op whose vectors run along channels or
/// positions, since they should have the same layout. If the op chooses
/// layouts, votes for channels last where the op's result and the activation
/// itself prefer them.
void LayoutClasses::addActivations(ActivationOpInterface op) {
  bool resultPrefers = true;
  SmallVector<SmallVector<Value>> lists = op.getActivations();
  for (ArrayRef<Value> list : llvm::reverse(lists)) {
    for (Value value : list)
      join(list.front(), value);
    bool prefers = prefersChannelsLast(getTensorType(list.front()));
    if (prefers && resultPrefers && op.choosesLayout())
      votes.push_back(getNumber(list.front().getAsOpaquePointer()));
    if (isa<OpResult>(list.front()) &&
        list.front().getDefiningOp() == op.getOperation())
      resultPrefers = prefers;
  }
}

void LayoutClasses::addKernel(KernelOp kernel) {
  Block &body = kernel.getBody().front();
  for (auto [input, argument] :
       llvm::zip(kernel.getInputs(), body.getArguments()))
    join(input, argument);
  for (auto [result, yielded] :
       llvm::zip(kernel.getResults(), body.getTerminator()->getOperands()))
    join(result, yielded);
  for (Operation &op : body.without_terminator()) {
    if (auto activations = dyn_cast<ActivationOpInterface>(op)) {
      addActivations(activations);
      continue;
    }
    if (auto pairs = dyn_cast<PairFactorsOp>(op))
      join(pairs.getResult(), pairs.getInput());
    if (!isa<ElementwiseOpInterface>(op))
      continue;
    Value result = op.getResult(0);
    for (Value operand : op.getOperands())
      if (getTensorType(operand).getShape() == getTensorType(result).getShape())
        join(result, operand);
  }
}

OperandRange LayoutClasses::getStacked(StackOp stack) const {
  OperandRange inputs = stack.getInputs();
  return view.uses ? inputs.slice(view.copy, 1) : inputs;
}

/// Returns whether a kernel reads the value, directly or through stacks of
/// copies.
bool LayoutClasses::isRead(Value value) const {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    if (!isSeen(user))
      return false;
    return isa<KernelOp>(user) ||
           (isa<StackOp, UnstackOp>(user) && isRead(user->getResult(0)));
  });
}

void LayoutClasses::addTask(func::FuncOp task, const SymbolTable &symbols) {
  auto joinVariable = [&](StringRef name, Value value) {
    auto variable = symbols.lookup<VariableOp>(name);
    if (variable && isOfTasksAlone(variable))
      classes.join(getNumber(variable.getOperation()),
                   getNumber(value.getAsOpaquePointer()));
  };
  for (Operation &op : task.getBody().front()) {
    if (!isSeen(&op))
      continue;
    if (auto read = dyn_cast<ReadOp>(op)) {
      joinVariable(read.getVariable(), read.getResult());
      auto variable = symbols.lookup<VariableOp>(read.getVariable());
      variables[read] = variable;
      bool &byKernels = reads.try_emplace(variable, false).first->second;
      byKernels |= isRead(read.getResult());
    } else if (auto write = dyn_cast<WriteOp>(op))
      joinVariable(write.getVariable(), write.getValue());
    else if (auto kernel = dyn_cast<KernelOp>(op))
      addKernel(kernel);
    else if (auto stack = dyn_cast<StackOp>(op))
      for (Value operand : getStacked(stack))
        join(stack.getResult(), operand);
    else if (auto unstack = dyn_cast<UnstackOp>(op))
      join(unstack.getResult(), unstack.getInput());
  }
}

LayoutClasses::LayoutClasses(ModuleOp module,
                             ArrayRef<std::pair<Value, Value>> recomputed,
                             LayoutView view)
    : view(view) {
  SymbolTable symbols(module);
  for (auto function : module.getOps<func::FuncOp>())
    if (function->hasAttr(HftaDialect::kTaskAttrName))
      addTask(function, symbols);
  for (auto [again, first] : recomputed)
    if (isSeen(again.getDefiningOp()->getParentOp()) &&
        isSeen(first.getDefiningOp()->getParentOp()))
      join(again, first);
  for (unsigned vote : votes)
    chosen.insert(classes.findLeader(vote));
}

bool LayoutClasses::isChosen(const void *tensor) const {
  auto known = numbers.find(tensor);
  return known != numbers.end() &&
         chosen.contains(classes.findLeader(known->second));
}

bool LayoutClasses::isChannelsLast(Value value) const {
  return isChosen(value.getAsOpaquePointer());
}

bool LayoutClasses::isChannelsLast(VariableOp variable) const {
  auto read = reads.find(variable);
  return isChosen(variable.getOperation()) &&
         (read == reads.end() || read->second);
}

bool LayoutClasses::isCarried(Value value) const {
  Operation *op = value.getDefiningOp();
  if (auto read = dyn_cast<ReadOp>(op))
    return isChannelsLast(variables.lookup(read));
  auto isOperandCarried = [&](Value operand) { return isCarried(operand); };
  if (auto stack = dyn_cast<StackOp>(op))
    return llvm::all_of(getStacked(stack), isOperandCarried);
  if (auto unstack = dyn_cast<UnstackOp>(op))
    return isCarried(unstack.getInput());
  return isa<KernelOp>(op);
}
