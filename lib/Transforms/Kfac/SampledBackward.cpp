//===- SampledBackward.cpp - Backwards from drawn targets -----------------===//

#include "Kfac/SampledBackward.h"

#include "Tasks/Blocks.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/ErrorHandling.h"

#include <map>

using namespace mlir;
using namespace mlir::hfta;

/// Finds the tasks of a part, by block number.
static std::map<int64_t, func::FuncOp> findTasks(ModuleOp module,
                                                 StringRef part) {
  std::map<int64_t, func::FuncOp> ofBlock;
  for (auto function : module.getOps<func::FuncOp>()) {
    auto task = function->getAttrOfType<TaskAttr>(HftaDialect::kTaskAttrName);
    if (task && task.getPart() == part)
      ofBlock[task.getBlock()] = function;
  }
  return ofBlock;
}

SampledLayers hfta::pairSampledLayers(ModuleOp module) {
  SampledLayers sampledOf;
  std::map<int64_t, func::FuncOp> sampled =
      findTasks(module, parts::kSampledMoments);
  std::map<int64_t, func::FuncOp> ofWeights =
      findTasks(module, parts::kBackwardWeight);
  for (auto &[block, function] : findTasks(module, parts::kBackward)) {
    SmallVector<LayerOp> layers(function.getOps<LayerOp>()), others;
    // All layers are in the task for gradients of weights, if there is one.
    if (func::FuncOp weights = ofWeights[block])
      llvm::append_range(layers, weights.getOps<LayerOp>());
    if (func::FuncOp other = sampled[block])
      llvm::append_range(others, other.getOps<LayerOp>());
    bool isSame = layers.size() == others.size();
    for (auto [layer, other] : llvm::zip(layers, others)) {
      isSame &= layer.getParameter() == other.getParameter() &&
                layer.getCopy() == other.getCopy();
      sampledOf[layer] = other;
    }
    if (!isSame)
      llvm::report_fatal_error("the backward from drawn targets has other "
                               "layers than that from the labels");
  }
  return sampledOf;
}

/// Visits blocks from the first to the last. As a backward runs through them in
/// reverse, a block's cuts are used only by the tasks that were visited before.
void hfta::dropUnusedOfSampled(TaskBuilder &tasks,
                               const SampledLayers &layers) {
  for (auto &[layer, sampled] : layers)
    LayerOp(sampled).erase();
  llvm::StringSet<> taken;
  for (auto &[block, function] :
       findTasks(tasks.getModule(), parts::kSampledMoments)) {
    Block &body = function.getBody().front();
    for (auto write : llvm::to_vector(body.getOps<WriteOp>())) {
      VariableOp variable = tasks.lookup(write.getVariable());
      if (variable.getRole() != Role::cut ||
          taken.contains(write.getVariable()))
        continue;
      write.erase();
      tasks.eraseCarried(variable);
    }
    eraseDeadOps(body);
    for (auto read : body.getOps<ReadOp>())
      taken.insert(read.getVariable());
    if (body.without_terminator().empty())
      tasks.eraseTask(function);
  }
}
