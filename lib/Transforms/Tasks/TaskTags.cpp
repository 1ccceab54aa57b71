//===- TaskTags.cpp - The tasks of undivided functions' ops ---------------===//

#include "Tasks/TaskTags.h"

#include "Hfta/Support/TaskNames.h"

using namespace mlir;
using namespace mlir::hfta;

static IntegerAttr getBlockAttr(Operation *op) {
  return op->getAttrOfType<IntegerAttr>(HftaDialect::kBlockAttrName);
}

static void setBlockAttr(Operation *op, int64_t block) {
  op->setAttr(HftaDialect::kBlockAttrName,
              IntegerAttr::get(IntegerType::get(op->getContext(), 64), block));
}

void hfta::noteTags(Block &pass, const TaskTags &tags) {
  for (Operation &op : pass.without_terminator()) {
    TaskTag tag = tags.lookup(&op);
    op.setAttr(HftaDialect::kPartAttrName,
               TaskPartAttr::get(op.getContext(), tag.part));
    setBlockAttr(&op, tag.block);
  }
}

void hfta::removeTags(Operation *op) {
  op->removeAttr(HftaDialect::kPartAttrName);
  op->removeAttr(HftaDialect::kBlockAttrName);
  op->removeAttr(HftaDialect::kKeepAttrName);
  op->removeAttr(kGradientOrderAttrName);
}

/// Returns whether a value may be passed from one task to another. Ops without
/// operands may be used anywhere, since they are repeated in each task.
static bool followsOrder(Operation *from, TaskTag giver, TaskTag taker) {
  if (from->getNumOperands() == 0 || giver.part != taker.part)
    return true;
  switch (giver.part) {
  case TaskPart::forward:
  case TaskPart::evaluate:
  case TaskPart::infer:
    return giver.block <= taker.block;
  case TaskPart::backward:
  case TaskPart::sampled_moments:
    return giver.block >= taker.block;
  case TaskPart::recompute:
  case TaskPart::backward_weight:
  case TaskPart::statistics:
    return true;
  }
  llvm_unreachable("all parts are listed");
}

static LogicalResult verifyOrder(Operation &op, const TaskTags &tags) {
  for (Value operand : op.getOperands()) {
    TaskTag giver = tags.lookup(operand.getDefiningOp());
    if (followsOrder(operand.getDefiningOp(), giver, tags.lookup(&op)))
      continue;
    InFlightDiagnostic diagnostic = op.emitError("in block ")
                                    << tags.lookup(&op).block << " of part "
                                    << stringifyTaskPart(giver.part)
                                    << " reads a value of block " << giver.block
                                    << ", which is computed later";
    diagnostic.attachNote(operand.getLoc()) << "the value comes from here";
    return diagnostic;
  }
  return success();
}

/// Returns the name of the undivided function with ops of a part; empty if
/// there is none.
static StringRef getUndivided(TaskPart part) {
  switch (part) {
  case TaskPart::forward:
  case TaskPart::backward:
  case TaskPart::sampled_moments:
  case TaskPart::statistics:
    return parts::kTraining;
  case TaskPart::evaluate:
    return parts::kEvaluation;
  case TaskPart::infer:
    return parts::kInference;
  case TaskPart::recompute:
  case TaskPart::backward_weight:
    return {};
  }
  llvm_unreachable("all parts are listed");
}

FailureOr<TaskTags> hfta::readTags(func::FuncOp function) {
  TaskTags tags;
  auto task = function->getAttrOfType<TaskAttr>(HftaDialect::kTaskAttrName);
  Block &pass = function.getBody().front();
  for (Operation &op : pass.without_terminator()) {
    auto part = op.getAttrOfType<TaskPartAttr>(HftaDialect::kPartAttrName);
    IntegerAttr block = getBlockAttr(&op);
    if (!part || !block)
      return op.emitError("expected '")
             << HftaDialect::kPartAttrName << "' and '"
             << HftaDialect::kBlockAttrName
             << "' on each op of an undivided function";
    if (getUndivided(part.getValue()) != task.getPart())
      return op.emitError("no op of the undivided function '")
             << task.getPart().getValue() << "' is of part "
             << stringifyTaskPart(part.getValue());
    tags[&op] = {part.getValue(), block.getInt()};
  }
  for (Operation &op : pass.without_terminator())
    if (failed(verifyOrder(op, tags)))
      return failure();
  return tags;
}

int64_t hfta::countBlocks(const TaskTags &tags) {
  int64_t blocks = 1;
  for (auto &[op, tag] : tags)
    blocks = std::max(blocks, tag.block + 1);
  return blocks;
}

func::FuncOp hfta::findUndivided(ModuleOp module, StringRef part) {
  for (auto function : module.getOps<func::FuncOp>()) {
    auto task = function->getAttrOfType<TaskAttr>(HftaDialect::kTaskAttrName);
    if (task && task.getPart() == part && task.getBlock() < 0)
      return function;
  }
  return {};
}

/// Removes the cuts between blocks that are merged.
static void mergeCuts(ModuleOp module, ArrayRef<int64_t> mergedInto) {
  auto cuts = module->getAttrOfType<ArrayAttr>(HftaDialect::kCutsAttrName);
  if (!cuts)
    return;
  SmallVector<Attribute> kept;
  for (auto [before, cut] : llvm::enumerate(cuts))
    if (mergedInto[before] != mergedInto[before + 1])
      kept.push_back(cut);
  if (kept.empty())
    module->removeAttr(HftaDialect::kCutsAttrName);
  else
    module->setAttr(HftaDialect::kCutsAttrName,
                    ArrayAttr::get(module.getContext(), kept));
}

void hfta::mergeBlocks(ModuleOp module, ArrayRef<int64_t> mergedInto) {
  for (StringRef part :
       {parts::kTraining, parts::kEvaluation, parts::kInference})
    if (func::FuncOp function = findUndivided(module, part))
      for (Operation &op : function.getBody().front().without_terminator())
        setBlockAttr(&op, mergedInto[getBlockAttr(&op).getInt()]);
  for (auto variable : module.getOps<VariableOp>())
    if (auto block = static_cast<int64_t>(variable.getBlock()); block >= 0)
      variable.setBlock(mergedInto[block]);
  mergeCuts(module, mergedInto);
}
