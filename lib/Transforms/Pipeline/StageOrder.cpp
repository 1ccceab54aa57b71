//===- StageOrder.cpp - The order of work in a job's stages ---------------===//

#include "Pipeline/StageOrder.h"

#include "Hfta/Dialect/Hfta/IR/HftaDialect.h"
#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Dialect/Hfta/Job/JobOrder.h"
#include "Hfta/Planning/Pipelines/MakeOrder.h"
#include "Hfta/Support/TaskNames.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace mlir::hfta;

/// Finds the blocks that have a task which recomputes some of their forward.
static std::vector<bool> findRecomputing(ModuleOp module, size_t blocks) {
  std::vector<bool> found(blocks, false);
  auto note = [&](StringRef part, int64_t block) {
    if (part == parts::kRecompute)
      found[block] = true;
  };
  for (auto function : module.getOps<func::FuncOp>())
    if (auto task =
            function->getAttrOfType<TaskAttr>(HftaDialect::kTaskAttrName))
      note(task.getPart(), task.getBlock());
  for (auto task : module.getOps<TaskOp>())
    note(task.getPart(), static_cast<int64_t>(task.getBlock()));
  return found;
}

/// Adds recomputation to the order for blocks that the job recomputes and that
/// have tasks for it, or for which the order itself has it for some
/// micro-batches.
static void recompute(planning::Order &order, ModuleOp module, const Job &job) {
  std::vector<bool> isRecomputed = planning::getRecomputed(order);
  std::vector<bool> hasTask = findRecomputing(module, isRecomputed.size());
  SmallVector<bool> blocks;
  for (auto [block, inFlight] : llvm::enumerate(planning::getInstances(order)))
    blocks.push_back(isRecomputed[block] || hasTask[block] ||
                     (inFlight > 1 && job.recomputes(job.getStage(block))));
  planning::insertRecompute(order, blocks);
}

FailureOr<planning::Order> hfta::makeStageOrder(ModuleOp module,
                                                const Job &job) {
  llvm::Expected<planning::Order> order = makeOrder(job);
  if (!order)
    return module.emitError() << "in '" << HftaDialect::kJobAttrName
                              << "': " << llvm::toString(order.takeError());
  recompute(*order, module, job);
  return *order;
}
