//===- LayoutClasses.cpp - Tensors that are stored alike ------------------===//

#include "LayoutClasses.h"

#include "Hfta/Dialect/Hfta/IR/Layouts.h"

using namespace mlir;
using namespace mlir::hfta;

bool hfta::isOfTasksAlone(VariableOp variable) {
  Role role = variable.getRole();
  return (role == Role::saved || role == Role::cut) && !variable.getInitial();
}

RankedTensorType hfta::getStoredType(RankedTensorType logical) {
  SmallVector<int64_t> shape =
      permute(logical.getShape(), getChannelsLast(logical.getRank()));
  return RankedTensorType::get(shape, logical.getElementType(),
                               logical.getEncoding());
}

static RankedTensorType getType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// Whether vectors along channels are at least as good as along the last
/// spatial axis.
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

/// Vectors of an op run along its result's channels or positions: what it reads
/// had better be stored like that.
void LayoutClasses::addActivations(ActivationOpInterface op) {
  bool resultPrefers = true;
  SmallVector<SmallVector<Value>> lists = op.getActivations();
  for (ArrayRef<Value> list : llvm::reverse(lists)) {
    for (Value value : list)
      join(list.front(), value);
    bool prefers = prefersChannelsLast(getType(list.front()));
    if (prefers && resultPrefers)
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
    if (!isa<ElementwiseOpInterface>(op))
      continue;
    Value result = op.getResult(0);
    for (Value operand : op.getOperands())
      if (getType(operand).getShape() == getType(result).getShape())
        join(result, operand);
  }
}

void LayoutClasses::addTask(func::FuncOp task, const SymbolTable &symbols) {
  auto joinVariable = [&](StringRef name, Value value) {
    auto variable = symbols.lookup<VariableOp>(name);
    if (variable && isOfTasksAlone(variable))
      classes.join(getNumber(variable.getOperation()),
                   getNumber(value.getAsOpaquePointer()));
  };
  for (Operation &op : task.getBody().front()) {
    if (auto read = dyn_cast<ReadOp>(op)) {
      joinVariable(read.getVariable(), read.getResult());
      auto variable = symbols.lookup<VariableOp>(read.getVariable());
      bool &byKernels = reads.try_emplace(variable, false).first->second;
      byKernels |= llvm::any_of(read->getUsers(), [](Operation *user) {
        return isa<KernelOp>(user);
      });
    } else if (auto write = dyn_cast<WriteOp>(op))
      joinVariable(write.getVariable(), write.getValue());
    else if (auto kernel = dyn_cast<KernelOp>(op))
      addKernel(kernel);
    else if (isa<StackOp, UnstackOp>(op))
      for (Value operand : op.getOperands())
        join(op.getResult(0), operand);
  }
}

LayoutClasses::LayoutClasses(ModuleOp module) {
  SymbolTable symbols(module);
  for (auto function : module.getOps<func::FuncOp>())
    if (function->hasAttr(HftaDialect::kTaskAttrName))
      addTask(function, symbols);
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
