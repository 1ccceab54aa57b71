//===- PipelinePlan.cpp - Stages and their parts of a model ---------------===//

#include "Hfta/Planning/Pipelines/PipelinePlan.h"

#include <algorithm>

using namespace mlir::hfta::planning;

double PlannedStage::getForward() const {
  double seconds = 0;
  for (const PlannedPart &part : parts)
    seconds += part.forward;
  return seconds;
}

double PlannedStage::getBackward() const {
  double seconds = 0;
  for (const PlannedPart &part : parts)
    seconds += part.backward;
  return seconds;
}

bool PlannedStage::recomputes() const {
  return std::any_of(parts.begin(), parts.end(),
                     [](const PlannedPart &part) { return part.recomputes; });
}

bool PipelinePlan::isVShaped() const {
  // A V-shaped pipeline passes each stage on the way there and on the way back.
  constexpr int64_t kParts = 2;
  return getChunks() == kParts &&
         stages.front().parts.back().number ==
             kParts * static_cast<int64_t>(stages.size()) - 1;
}

std::vector<const PlannedPart *> PipelinePlan::getParts() const {
  std::vector<const PlannedPart *> parts;
  for (const PlannedStage &stage : stages)
    for (const PlannedPart &part : stage.parts)
      parts.push_back(&part);
  std::sort(parts.begin(), parts.end(),
            [](const PlannedPart *one, const PlannedPart *other) {
              return one->number < other->number;
            });
  return parts;
}
