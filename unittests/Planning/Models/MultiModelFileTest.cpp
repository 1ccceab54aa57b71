//===- MultiModelFileTest.cpp - Workloads as JSON -------------------------===//

#include "Models/TestWorkloads.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

using namespace mlir::hfta::planning;

static constexpr char kGood[] = R"({
  "devices": 2, "read_bytes_per_second": 10, "write_bytes_per_second": 5.5,
  "double_buffer": false,
  "models": [
    {"name": "a", "batches": 3, "units": [
      {"kind": "f", "shard": 0, "seconds": 0.5, "bytes_in": 9, "bytes_out": 2},
      {"kind": "fl", "shard": 1, "seconds": 2, "bytes_in": 8, "bytes_out": 9,
       "shard_bytes": 5},
      {"kind": "b", "shard": 0, "seconds": 1.5, "bytes_in": 11,
       "bytes_out": 8}]},
    {"name": "b", "batches": 1, "units": [
      {"kind": "fl", "shard": 0, "seconds": 1, "bytes_in": 4, "bytes_out": 4}]}
  ]})";

static MultiModelWorkload read(llvm::StringRef text) {
  llvm::Expected<MultiModelWorkload> workload = readWorkload(text);
  if (workload)
    return std::move(*workload);
  ADD_FAILURE() << llvm::toString(workload.takeError());
  return {};
}

TEST(MultiModelFileTest, reads) {
  MultiModelWorkload workload = read(kGood);
  EXPECT_EQ(workload.devices, 2);
  EXPECT_EQ(workload.readBytesPerSecond, 10);
  EXPECT_EQ(workload.writeBytesPerSecond, 5.5);
  EXPECT_FALSE(workload.doubleBuffer);
  ASSERT_EQ(workload.models.size(), 2u);
  const ShardedModel &model = workload.models.front();
  EXPECT_EQ(model.name, "a");
  EXPECT_EQ(model.batches, 3);
  ASSERT_EQ(model.units.size(), 3u);
  EXPECT_EQ(model.units[1].kind, UnitKind::loss);
  EXPECT_EQ(model.units[1].shard, 1);
  EXPECT_EQ(model.units[2].seconds, 1.5);
  EXPECT_EQ(model.units[2].bytesIn, 11);
  EXPECT_EQ(model.units[2].bytesOut, 8);
  EXPECT_EQ(workload.getSeconds(), 3 * 4 + 1);
  EXPECT_EQ(workload.getLowerBound(), 12);
}

TEST(MultiModelFileTest, guessesWhatOfTheBytesIsTheShards) {
  MultiModelWorkload workload = read(kGood);
  const std::vector<ShardUnit> &units = workload.models.front().units;
  // For the first forward, the reader assumes that the input is as large as the
  // output, 2 bytes; the other 7 bytes are the shard's.
  EXPECT_EQ(units[0].shardBytes, 7);
  EXPECT_EQ(units[1].shardBytes, 5);
  EXPECT_EQ(units[2].shardBytes, 7);
  EXPECT_EQ(workload.models.back().units.front().shardBytes, 0);
  std::string text = kGood;
  text.replace(text.find("\"shard_bytes\": 5"), 16, "\"shard_bytes\": 8");
  EXPECT_EQ(read(text).models.front().units[1].shardBytes, 8);
  text.erase(text.find(",\n       \"shard_bytes\": 8"), 25);
  // The input is as large as the output of the forward before this unit, 2
  // bytes.
  EXPECT_EQ(read(text).models.front().units[1].shardBytes, 6);
}

/// Returns the workload as JSON without the shards' bytes.
static std::string write(const MultiModelWorkload &workload) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::json::OStream json(os);
  json.object([&] {
    json.attribute("devices", workload.devices);
    json.attribute("read_bytes_per_second", workload.readBytesPerSecond);
    json.attribute("write_bytes_per_second", workload.writeBytesPerSecond);
    json.attributeArray("models", [&] {
      for (const ShardedModel &model : workload.models)
        json.object([&] {
          json.attribute("name", model.name);
          json.attribute("batches", model.batches);
          json.attributeArray("units", [&] {
            for (const ShardUnit &unit : model.units)
              json.object([&] {
                json.attribute("kind", getName(unit.kind));
                json.attribute("shard", unit.shard);
                json.attribute("seconds", unit.seconds);
                json.attribute("bytes_in", unit.bytesIn);
                json.attribute("bytes_out", unit.bytesOut);
              });
          });
        });
    });
  });
  return text;
}

TEST(MultiModelFileTest, knowsTheShardsOfHydrasWorkload) {
  MultiModelWorkload workload = makeHydraWorkload(50e12, 6e9);
  MultiModelWorkload known = read(write(workload));
  EXPECT_TRUE(known.doubleBuffer);
  for (auto [one, other] : llvm::zip_equal(workload.models, known.models))
    for (auto [unit, read] : llvm::zip_equal(one.units, other.units))
      EXPECT_EQ(unit.shardBytes, read.shardBytes);
  EXPECT_EQ(simulateModels(workload, SchedulerKind::lrtf).makespan,
            simulateModels(known, SchedulerKind::lrtf).makespan);
}

static std::string getError(llvm::StringRef from, llvm::StringRef to) {
  std::string text = kGood;
  size_t at = text.find(from.str());
  EXPECT_NE(at, std::string::npos);
  text.replace(at, from.size(), to.str());
  llvm::Expected<MultiModelWorkload> workload = readWorkload(text);
  return workload ? "" : llvm::toString(workload.takeError());
}

TEST(MultiModelFileTest, saysWhatIsWrong) {
  EXPECT_EQ(getError("\"devices\": 2", "\"devices\": 0"),
            "devices: expected a whole number from 1 to 256, got 0");
  EXPECT_EQ(getError("\"devices\": 2,", ""),
            "devices: expected a whole number from 1 to 256, but the field is "
            "missing");
  EXPECT_EQ(getError("second\": 10", "second\": 0"),
            "read_bytes_per_second: expected a number from 1 to 1e+15, got 0");
  EXPECT_EQ(getError("second\": 5.5", "second\": \"5\""),
            "write_bytes_per_second: expected a number from 1 to 1e+15, got "
            "\"5\"");
  EXPECT_EQ(getError("false", "0"),
            "double_buffer: expected true or false, got 0");
  EXPECT_EQ(getError("\"name\": \"b\"", "\"name\": \"a\""),
            "models[1].name: second model 'a'");
  EXPECT_EQ(getError("\"name\": \"b\"", "\"name\": \"\""),
            "models[1].name: expected a text, got \"\"");
  EXPECT_EQ(getError("\"batches\": 3", "\"batches\": 0.5"),
            "models[0].batches: expected a whole number from 1 to 131072, got "
            "0.5");
  EXPECT_EQ(getError("\"batches\": 3", "\"batches\": 90000"),
            "models[0].units: expected at most 131072 units in all "
            "mini-batches of all models, got 270000 up to here");
  EXPECT_EQ(getError("\"kind\": \"fl\"", "\"kind\": \"l\""),
            "models[0].units[1].kind: expected \"f\", \"fl\" or \"b\", got "
            "\"l\"");
  EXPECT_EQ(getError("\"shard\": 1", "\"shard\": 3"),
            "models[0].units[1].shard: expected a number below that of units, "
            "3, got 3");
  EXPECT_EQ(getError("\"seconds\": 2", "\"seconds\": -2"),
            "models[0].units[1].seconds: expected a number from 0 to 4e+06, "
            "got -2");
  EXPECT_EQ(getError("\"seconds\": 2", "\"seconds\": 1e999").substr(0, 46),
            "models[0].units[1].seconds: expected a number ");
  EXPECT_EQ(getError("\"shard_bytes\": 5", "\"shard_bytes\": 9"),
            "models[0].units[1].shard_bytes: expected a whole number from 0 to "
            "8, got 9");
  EXPECT_EQ(getError("\"batches\": 3,", "\"batches\": 3, \"lr\": 1,"),
            "models[0].lr: unknown field");
  EXPECT_EQ(getError("\"seconds\": 2", "\"seconds\": 3e6"),
            "models: expected at most 4e+06 seconds of units and transfers in "
            "all, got 9.00003e+06");
  EXPECT_EQ(getError(kGood, "[]"), "expected an object");
}

//===----------------------------------------------------------------------===//
// Output
//===----------------------------------------------------------------------===//

TEST(MultiModelFileTest, prints) {
  ScheduleComparison comparison = compareSchedules(read(kGood));
  std::string table, json;
  llvm::raw_string_ostream tableStream(table), jsonStream(json);
  printComparison(comparison, tableStream);
  writeComparison(comparison, jsonStream);
  EXPECT_TRUE(llvm::StringRef(table).starts_with("lower bound 12 s\n\n"
                                                 "scheduler "))
      << table;
  EXPECT_TRUE(llvm::StringRef(json).starts_with(R"({
  "lower_bound": 12,
  "schedulers": {
    "lrtf": {
      "makespan": )"))
      << json;
  EXPECT_NE(table.find("\nexact "), std::string::npos);
  EXPECT_NE(json.find(R"(
    "gpipe": {
      "makespan": 8.125,
      "utilization": 0.80000000000000004,
      "read_bytes": 0
    }
  }
})"),
            std::string::npos)
      << json;
}

TEST(MultiModelFileTest, printsWhatIsTooLarge) {
  ScheduleComparison comparison =
      compareSchedules(makeHydraWorkload(12e12, 12e9));
  std::string table, json;
  llvm::raw_string_ostream tableStream(table), jsonStream(json);
  printComparison(comparison, tableStream);
  writeComparison(comparison, jsonStream);
  EXPECT_NE(table.find("exact             too large"), std::string::npos);
  EXPECT_NE(json.find("\"exact\": null,"), std::string::npos);
}

TEST(MultiModelFileTest, draws) {
  MultiModelWorkload workload = read(kGood);
  MultiModelRun run = simulateModels(workload, SchedulerKind::lrtf);
  Timeline timeline = getTimeline(workload, run, "two models");
  ASSERT_EQ(timeline.rows.size(), 2u);
  ASSERT_EQ(timeline.bars.size(), 3 * run.units.size());
  EXPECT_EQ(timeline.bars.front().title, "b, batch 0, fl of shard 0");
  EXPECT_EQ(timeline.bars.front().kind, BarKind::other);
  EXPECT_EQ(timeline.bars[1].kind, BarKind::read);
  EXPECT_EQ(timeline.bars[1].end, 0.4);
}
