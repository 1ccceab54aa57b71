//===- PrintSpillPlan.cpp - Plans of steps in a budget as tables ----------===//

#include "Hfta/Planning/Spill/SpillSimulation.h"
#include "Spill/SpillNeeds.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <array>

using namespace mlir::hfta;
using namespace mlir::hfta::planning;

static double toMebibytes(int64_t bytes) {
  return static_cast<double>(bytes) / (1 << 20);
}

/// Prints a row for each group. Numbers are those of one micro-batch of all
/// copies of a turn.
static void printGroups(const SpillModel &model, const SpillPlan &plan,
                        llvm::raw_ostream &os) {
  SpillIndex index(model);
  os << llvm::formatv("\n{0,-6}{1,-12}{2,-9}{3,10}{4,11}{5,15}{6,14}  {7}\n",
                      "group", "parameters", "inputs", "save MiB", "spill MiB",
                      "recompute MiB", "recompute ms", "blocks");
  for (auto [number, group] : llvm::enumerate(plan.groups)) {
    SpillNeeds needs = findNeeds(model, index, plan.values, group);
    std::array<int64_t, 3> bytes = {0, 0, 0};
    int64_t endOp = model.blocks[group.endBlock - 1].endOp;
    for (int64_t value = index.firstValues[model.getFirstOp(group.firstBlock)];
         value < index.firstValues[endOp]; ++value)
      bytes[static_cast<size_t>(plan.values[value])] +=
          model.values[value].bytes * plan.copies;
    std::string blocks = model.blocks[group.firstBlock].name;
    if (group.endBlock - group.firstBlock > 1)
      blocks += " to " + model.blocks[group.endBlock - 1].name;
    if (group.spillsGradients)
      blocks += "; gradients spilled";
    os << llvm::formatv(
        "{0,-6}{1,-12}{2,-9}{3,10:f1}{4,11:f1}{5,15:f1}{6,14:f3}  {7}\n",
        number, getName(group.residency),
        group.streamsInputs ? "streamed" : "kept", toMebibytes(bytes[0]),
        toMebibytes(bytes[1]), toMebibytes(needs.recomputedBytes * plan.copies),
        needs.recompute * static_cast<double>(plan.copies) * 1e3, blocks);
  }
}

void planning::printSpillPlan(const SpillModel &model, const SpillPlan &plan,
                              int64_t budget, llvm::raw_ostream &os) {
  SpillRun run = simulateSpill(model, plan, budget);
  int64_t turns = (model.copies + plan.copies - 1) / plan.copies;
  os << llvm::formatv(
      "peak {0:f1} MiB of {1:f1} MiB; {2} {3} of {4} {5}, {6} {7}\n",
      toMebibytes(run.peakBytes), toMebibytes(budget), turns,
      turns == 1 ? "turn" : "turns", plan.copies,
      plan.copies == 1 ? "copy" : "copies", plan.groups.size(),
      plan.groups.size() == 1 ? "group" : "groups");
  os << llvm::formatv(
      "step {0:f3} ms, at least {1:f3} ms: compute {2:f3} ms, read {3:f3} ms "
      "({4:f1} MiB), write {5:f3} ms ({6:f1} MiB)\n",
      run.seconds * 1e3, run.getLeastSeconds(model.store) * 1e3,
      run.computeSeconds * 1e3, run.readSeconds * 1e3,
      toMebibytes(run.readBytes), run.writeSeconds * 1e3,
      toMebibytes(run.writtenBytes));
  printGroups(model, plan, os);
}
