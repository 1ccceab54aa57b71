//===- PrintPlan.cpp - Plans as tables ------------------------------------===//

#include "Hfta/Planning/Pipelines/PipelinePlan.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir::hfta::planning;

/// Prints numbers of devices, with ranges, as "0-7, 10".
static std::string printDevices(const std::vector<int64_t> &devices) {
  std::string text;
  for (size_t i = 0; i < devices.size();) {
    size_t end = i + 1;
    while (end < devices.size() && devices[end] == devices[end - 1] + 1)
      ++end;
    text += (text.empty() ? "" : ", ") + std::to_string(devices[i]);
    if (end > i + 1)
      text += "-" + std::to_string(devices[end - 1]);
    i = end;
  }
  return text;
}

/// Prints the layers of a stage's parts as "a to b, e".
static std::string printLayers(const PlannedStage &stage) {
  std::string text;
  for (const PlannedPart &part : stage.parts) {
    text += (text.empty() ? "" : ", ") + part.first;
    if (part.last != part.first)
      text += " to " + part.last;
  }
  return text;
}

void mlir::hfta::planning::printPlan(const PipelinePlan &plan,
                                     llvm::raw_ostream &os) {
  os << plan.stages.size() << (plan.stages.size() == 1 ? " stage" : " stages");
  if (plan.getChunks() > 1)
    os << " of " << plan.getChunks() << " chunks";
  os << llvm::formatv(", {0} micro-batch{1}, order {2}\n", plan.microBatches,
                      plan.microBatches == 1 ? "" : "es", plan.order);
  if (plan.latency > 0)
    os << llvm::formatv("latency {0:f3} ms a batch, estimate {1:f3} ms",
                        plan.latency * 1e3, plan.estimate * 1e3);
  if (plan.simulated)
    os << llvm::formatv("{0}simulated {1:f3} ms", plan.latency > 0 ? ", " : "",
                        *plan.simulated * 1e3);
  os << llvm::formatv("; speedup {0:f3}\n\n", plan.speedup);
  os << llvm::formatv("{0,5}{1,10}{2,8}{3,11}{4,14}{5,14}{6,14}{7,12}  {8}\n",
                      "stage", "replicas", "groups", "in flight", "forward ms",
                      "backward ms", "all-reduce ms", "peak MiB",
                      "layers; devices");
  for (size_t i = 0; i < plan.stages.size(); ++i) {
    const PlannedStage &stage = plan.stages[i];
    os << llvm::formatv(
        "{0,5}{1,10}{2,8}{3,11}{4,14:f3}{5,14:f3}{6,14:f3}{7,12:f1}  {8}; "
        "{9}\n",
        i, stage.devices.size(), stage.groups, stage.inFlight,
        stage.getForward() * 1e3, stage.getBackward() * 1e3,
        stage.allReduce * 1e3, static_cast<double>(stage.peakBytes) / (1 << 20),
        printLayers(stage), printDevices(stage.devices));
  }
}
