//===- MultiModelFile.cpp - Workloads as JSON -----------------------------===//

#include "Common/JsonFields.h"
#include "Hfta/Planning/Models/MultiModelWorkload.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <optional>

using namespace mlir::hfta::planning;

// Limits that exceed any real value and keep sums over all units within 64
// bits.
static constexpr double kMostSeconds = 4e6;
static constexpr double kMostBytesPerSecond = 1e15;
static constexpr int64_t kMostBytes = 1000000000000000;

//===----------------------------------------------------------------------===//
// Bytes of shards
//===----------------------------------------------------------------------===//

/// Estimates the bytes of a shard: the bytes that its first unit reads, minus
/// the unit's input. The input is as large as the output of the forward before
/// the unit; for the model's first forward, it is taken to be as large as its
/// own output. Returns 0 in all other cases.
static int64_t guessShardBytes(const ShardedModel &model, int64_t shard) {
  const ShardUnit *before = nullptr;
  for (const ShardUnit &unit : model.units) {
    if (unit.shard == shard) {
      if (!before && unit.kind == UnitKind::forward)
        before = &unit;
      bool isKnown = before && before->kind == UnitKind::forward;
      return isKnown ? std::max<int64_t>(unit.bytesIn - before->bytesOut, 0)
                     : 0;
    }
    before = &unit;
  }
  return 0;
}

/// Sets `shardBytes` of the units for which the file doesn't give it.
static void fillShardBytes(ShardedModel &model,
                           const std::vector<bool> &isGiven) {
  std::vector<std::optional<int64_t>> guesses(model.units.size());
  for (auto [unit, given] : llvm::zip_equal(model.units, isGiven)) {
    if (given)
      continue;
    std::optional<int64_t> &guess = guesses[unit.shard];
    if (!guess)
      guess = guessShardBytes(model, unit.shard);
    unit.shardBytes = std::min(*guess, unit.bytesIn);
  }
}

//===----------------------------------------------------------------------===//
// Models
//===----------------------------------------------------------------------===//

static UnitKind readKind(JsonFields &fields) {
  constexpr UnitKind kinds[] = {UnitKind::forward, UnitKind::loss,
                                UnitKind::backward};
  llvm::SmallVector<llvm::StringRef> names;
  for (UnitKind kind : kinds)
    names.push_back(getName(kind));
  return kinds[fields.getChoice("kind", names)];
}

static void readUnits(JsonFields &reader, ShardedModel &model) {
  std::vector<bool> isGiven;
  auto readUnit = [&](JsonFields &fields) {
    ShardUnit &unit = model.units.emplace_back();
    unit.kind = readKind(fields);
    unit.shard = fields.getWhole("shard", 0, kMostScheduledUnits - 1);
    unit.seconds = fields.getNumber("seconds", {0, kMostSeconds});
    unit.bytesIn = fields.getWhole("bytes_in", 0, kMostBytes);
    unit.bytesOut = fields.getWhole("bytes_out", 0, kMostBytes);
    isGiven.push_back(fields.has("shard_bytes"));
    if (isGiven.back())
      unit.shardBytes = fields.getWhole("shard_bytes", 0, unit.bytesIn);
  };
  reader.forEachOfSome("units", readUnit, kMostScheduledUnits);
  for (auto [index, unit] : llvm::enumerate(model.units))
    if (unit.shard >= static_cast<int64_t>(model.units.size()))
      reader.say(("units[" + llvm::Twine(index) + "].shard").str(),
                 "expected a number below that of units, " +
                     llvm::Twine(model.units.size()) + ", got " +
                     llvm::Twine(unit.shard));
  if (reader.isGood())
    fillShardBytes(model, isGiven);
}

static void readModels(JsonFields &reader, MultiModelWorkload &workload) {
  llvm::StringSet<> names;
  int64_t units = 0;
  auto readModel = [&](JsonFields &fields) {
    ShardedModel &model = workload.models.emplace_back();
    model.name = fields.getText("name");
    if (!names.insert(model.name).second)
      fields.say("name", "second model '" + model.name + "'");
    model.batches = fields.getWhole("batches", 1, kMostScheduledUnits);
    readUnits(fields, model);
    units += model.getUnitCount();
    if (units > kMostScheduledUnits)
      fields.say("units", "expected at most " +
                              llvm::Twine(kMostScheduledUnits) +
                              " units in all mini-batches of all models, got " +
                              llvm::Twine(units) + " up to here");
  };
  reader.forEachOfSome("models", readModel, kMostScheduledModels);
}

/// Checks that all units, one after the other with their transfers, don't take
/// too long. No schedule takes longer than that.
static void checkTotal(JsonFields &reader, const MultiModelWorkload &workload) {
  double seconds = 0;
  for (const ShardedModel &model : workload.models)
    for (const ShardUnit &unit : model.units)
      seconds +=
          static_cast<double>(model.batches) *
          (unit.seconds +
           static_cast<double>(unit.bytesIn) / workload.readBytesPerSecond +
           static_cast<double>(unit.bytesOut) / workload.writeBytesPerSecond);
  if (seconds <= kMostSeconds)
    return;
  std::string message;
  llvm::raw_string_ostream(message)
      << "expected at most " << llvm::format("%g", kMostSeconds)
      << " seconds of units and transfers in all, got "
      << llvm::format("%g", seconds);
  reader.say("models", message);
}

llvm::Expected<MultiModelWorkload>
mlir::hfta::planning::readWorkload(llvm::StringRef text) {
  constexpr NumberRange rates = {1, kMostBytesPerSecond};
  MultiModelWorkload workload;
  std::string error = readFields(text, [&](JsonFields &reader) {
    workload.devices = reader.getWhole("devices", 1, kMostScheduledDevices);
    workload.readBytesPerSecond =
        reader.getNumber("read_bytes_per_second", rates);
    workload.writeBytesPerSecond =
        reader.getNumber("write_bytes_per_second", rates);
    workload.doubleBuffer = reader.getFlag("double_buffer", /*unless=*/true);
    readModels(reader, workload);
    reader.finish();
    checkTotal(reader, workload);
  });
  if (!error.empty())
    return llvm::createStringError(error);
  return workload;
}
