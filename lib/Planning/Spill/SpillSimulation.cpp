//===- SpillSimulation.cpp - Simulates steps that spill -------------------===//

#include "Hfta/Planning/Spill/SpillSimulation.h"
#include "Spill/SpillSchedule.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"

#include <algorithm>

using namespace mlir::hfta;
using namespace mlir::hfta::planning;

llvm::StringRef planning::getName(Keep keep) {
  switch (keep) {
  case Keep::save:
    return "save";
  case Keep::spill:
    return "spill";
  case Keep::recompute:
    return "recompute";
  }
  llvm_unreachable("all ways to keep a value are listed");
}

llvm::StringRef planning::getName(Residency residency) {
  switch (residency) {
  case Residency::streamed:
    return "streamed";
  case Residency::held:
    return "held";
  case Residency::parameters:
    return "parameters";
  case Residency::everything:
    return "resident";
  }
  llvm_unreachable("all residencies are listed");
}

llvm::StringRef planning::getName(SpillActivity activity) {
  switch (activity) {
  case SpillActivity::forward:
    return "forward";
  case SpillActivity::recompute:
    return "recompute";
  case SpillActivity::backward:
    return "backward";
  case SpillActivity::update:
    return "update";
  case SpillActivity::other:
    return "other";
  case SpillActivity::read:
    return "read";
  case SpillActivity::write:
    return "write";
  }
  llvm_unreachable("all activities are listed");
}

static llvm::Error checkGroups(const SpillModel &model, const SpillPlan &plan) {
  int64_t block = 0;
  for (const SpillGroup &group : plan.groups) {
    if (group.firstBlock != block || group.endBlock <= block)
      return llvm::createStringError(
          "expected a group that begins with block " + llvm::Twine(block) +
          ", got blocks " + llvm::Twine(group.firstBlock) + " to " +
          llvm::Twine(group.endBlock - 1));
    block = group.endBlock;
  }
  if (block != static_cast<int64_t>(model.blocks.size()))
    return llvm::createStringError("expected groups of " +
                                   llvm::Twine(model.blocks.size()) +
                                   " blocks, got " + llvm::Twine(block));
  return llvm::Error::success();
}

llvm::Error planning::checkPlan(const SpillModel &model,
                                const SpillPlan &plan) {
  if (plan.copies < 1 || plan.copies > model.copies)
    return llvm::createStringError(
        "expected 1 to " + llvm::Twine(model.copies) + " copies a turn, got " +
        llvm::Twine(plan.copies));
  if (plan.values.size() != model.values.size())
    return llvm::createStringError(
        "expected what becomes of " + llvm::Twine(model.values.size()) +
        " values, got " + llvm::Twine(plan.values.size()));
  if (llvm::Error error = checkGroups(model, plan))
    return error;
  SpillIndex index(model);
  for (const SpillGroup &group : plan.groups) {
    SpillNeeds needs = findNeeds(model, index, plan.values, group);
    if (needs.fault >= 0)
      return llvm::createStringError(
          "block '" + model.blocks[index.blocksOfOps[needs.fault]].name +
          "': op " + llvm::Twine(needs.fault) + " can't be computed again");
    for (const auto *values : {&needs.byBackward, &needs.byRecompute})
      for (int64_t value : *values)
        if (plan.values[value] == Keep::recompute)
          return llvm::createStringError(
              "expected value " + llvm::Twine(value) + " of block '" +
              model.blocks[index.getBlockOf(value)].name +
              "' to be kept for block '" + model.blocks[group.firstBlock].name +
              "'");
  }
  return llvm::Error::success();
}

bool planning::keepsAll(const SpillModel &model, const SpillPlan &plan) {
  bool stays = llvm::all_of(plan.groups, [](const SpillGroup &group) {
    return group.residency == Residency::everything && !group.streamsInputs &&
           !group.spillsGradients;
  });
  return stays && llvm::all_of(model.blocks, [&](const SpillBlock &block) {
           return llvm::all_of(block.backwardReads, [&](int64_t value) {
             return plan.values[value] == Keep::save;
           });
         });
}

std::vector<GroupSeconds> planning::getGroupSeconds(const SpillModel &model,
                                                    const SpillPlan &plan) {
  SpillIndex index(model);
  std::vector<GroupSeconds> all;
  auto micro = static_cast<double>(model.microBatches);
  for (const SpillGroup &group : plan.groups) {
    GroupSeconds &own = all.emplace_back();
    own.recompute =
        micro * findNeeds(model, index, plan.values, group).recompute;
    for (int64_t op = model.getFirstOp(group.firstBlock);
         op < model.blocks[group.endBlock - 1].endOp; ++op)
      own.forward += micro * model.ops[op].seconds;
    for (int64_t block = group.firstBlock; block < group.endBlock; ++block) {
      own.backward += micro * model.blocks[block].backward;
      own.update += model.blocks[block].update;
    }
  }
  return all;
}

double SpillRun::getLeastSeconds(const StoreRates &store) const {
  return store.isShared ? std::max(computeSeconds, readSeconds + writeSeconds)
                        : std::max({computeSeconds, readSeconds, writeSeconds});
}

SpillRun planning::simulateSpill(const SpillModel &model, const SpillPlan &plan,
                                 int64_t budget) {
  SpillSchedule schedule(model, SpillIndex(model), plan);
  SpillRun run;
  run.computeSeconds = toSeconds(schedule.computeTicks);
  run.readSeconds = toSeconds(schedule.readTicks);
  run.writeSeconds = toSeconds(schedule.writeTicks);
  run.readBytes = schedule.readBytes;
  run.writtenBytes = schedule.writtenBytes;
  run.leastBytes = schedule.leastBytes;
  run.leastGroup = schedule.leastGroup;
  budget = std::max(budget, schedule.leastBytes);
  Ticks ticks =
      schedule.run(budget, plan.writeWindow, &run.events, &run.peakBytes);
  if (ticks == kNoTicks)
    ticks = schedule.run(budget, 0, &run.events, &run.peakBytes);
  run.seconds = toSeconds(ticks);
  llvm::sort(run.events, [](const SpillEvent &left, const SpillEvent &right) {
    return left.getRank() < right.getRank();
  });
  return run;
}
