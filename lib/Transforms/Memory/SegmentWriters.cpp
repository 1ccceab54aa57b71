//===- SegmentWriters.cpp - Variables in separate segments ----------------===//

#include "Memory/SegmentWriters.h"

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Support/TaskNames.h"
#include "Hfta/Transforms/Kfac/PlannedKfac.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mlir::hfta;

/// Returns the part that completes moments. If forward and backward both add to
/// them, this is the backward.
static StringRef getPass(StringRef known, TaskAttr task) {
  StringRef part = task.getPart().getValue();
  bool isBackward = known == parts::kBackwardMoments ||
                    part == parts::kBackwardMoments ||
                    part == parts::kBackwardWeightMoments;
  return isBackward ? parts::kBackwardMoments : parts::kForwardMoments;
}

/// Returns the key of a variable's segment; empty if the variable may be in any
/// segment of its role and block.
static StringRef getWriter(VariableOp variable, TaskAttr task) {
  Role role = variable.getRole();
  ReplicasAttr replicas = task.getReplicas();
  if (replicas && (role == Role::curvature || role == Role::output))
    return StringAttr::get(variable.getContext(),
                           task.getPart().getValue() + replicas.makeName());
  bool isSent = variable.getReaders().has_value() && role != Role::moment &&
                role != Role::parameter;
  bool isOfEvaluation =
      role == Role::result && task.getPart() == parts::kEvaluate;
  bool isAgain = task.getPart() == parts::kRecompute;
  // An inference has no memory for values of a training.
  bool isOfInference = role == Role::cut && task.getPart() == parts::kInfer;
  // Inverses are needed in each step, factors only in steps that take moments.
  bool comesAlone = role == Role::curvature &&
                    variable.getResidency() == Residency::spilled &&
                    task.getPart() != parts::kInit;
  // In the arena, a value has a place as long as its segment has one. So values
  // of forwards, of backwards and of evaluations, which aren't needed at the
  // same time, are in separate segments.
  bool hasPlace = (role == Role::cut || role == Role::saved) &&
                  variable.getResidency() != Residency::resident;
  return isSent || isOfEvaluation || isAgain || isOfInference || comesAlone ||
                 hasPlace
             ? task.getPart().getValue()
             : "";
}

/// Finds the variables that tasks of several blocks use while a step or an
/// evaluation visits the blocks.
static llvm::StringSet<> findUsedInSeveralBlocks(ModuleOp module) {
  llvm::StringMap<int64_t> blockOf;
  llvm::StringSet<> several;
  for (auto function : module.getOps<func::FuncOp>()) {
    auto task = function->getAttrOfType<TaskAttr>(HftaDialect::kTaskAttrName);
    if (!task || task.getBlock() < 0)
      continue;
    auto note = [&](StringRef name) {
      auto [known, isNew] = blockOf.try_emplace(name, task.getBlock());
      if (!isNew && known->second != task.getBlock())
        several.insert(name);
    };
    for (auto read : function.getOps<ReadOp>())
      note(read.getVariable());
    for (auto write : function.getOps<WriteOp>())
      note(write.getVariable());
  }
  return several;
}

/// Separates a block's spilled parameters: those that nothing changes needn't
/// be written back, and those that other blocks use as well are moved alone.
static void keepShardsApart(ModuleOp module,
                            llvm::StringMap<StringRef> &writers) {
  llvm::StringSet<> several = findUsedInSeveralBlocks(module);
  for (auto variable : module.getOps<VariableOp>()) {
    if (variable.getRole() != Role::parameter ||
        variable.getResidency() != Residency::spilled)
      continue;
    if (several.contains(variable.getSymName()))
      writers[variable.getSymName()] = variable.getSymName();
    else if (!variable.getTrained())
      writers[variable.getSymName()] = "frozen";
  }
}

FailureOr<llvm::StringMap<StringRef>>
hfta::findSegmentWriters(ModuleOp module) {
  FailureOr<llvm::StringMap<int64_t>> groups = findGroupsOfMoments(module);
  if (failed(groups))
    return failure();
  llvm::StringMap<StringRef> writers;
  SymbolTable symbols(module);
  for (auto function : module.getOps<func::FuncOp>()) {
    auto task = function->getAttrOfType<TaskAttr>(HftaDialect::kTaskAttrName);
    if (!task)
      continue;
    for (auto write : function.getOps<WriteOp>()) {
      auto variable = symbols.lookup<VariableOp>(write.getVariable());
      StringRef name = write.getVariable();
      auto group = groups->find(name);
      if (group != groups->end())
        writers[name] =
            StringAttr::get(module.getContext(), Twine(group->second));
      else if (variable.getRole() == Role::moment &&
               variable.getInstances() > 1)
        writers[name] = getPass(writers.lookup(name), task);
      else if (StringRef writer = getWriter(variable, task); !writer.empty())
        writers.try_emplace(name, writer);
    }
  }
  keepShardsApart(module, writers);
  return writers;
}
