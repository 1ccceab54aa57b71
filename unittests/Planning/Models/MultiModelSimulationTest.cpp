//===- MultiModelSimulationTest.cpp - Schedules of several models ---------===//

#include "Models/TestWorkloads.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

#include <map>
#include <set>

using namespace mlir::hfta::planning;

static std::string describe(const MultiModelRun &run) {
  std::string text;
  llvm::raw_string_ostream os(text);
  auto write = [&](const Interval &interval) {
    os << llvm::format(" %g-%g", toSeconds(interval.begin),
                       toSeconds(interval.end));
  };
  for (const ScheduledUnit &unit : run.units) {
    os << unit.device << ": " << unit.model << '.' << unit.number;
    write(unit.fetch);
    write(unit.compute);
    write(unit.eviction);
    os << '\n';
  }
  return text;
}

/// Makes a workload of one model of two shards. Its units are the first shard's
/// forward, the second shard's forward and backward in one, and the first
/// shard's backward.
static MultiModelWorkload makeOneModel(bool doubleBuffer) {
  MultiModelWorkload workload;
  workload.doubleBuffer = doubleBuffer;
  workload.models.push_back(makeModel("a", 2, {2, 1}));
  for (ShardUnit &unit : workload.models.front().units) {
    unit.bytesIn = 3;
    unit.shardBytes = 2;
    unit.bytesOut = 1;
  }
  return workload;
}

TEST(MultiModelSimulationTest, fetchesTheNextUnitMeanwhile) {
  MultiModelRun run = simulateModels(makeOneModel(true), SchedulerKind::hydra);
  EXPECT_EQ(describe(run), "0: 0.0 0-3 3-5 5-6\n"
                           "0: 0.1 3-6 6-9 9-10\n"
                           "0: 0.2 6-9 9-15 15-16\n"
                           "0: 0.3 9-12 15-17 17-18\n"
                           "0: 0.4 15-18 18-21 21-22\n"
                           "0: 0.5 18-21 21-27 27-28\n");
  EXPECT_EQ(toSeconds(run.makespan), 27);
  EXPECT_EQ(run.readBytes, 6 * 3);
}

TEST(MultiModelSimulationTest, doesOneAfterTheOtherWithoutASecondBuffer) {
  MultiModelRun run = simulateModels(makeOneModel(false), SchedulerKind::hydra);
  EXPECT_EQ(describe(run), "0: 0.0 0-3 3-5 5-6\n"
                           "0: 0.1 6-9 9-12 12-13\n"
                           "0: 0.2 13-16 16-22 22-23\n"
                           "0: 0.3 23-26 26-28 28-29\n"
                           "0: 0.4 29-32 32-35 35-36\n"
                           "0: 0.5 36-39 39-45 45-46\n");
}

TEST(MultiModelSimulationTest, usesWhatDevicesHold) {
  // The first shard is still on the device when its backward and the next
  // forward use it. The second shard has been replaced by the time of its next
  // unit.
  MultiModelRun run = simulateModels(makeOneModel(true), SchedulerKind::lrtf);
  EXPECT_EQ(describe(run), "0: 0.0 0-3 3-5 5-6\n"
                           "0: 0.1 3-6 6-9 9-10\n"
                           "0: 0.2 6-7 9-15 15-16\n"
                           "0: 0.3 9-10 15-17 17-18\n"
                           "0: 0.4 15-16 17-20 20-21\n"
                           "0: 0.5 17-18 20-26 26-27\n");
  // With one buffer, a shard stays on the device only if the next unit uses the
  // same shard.
  run = simulateModels(makeOneModel(false), SchedulerKind::lrtf);
  EXPECT_EQ(run.readBytes, 3 + 3 + 3 + 1 + 3 + 3);
}

TEST(MultiModelSimulationTest, readsAgainWhatAnotherDeviceHasChanged) {
  std::mt19937 random(3);
  int reused = 0;
  for (int number = 0; number < 100; ++number) {
    MultiModelWorkload workload = makeMovingWorkload(random);
    MultiModelRun run = simulateModels(workload, SchedulerKind::lrtf);
    // The devices that have held the model's shard since its last change.
    std::map<std::pair<unsigned, int64_t>, std::set<unsigned>> holders;
    for (const ScheduledUnit &scheduled : run.units) {
      const std::vector<ShardUnit> &units =
          workload.models[scheduled.model].units;
      const ShardUnit &unit = units[scheduled.number % units.size()];
      std::set<unsigned> &holding = holders[{scheduled.model, unit.shard}];
      bool isReused = scheduled.readBytes < unit.bytesIn;
      EXPECT_EQ(scheduled.readBytes,
                unit.bytesIn - (isReused ? unit.shardBytes : 0));
      EXPECT_TRUE(!isReused || holding.count(scheduled.device));
      reused += isReused;
      if (unit.changesShard())
        holding.clear();
      holding.insert(scheduled.device);
    }
  }
  EXPECT_GT(reused, 300);
}

//===----------------------------------------------------------------------===//
// HYDRA's workload
//===----------------------------------------------------------------------===//

namespace {
/// The results of an independent simulation of HYDRA's main loop.
struct HydraFigures {
  double operations, bytes; ///< per second
  double makespan, utilization;
  double withoutBuffer; ///< this and the next two are multiples of `makespan`
  double modelParallel, pipeline;
};
} // namespace

static constexpr HydraFigures kHydraFigures[] = {
    {12e12, 12e9, 750.1, 0.999, 1.30, 7.99, 2.75},
    {30e12, 12e9, 307.7, 0.974, 1.71, 7.79, 2.68},
    {12e12, 3e9, 848.5, 0.883, 1.94, 7.06, 2.43},
    {50e12, 12e9, 206.4, 0.871, 1.96, 6.97, 2.40},
    {50e12, 6e9, 301.2, 0.597, 2.09, 4.78, 1.64}};

static double getSeconds(const MultiModelWorkload &workload,
                         SchedulerKind kind) {
  return toSeconds(simulateModels(workload, kind).makespan);
}

TEST(MultiModelSimulationTest, findsWhatIsKnownOfHydra) {
  for (const HydraFigures &figures : kHydraFigures) {
    SCOPED_TRACE(figures.makespan);
    auto expectNear = [](double found, double expected) {
      EXPECT_NEAR(found / expected, 1, 0.01);
    };
    MultiModelWorkload workload =
        makeHydraWorkload(figures.operations, figures.bytes);
    double hydra = getSeconds(workload, SchedulerKind::hydra);
    expectNear(hydra, figures.makespan);
    expectNear(workload.getSeconds() / 8 / hydra, figures.utilization);
    double alone =
        getSeconds(makeHydraWorkload(figures.operations, figures.bytes, false),
                   SchedulerKind::hydra);
    expectNear(alone / hydra, figures.withoutBuffer);
    for (const ScheduleFigures &schedule :
         compareSchedules(workload).schedules) {
      if (schedule.name == "model_parallel")
        expectNear(schedule.makespan / hydra, figures.modelParallel);
      if (schedule.name == "gpipe")
        expectNear(schedule.makespan / hydra, figures.pipeline);
    }
    // If HYDRA's scheduler estimates the remaining time in whole mini-batches
    // only, schedules become slightly longer.
    double batchwise =
        toSeconds(simulateModels(workload, *makeBatchwiseHydra()).makespan);
    EXPECT_GE(batchwise, hydra);
    EXPECT_LE(batchwise, 1.014 * hydra);
  }
}

TEST(MultiModelSimulationTest, isFasterThanHydraWhereTransfersBind) {
  std::vector<double> ratios;
  for (const HydraFigures &figures : kHydraFigures) {
    MultiModelWorkload workload =
        makeHydraWorkload(figures.operations, figures.bytes);
    MultiModelRun hydra = simulateModels(workload, SchedulerKind::hydra);
    MultiModelRun lrtf = simulateModels(workload, SchedulerKind::lrtf);
    EXPECT_LT(lrtf.readBytes, 0.89 * static_cast<double>(hydra.readBytes));
    ratios.push_back(static_cast<double>(hydra.makespan) /
                     static_cast<double>(lrtf.makespan));
    EXPECT_GE(ratios.back(), 0.99);
  }
  EXPECT_GE(ratios.back(), 1.03);
  ScheduleComparison comparison =
      compareSchedules(makeHydraWorkload(12e12, 12e9));
  auto get = [&](llvm::StringRef name) {
    return llvm::find_if(comparison.schedules,
                         [&](const ScheduleFigures &figures) {
                           return figures.name == name;
                         })
        ->makespan;
  };
  EXPECT_GE(get("model_parallel") / get("lrtf"), 7.5);
  EXPECT_GE(get("gpipe") / get("lrtf"), 2.5);
}

//===----------------------------------------------------------------------===//
// Invariants
//===----------------------------------------------------------------------===//

/// Checks that a device's units run one after another, each after its fetch.
static void checkDevice(llvm::ArrayRef<ScheduledUnit> units,
                        const MultiModelWorkload &workload) {
  const ScheduledUnit *last = nullptr;
  for (const ScheduledUnit &unit : units) {
    EXPECT_GE(unit.compute.begin, unit.fetch.end);
    EXPECT_GE(unit.eviction.begin, unit.compute.end);
    if (last) {
      EXPECT_GE(unit.compute.begin, last->compute.end);
      EXPECT_GE(unit.fetch.begin, workload.doubleBuffer ? last->compute.begin
                                                        : last->eviction.end);
      EXPECT_GE(unit.eviction.begin, last->eviction.end);
    }
    last = &unit;
  }
}

static void checkRun(const MultiModelWorkload &workload,
                     const MultiModelRun &run) {
  Ticks end = 0;
  int64_t bytes = 0;
  std::vector<Ticks> ready(workload.models.size());
  std::vector<int64_t> begun(workload.models.size());
  std::vector<std::vector<ScheduledUnit>> devices(workload.devices);
  for (const ScheduledUnit &unit : run.units) {
    EXPECT_EQ(unit.number, begun[unit.model]++);
    EXPECT_GE(unit.compute.begin, ready[unit.model]);
    ready[unit.model] = unit.compute.end;
    end = std::max(end, unit.compute.end);
    bytes += unit.readBytes;
    devices[unit.device].push_back(unit);
  }
  for (auto [model, count] : llvm::zip_equal(workload.models, begun))
    EXPECT_EQ(model.getUnitCount(), count);
  for (const std::vector<ScheduledUnit> &units : devices)
    checkDevice(units, workload);
  EXPECT_EQ(run.makespan, end);
  EXPECT_EQ(run.readBytes, bytes);
  EXPECT_GE(run.makespan, toTicks(workload.getLowerBound()) - 1);
}

TEST(MultiModelSimulationTest, keepsToTheRules) {
  std::mt19937 random(1);
  for (int number = 0; number < 200; ++number) {
    SCOPED_TRACE(number);
    MultiModelWorkload workload = number % 2 == 0 ? makeSmallWorkload(random)
                                                  : makeMovingWorkload(random);
    for (SchedulerKind kind : kSchedulerKinds) {
      MultiModelRun run = simulateModels(workload, kind);
      checkRun(workload, run);
      EXPECT_EQ(describe(run), describe(simulateModels(workload, kind)));
    }
  }
  checkRun(makeHydraWorkload(50e12, 6e9),
           simulateModels(makeHydraWorkload(50e12, 6e9), SchedulerKind::lrtf));
}

/// Returns the compute interval of each unit of `run` according to the event
/// simulator, which is given the run's assignments and bytes. Each unit becomes
/// two actions, because the fetch of the next unit starts when this unit
/// begins.
static std::vector<Interval> simulateEvents(const MultiModelWorkload &workload,
                                            const MultiModelRun &run) {
  Simulation simulation;
  std::vector<unsigned> computes, lastOfDevice(workload.devices, kNone);
  std::vector<unsigned> lastOfModel(workload.models.size(), kNone);
  simulation.machines.resize(workload.devices);
  simulation.queues.resize(workload.devices);
  for (unsigned device = 0; device < workload.devices; ++device) {
    simulation.queues[device].machine = device;
    simulation.add(SimulatedChannel{0, workload.readBytesPerSecond, true});
    simulation.add(SimulatedChannel{0, workload.writeBytesPerSecond, true});
  }
  std::vector<unsigned> lastModel(workload.devices, kNone);
  for (const ScheduledUnit &scheduled : run.units) {
    const std::vector<ShardUnit> &units =
        workload.models[scheduled.model].units;
    const ShardUnit &unit = units[scheduled.number % units.size()];
    unsigned device = scheduled.device;
    SimulatedMessage fetch;
    fetch.channel = 2 * device;
    fetch.bytes = scheduled.readBytes;
    if (lastOfDevice[device] != kNone)
      fetch.after.push_back(lastOfDevice[device]);
    // If the model's previous unit ran on another device, or another model ran
    // in between on this one, the unit is chosen only once the previous unit
    // has ended.
    if (lastOfModel[scheduled.model] != kNone &&
        (lastModel[device] != scheduled.model ||
         simulation.actions[lastOfModel[scheduled.model]].queue != device))
      fetch.after.push_back(lastOfModel[scheduled.model]);
    SimulatedAction start, compute;
    start.queue = compute.queue = device;
    start.messages.push_back(simulation.add(fetch));
    if (lastOfModel[scheduled.model] != kNone)
      start.after.push_back(lastOfModel[scheduled.model]);
    compute.seconds = unit.seconds;
    unsigned begun = simulation.add(start);
    unsigned ended = simulation.add(compute);
    SimulatedMessage eviction;
    eviction.channel = 2 * device + 1;
    eviction.bytes = unit.bytesOut;
    eviction.after.push_back(ended);
    unsigned evicted = simulation.add(eviction);
    lastOfDevice[device] = begun;
    if (!workload.doubleBuffer) {
      SimulatedAction written;
      written.queue = device;
      written.messages.push_back(evicted);
      lastOfDevice[device] = simulation.add(written);
    }
    lastOfModel[scheduled.model] = ended;
    lastModel[device] = scheduled.model;
    computes.push_back(ended);
  }
  SimulationResult result = simulate(simulation);
  EXPECT_TRUE(result.hasEnded());
  std::vector<Interval> intervals;
  for (unsigned compute : computes)
    intervals.push_back(result.actions[compute]);
  return intervals;
}

TEST(MultiModelSimulationTest, agreesWithTheSimulatorOfEvents) {
  std::mt19937 random(5);
  for (int number = 0; number < 100; ++number) {
    SCOPED_TRACE(number);
    MultiModelWorkload workload = makeMovingWorkload(random);
    for (SchedulerKind kind : {SchedulerKind::hydra, SchedulerKind::lrtf}) {
      MultiModelRun run = simulateModels(workload, kind);
      for (auto [unit, interval] :
           llvm::zip_equal(run.units, simulateEvents(workload, run))) {
        EXPECT_EQ(unit.compute.begin, interval.begin);
        EXPECT_EQ(unit.compute.end, interval.end);
      }
    }
  }
}
