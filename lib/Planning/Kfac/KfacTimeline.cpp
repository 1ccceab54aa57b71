//===- KfacTimeline.cpp - Steps of K-FAC as drawings ----------------------===//

#include "Hfta/Planning/Kfac/KfacSimulation.h"

#include "llvm/Support/ErrorHandling.h"

using namespace mlir::hfta;
using namespace mlir::hfta::planning;

static BarKind getBarKind(KfacActivity activity) {
  switch (activity) {
  case KfacActivity::lead:
    return BarKind::other;
  case KfacActivity::forward:
    return BarKind::forward;
  case KfacActivity::backward:
    return BarKind::backward;
  case KfacActivity::reduceGradients:
    return BarKind::sum;
  case KfacActivity::reduceFactors:
    return BarKind::factorSum;
  case KfacActivity::average:
  case KfacActivity::invert:
    return BarKind::invert;
  case KfacActivity::broadcastInverses:
    return BarKind::inverse;
  case KfacActivity::precondition:
    return BarKind::precondition;
  case KfacActivity::broadcastDirections:
    return BarKind::direction;
  case KfacActivity::update:
    return BarKind::update;
  }
  llvm_unreachable("an activity without a bar");
}

/// Returns the text for an event's number; empty for activities that happen
/// once.
static std::string nameNumber(const KfacEvent &event) {
  std::string number = std::to_string(event.number);
  switch (event.activity) {
  case KfacActivity::forward:
  case KfacActivity::backward:
  case KfacActivity::reduceGradients:
    return ", block " + number;
  case KfacActivity::reduceFactors:
    return ", bucket " + number;
  case KfacActivity::invert:
    return event.number == 0 ? ", what each rank inverts"
                             : ", " + number + " rows";
  case KfacActivity::lead:
  case KfacActivity::average:
  case KfacActivity::broadcastInverses:
  case KfacActivity::precondition:
  case KfacActivity::broadcastDirections:
  case KfacActivity::update:
    return "";
  }
  llvm_unreachable("all activities are listed");
}

Timeline planning::getTimeline(const KfacRun &run, int64_t ranks,
                               llvm::StringRef title) {
  Timeline timeline;
  timeline.title = title.str();
  for (int64_t rank = 0; rank < ranks; ++rank)
    timeline.rows.push_back("rank " + std::to_string(rank));
  for (const KfacEvent &event : run.events) {
    if (event.end <= event.begin)
      continue;
    TimelineBar bar;
    bar.kind = getBarKind(event.activity);
    bar.begin = event.begin;
    bar.end = event.end;
    bar.title = getName(event.activity).str() + nameNumber(event);
    if (event.activity == KfacActivity::forward ||
        event.activity == KfacActivity::backward ||
        (event.activity == KfacActivity::invert && event.number > 0))
      bar.label = std::to_string(event.number);
    bool isOfAll = event.rank == kEveryRank;
    for (int64_t rank = isOfAll ? 0 : event.rank;
         rank < (isOfAll ? ranks : event.rank + 1); ++rank) {
      bar.row = rank;
      timeline.bars.push_back(bar);
    }
  }
  return timeline;
}
