//===- TestWorkloads.h - Several models on several devices ------*- C++ -*-===//

#ifndef HFTA_UNITTESTS_PLANNING_MODELS_TESTWORKLOADS_H
#define HFTA_UNITTESTS_PLANNING_MODELS_TESTWORKLOADS_H

#include "Hfta/Planning/Models/MultiModelSimulation.h"

#include <random>

namespace mlir::hfta::planning {

/// Makes a model whose shards take `seconds` for a forward. Its units are the
/// forwards of all shards but the last, the last shard's forward and backward
/// in one unit, and the backwards. Backwards and the last shard's unit take
/// three times as long as a forward.
inline ShardedModel makeModel(std::string name, int64_t batches,
                              const std::vector<double> &seconds) {
  ShardedModel model;
  model.name = std::move(name);
  model.batches = batches;
  auto last = static_cast<int64_t>(seconds.size()) - 1;
  auto add = [&](UnitKind kind, int64_t shard) {
    double factor = kind == UnitKind::forward ? 1 : 3;
    model.units.push_back({kind, shard, factor * seconds[shard], 0, 0, 0});
  };
  for (int64_t shard = 0; shard < last; ++shard)
    add(UnitKind::forward, shard);
  add(UnitKind::loss, last);
  for (int64_t shard = last - 1; shard >= 0; --shard)
    add(UnitKind::backward, shard);
  return model;
}

/// Makes the workload of HYDRA's publication on 8 devices: twelve models of
/// 1.56e9 parameters. Six have 14 shards and 16 samples of 512 tokens per
/// batch; six have 9 shards and 8 samples. A device computes `operations`
/// floating-point operations per second; a channel transfers `bytes` bytes per
/// second.
inline MultiModelWorkload makeHydraWorkload(double operations, double bytes,
                                            bool doubleBuffer = true) {
  MultiModelWorkload workload;
  workload.devices = 8;
  workload.readBytesPerSecond = workload.writeBytesPerSecond = bytes;
  workload.doubleBuffer = doubleBuffer;
  for (int number = 0; number < 12; ++number) {
    bool isFirst = number < 6;
    double samples = isFirst ? 16 : 8;
    int64_t shards = isFirst ? 14 : 9;
    double parameters = 1.56e9 / static_cast<double>(shards);
    auto shardBytes = static_cast<int64_t>(4 * parameters);
    auto valueBytes = static_cast<int64_t>(samples * 512 * 1600 * 4);
    double seconds = 2 * parameters * samples * 512 / operations;
    ShardedModel model =
        makeModel("model " + std::to_string(number), isFirst ? 60 : 120,
                  std::vector<double>(shards, seconds));
    for (ShardUnit &unit : model.units) {
      bool isBackward = unit.kind == UnitKind::backward;
      unit.bytesIn = shardBytes + (isBackward ? 2 : 1) * valueBytes;
      unit.bytesOut = (unit.changesShard() ? shardBytes : 0) + valueBytes;
      unit.shardBytes = shardBytes;
    }
    workload.models.push_back(std::move(model));
  }
  return workload;
}

/// Makes a random workload of 3 to 5 models with 2 to 4 shards on 2 or 3
/// devices. Units transfer no bytes.
inline MultiModelWorkload makeSmallWorkload(std::mt19937 &random) {
  auto draw = [&](int64_t least, int64_t most) {
    return least + static_cast<int64_t>(random() % (most - least + 1));
  };
  MultiModelWorkload workload;
  workload.devices = draw(2, 3);
  for (int64_t number = draw(3, 5); number > 0; --number) {
    std::vector<double> seconds(draw(2, 4));
    for (double &forward : seconds)
      forward = static_cast<double>(draw(1, 10));
    workload.models.push_back(
        makeModel("model " + std::to_string(number), draw(1, 2), seconds));
  }
  return workload;
}

/// Makes a workload like makeSmallWorkload, but with transfers: of each unit's
/// bytes, some belong to its shard.
inline MultiModelWorkload makeMovingWorkload(std::mt19937 &random) {
  MultiModelWorkload workload = makeSmallWorkload(random);
  workload.doubleBuffer = random() % 4 != 0;
  workload.readBytesPerSecond = static_cast<double>(1 + random() % 4);
  workload.writeBytesPerSecond = static_cast<double>(1 + random() % 4);
  for (ShardedModel &model : workload.models)
    for (ShardUnit &unit : model.units) {
      unit.shardBytes = 3 + unit.shard;
      unit.bytesIn = unit.shardBytes + static_cast<int64_t>(1 + random() % 4);
      unit.bytesOut = static_cast<int64_t>(random() % 8);
    }
  return workload;
}

inline MultiModelRun simulateModels(const MultiModelWorkload &workload,
                                    SchedulerKind kind) {
  return simulateModels(workload, *makeScheduler(kind));
}

} // namespace mlir::hfta::planning

#endif // HFTA_UNITTESTS_PLANNING_MODELS_TESTWORKLOADS_H
