//===- SpillTimeline.cpp - Timelines of steps that spill ------------------===//

#include "Hfta/Planning/Spill/SpillSimulation.h"

#include "llvm/Support/ErrorHandling.h"

using namespace mlir::hfta;
using namespace mlir::hfta::planning;

static BarKind getBarKind(SpillActivity activity) {
  switch (activity) {
  case SpillActivity::forward:
    return BarKind::forward;
  case SpillActivity::recompute:
    return BarKind::recompute;
  case SpillActivity::backward:
    return BarKind::backward;
  case SpillActivity::update:
    return BarKind::update;
  case SpillActivity::other:
    return BarKind::other;
  case SpillActivity::read:
    return BarKind::read;
  case SpillActivity::write:
    return BarKind::write;
  }
  llvm_unreachable("an activity without a bar");
}

Timeline planning::getTimeline(const SpillRun &run, llvm::StringRef title) {
  Timeline timeline;
  timeline.title = title.str();
  timeline.rows.push_back("device");
  for (const SpillEvent &event : run.events) {
    if (event.end <= event.begin)
      continue;
    TimelineBar bar;
    bar.kind = getBarKind(event.activity);
    bar.begin = event.begin;
    bar.end = event.end;
    bar.label = std::to_string(event.group);
    bar.title = getName(event.activity).str() + ", block " + bar.label +
                ", micro-batch " + std::to_string(event.microBatch) +
                ", turn " + std::to_string(event.turn);
    if (event.bytes > 0)
      bar.title += ", " + std::to_string(event.bytes) + " bytes";
    timeline.bars.push_back(bar);
  }
  return timeline;
}
