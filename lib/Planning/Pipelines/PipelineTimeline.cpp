//===- PipelineTimeline.cpp - Steps of pipelines as drawings --------------===//

#include "Hfta/Planning/Pipelines/PipelineSimulation.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"

using namespace mlir::hfta;
using namespace mlir::hfta::planning;

static BarKind getBarKind(ActionKind kind) {
  switch (kind) {
  case ActionKind::forward:
    return BarKind::forward;
  case ActionKind::recompute:
    return BarKind::recompute;
  case ActionKind::backward:
    return BarKind::backward;
  case ActionKind::backwardInput:
    return BarKind::backwardInput;
  case ActionKind::backwardWeight:
    return BarKind::backwardWeight;
  }
  llvm_unreachable("all kinds are listed");
}

static std::string nameStage(int64_t stage) {
  return "stage " + std::to_string(stage);
}

static TimelineBar getBar(const SimulatedStep &step, int64_t positions) {
  TimelineBar bar;
  bar.row = step.worker;
  bar.chunk = step.what.stage / positions;
  switch (step.kind) {
  case SimulatedStep::action:
    bar.kind = getBarKind(step.what.kind);
    bar.label = std::to_string(step.what.microBatch);
    bar.title = nameAction(step.what) + ", " + nameStage(step.what.stage) +
                ", micro-batch " + bar.label;
    break;
  case SimulatedStep::sum:
    bar.kind = BarKind::sum;
    bar.title = "adds up " + nameStage(step.what.stage);
    break;
  case SimulatedStep::update:
    bar.kind = BarKind::update;
    bar.title = "update of " + nameStage(step.what.stage);
    break;
  }
  return bar;
}

static TimelineBar getBar(const SimulatedSend &send) {
  TimelineBar bar;
  bar.row = send.from;
  std::string to = " to worker " + std::to_string(send.to);
  std::string what =
      std::to_string(send.microBatch) + to + ", " + nameStage(send.toStage);
  switch (send.kind) {
  case SimulatedSend::value:
    bar.kind = BarKind::value;
    bar.title = "value of micro-batch " + what;
    break;
  case SimulatedSend::gradient:
    bar.kind = BarKind::gradient;
    bar.title = "gradient of micro-batch " + what;
    break;
  case SimulatedSend::part:
    bar.kind = BarKind::sum;
    bar.title = "part of a sum of " + nameStage(send.toStage) + to;
    break;
  case SimulatedSend::result:
    bar.kind = BarKind::sum;
    bar.title = "sum of " + nameStage(send.toStage) + to;
    break;
  }
  return bar;
}

Timeline planning::getTimeline(const PipelineRun &run, llvm::StringRef title) {
  Timeline timeline;
  timeline.title = title.str();
  const PipelineShape &shape = run.order.shape;
  for (int64_t worker = 0; worker < shape.getWorkers(); ++worker)
    timeline.rows.push_back("worker " + std::to_string(worker));
  auto add = [&](TimelineBar bar, const Interval &interval) {
    if (interval.end <= interval.begin)
      return;
    bar.begin = toSeconds(interval.begin);
    bar.end = toSeconds(interval.end);
    timeline.bars.push_back(std::move(bar));
  };
  for (auto [step, interval] : llvm::zip_equal(run.steps, run.result.actions))
    add(getBar(step, shape.getPositions()), interval);
  for (auto [send, interval] : llvm::zip_equal(run.sends, run.result.messages))
    add(getBar(send), interval);
  return timeline;
}
