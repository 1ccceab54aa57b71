//===- MultiModelSimulation.cpp - Schedules of several models -------------===//

#include "Hfta/Planning/Models/MultiModelSimulation.h"
#include "Models/ShardEngine.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <cassert>

using namespace mlir::hfta;
using namespace mlir::hfta::planning;

MultiModelRun planning::simulateModels(const MultiModelWorkload &workload,
                                       ShardScheduler &scheduler) {
  ShardTimes times(workload);
  MultiModelRun run;
  ShardEngine engine(times, scheduler.reusesShards());
  engine.setTrace(&run.units);
  for (unsigned device = engine.advance(); device != kNone;
       device = engine.advance())
    engine.answer(device, scheduler.choose(engine, device));
  assert(engine.getUnbegun() == 0 && "a scheduler gave a free device nothing");
  run.makespan = engine.getLastEnd();
  run.readBytes = engine.getReadBytes();
  return run;
}

//===----------------------------------------------------------------------===//
// Comparison
//===----------------------------------------------------------------------===//

// HYDRA's authors compare it with GPipe with this number of micro-batches.
static constexpr double kPipelineChunks = 4;

/// Returns the ratio of a pipeline's time to the serial time. The pipeline has
/// one stage per device, all stages take equally long, and a mini-batch
/// consists of kPipelineChunks micro-batches, which follow each other through
/// the stages.
static double getPipelineShare(const MultiModelWorkload &workload) {
  auto stages = static_cast<double>(workload.devices);
  return (kPipelineChunks + stages - 1) / (kPipelineChunks * stages);
}

ScheduleComparison
planning::compareSchedules(const MultiModelWorkload &workload) {
  ScheduleComparison comparison;
  comparison.lowerBound = workload.getLowerBound();
  double seconds = workload.getSeconds();
  auto add = [&](llvm::StringRef name, double makespan, int64_t readBytes) {
    double available = makespan * static_cast<double>(workload.devices);
    comparison.schedules.push_back({name.str(), true, makespan,
                                    available > 0 ? seconds / available : 0,
                                    readBytes});
  };
  MultiModelRun shortest;
  for (SchedulerKind kind : kSchedulerKinds) {
    MultiModelRun run = simulateModels(workload, *makeScheduler(kind));
    add(getName(kind), toSeconds(run.makespan), run.readBytes);
    if (kind == SchedulerKind::lrtf)
      comparison.lrtf = run;
    if (kind == SchedulerKind::lrtf || run.makespan < shortest.makespan)
      shortest = std::move(run);
  }
  if (std::optional<MultiModelRun> best = findBestRun(workload, shortest))
    add("exact", toSeconds(best->makespan), best->readBytes);
  else
    comparison.schedules.push_back({"exact", /*isKnown=*/false, 0, 0, 0});
  add("model_parallel", seconds, 0);
  add("gpipe", seconds * getPipelineShare(workload), 0);
  return comparison;
}

void planning::printComparison(const ScheduleComparison &comparison,
                               llvm::raw_ostream &os) {
  os << llvm::format("lower bound %.6g s\n\n", comparison.lowerBound);
  os << llvm::format("%-14s %12s %8s %12s %10s\n", "scheduler", "makespan s",
                     "x bound", "utilization", "read GB");
  for (const ScheduleFigures &figures : comparison.schedules) {
    os << llvm::format("%-14s", figures.name.c_str());
    if (!figures.isKnown) {
      os << "    too large to prove which schedule is best\n";
      continue;
    }
    double bound = comparison.lowerBound;
    os << llvm::format(" %12.6g %8.3f %12.3f %10.6g\n", figures.makespan,
                       bound > 0 ? figures.makespan / bound : 1,
                       figures.utilization,
                       static_cast<double>(figures.readBytes) / 1e9);
  }
}

void planning::writeComparison(const ScheduleComparison &comparison,
                               llvm::raw_ostream &os) {
  llvm::json::OStream json(os, /*IndentSize=*/2);
  json.object([&] {
    json.attribute("lower_bound", comparison.lowerBound);
    json.attributeObject("schedulers", [&] {
      for (const ScheduleFigures &figures : comparison.schedules) {
        if (!figures.isKnown) {
          json.attribute(figures.name, nullptr);
          continue;
        }
        json.attributeObject(figures.name, [&] {
          json.attribute("makespan", figures.makespan);
          json.attribute("utilization", figures.utilization);
          json.attribute("read_bytes", figures.readBytes);
        });
      }
    });
  });
  os << '\n';
}

//===----------------------------------------------------------------------===//
// Drawing
//===----------------------------------------------------------------------===//

static BarKind getBarKind(UnitKind kind) {
  switch (kind) {
  case UnitKind::forward:
    return BarKind::forward;
  case UnitKind::loss:
    return BarKind::other;
  case UnitKind::backward:
    return BarKind::backward;
  }
  llvm_unreachable("all kinds are listed");
}

Timeline planning::getTimeline(const MultiModelWorkload &workload,
                               const MultiModelRun &run,
                               llvm::StringRef title) {
  Timeline timeline;
  timeline.title = title.str();
  for (int64_t device = 0; device < workload.devices; ++device)
    timeline.rows.push_back("device " + std::to_string(device));
  for (const ScheduledUnit &scheduled : run.units) {
    const ShardedModel &model = workload.models[scheduled.model];
    auto units = static_cast<int64_t>(model.units.size());
    const ShardUnit &unit = model.units[scheduled.number % units];
    TimelineBar bar;
    bar.row = scheduled.device;
    bar.label = std::to_string(scheduled.model);
    bar.title = model.name + ", batch " +
                std::to_string(scheduled.number / units) + ", " +
                getName(unit.kind).str() + " of shard " +
                std::to_string(unit.shard);
    auto add = [&](BarKind kind, const Interval &interval) {
      if (interval.end <= interval.begin)
        return;
      bar.kind = kind;
      bar.begin = toSeconds(interval.begin);
      bar.end = toSeconds(interval.end);
      timeline.bars.push_back(bar);
    };
    add(getBarKind(unit.kind), scheduled.compute);
    add(BarKind::read, scheduled.fetch);
    add(BarKind::write, scheduled.eviction);
  }
  return timeline;
}
