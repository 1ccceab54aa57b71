//===- CopyUses.cpp - The copies that a task's ops compute for ------------===//

#include "Tasks/CopyUses.h"

#include "Hfta/Support/TaskNames.h"

#include <map>

using namespace mlir;
using namespace mlir::hfta;
using llvm::SmallBitVector;

SmallVector<func::FuncOp> hfta::getTasksInOrder(ModuleOp module) {
  std::multimap<int64_t, func::FuncOp> tasks;
  for (auto function : module.getOps<func::FuncOp>()) {
    auto task = function->getAttrOfType<TaskAttr>(HftaDialect::kTaskAttrName);
    if (!task)
      continue;
    int64_t block = task.getBlock();
    int64_t last = std::numeric_limits<int64_t>::max();
    StringRef part = task.getPart().getValue();
    bool isBackward =
        llvm::is_contained({parts::kRecompute, parts::kBackward,
                            parts::kBackwardWeight, parts::kSampledMoments},
                           part);
    if (part == parts::kForward)
      tasks.emplace(block, function);
    else
      tasks.emplace(isBackward ? last - 1 - block : last, function);
  }
  return llvm::map_to_vector(tasks, [](auto &entry) { return entry.second; });
}

bool hfta::isOfTasksAlone(VariableOp variable) {
  Role role = variable.getRole();
  return (role == Role::saved || role == Role::cut || role == Role::exchange) &&
         !variable.getInitial();
}

int64_t hfta::countStoredCopies(VariableOp variable) {
  if (std::optional<ArrayRef<int64_t>> only = variable.getOnly())
    return static_cast<int64_t>(only->size());
  return getCopies(variable.getType()).value_or(1);
}

int64_t hfta::countCopiesApart(ModuleOp module) {
  int64_t copies = 0;
  bool isApart = false;
  module.walk([&](Operation *op) {
    auto variable = dyn_cast<VariableOp>(op);
    auto read = dyn_cast<ReadOp>(op);
    isApart |= isa<StackOp, UnstackOp>(op) ||
               (variable && (variable.getCopy() || variable.getOnly())) ||
               (read && (read.getCopy() || read.getOnly()));
    if (variable)
      copies = std::max(copies, getCopies(variable.getType()).value_or(0));
  });
  return isApart ? copies : 0;
}

CopyUses::CopyUses(ModuleOp module, int64_t copies)
    : copies(copies), none(copies) {
  SymbolTable symbols(module);
  SmallVector<func::FuncOp> tasks;
  for (auto function : module.getOps<func::FuncOp>())
    if (function->hasAttr(HftaDialect::kTaskAttrName))
      tasks.push_back(function);
  // Iterate to a fixed point: a copy that uses the read of a saved value also
  // uses the ops of the task that has written it.
  bool hasChanged = true;
  while (hasChanged) {
    hasChanged = false;
    for (func::FuncOp task : llvm::reverse(tasks))
      hasChanged |= visitTask(task, symbols);
  }
}

const SmallBitVector &CopyUses::getCopies(Operation *op) const {
  auto known = ofOp.find(op);
  return known == ofOp.end() ? none : known->second;
}

const SmallBitVector &CopyUses::getReaders(VariableOp variable) const {
  auto known = readers.find(variable);
  return known == readers.end() ? none : known->second;
}

SmallBitVector CopyUses::only(ArrayRef<int64_t> some) const {
  SmallBitVector set(copies);
  for (int64_t copy : some)
    set.set(copy);
  return set;
}

SmallBitVector CopyUses::findCopies(Operation &op, const SymbolTable &symbols) {
  if (auto write = dyn_cast<WriteOp>(op)) {
    auto variable = symbols.lookup<VariableOp>(write.getVariable());
    SmallBitVector found = isOfTasksAlone(variable)
                               ? getReaders(variable)
                               : SmallBitVector(copies, true);
    if (write.getCopy())
      found &= only(*write.getCopy());
    if (variable.getCopy())
      found &= only(*variable.getCopy());
    for (std::optional<ArrayRef<int64_t>> some :
         {write.getOnly(), variable.getOnly()})
      if (some)
        found &= only(*some);
    return found;
  }
  SmallBitVector found(copies);
  for (OpOperand &use : op.getUses()) {
    const SmallBitVector &user = getCopies(use.getOwner());
    if (!isa<StackOp>(use.getOwner()))
      found |= user;
    else if (user.test(use.getOperandNumber()))
      found.set(use.getOperandNumber());
  }
  if (auto unstack = dyn_cast<UnstackOp>(op))
    found &= only(unstack.getCopy());
  return found;
}

bool CopyUses::visitTask(func::FuncOp task, const SymbolTable &symbols) {
  bool hasChanged = false;
  for (Operation &op :
       llvm::reverse(task.getBody().front().without_terminator())) {
    SmallBitVector found = findCopies(op, symbols);
    SmallBitVector &known = ofOp.try_emplace(&op, none).first->second;
    if (known == found)
      continue;
    known = found;
    hasChanged = true;
    if (auto read = dyn_cast<ReadOp>(op)) {
      Operation *variable = symbols.lookup(read.getVariable());
      readers.try_emplace(variable, none).first->second |= found;
    }
  }
  return hasChanged;
}
