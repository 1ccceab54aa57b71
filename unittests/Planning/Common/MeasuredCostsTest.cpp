//===- MeasuredCostsTest.cpp - Times that a program has measured ----------===//

#include "Hfta/Planning/Common/MeasuredCosts.h"
#include "gtest/gtest.h"

using namespace mlir::hfta::planning;

static const char kCosts[] = R"({
  "model": "0f", "cuts": [["a"], ["b", "skip"]], "copies": 2, "batch": 64, "micro_batches": 8, "steps": 5,
  "tasks": [{"name": "forward.0", "runs": 8, "seconds": 0.25},
            {"name": "update.0", "runs": 1, "seconds": 0}],
  "links": [
    {"ranks": [0, 1], "latency": 1e-5, "bytes_per_second": 4e9},
    {"ranks": [0, 2], "latency": 3e-5, "bytes_per_second": 1e8,
     "slowdown": 1.25},
    {"ranks": [1, 2], "latency": 2e-5, "bytes_per_second": 2e8,
     "slowdown": 1.5},
    {"ranks": [0, 3], "latency": 1, "bytes_per_second": 1}]})";

TEST(MeasuredCostsTest, readsWhatBenchPrints) {
  llvm::Expected<MeasuredCosts> costs = readCosts(kCosts);
  ASSERT_TRUE(bool(costs)) << llvm::toString(costs.takeError());
  EXPECT_EQ(costs->model, "0f");
  EXPECT_EQ(costs->cuts,
            (std::vector<std::vector<std::string>>{{"a"}, {"b", "skip"}}));
  EXPECT_EQ(costs->copies, 2);
  EXPECT_EQ(costs->batch, 64);
  EXPECT_EQ(costs->microBatches, 8);
  EXPECT_EQ(costs->getSeconds("forward.0"), 0.25);
  EXPECT_EQ(costs->getSeconds("forward.1"), 0);
  EXPECT_EQ(costs->tasks.lookup("forward.0").runs, 8);
  EXPECT_EQ(costs->links.size(), 4u);
}

TEST(MeasuredCostsTest, takesLinksOfTheClustersDevices) {
  llvm::Expected<MeasuredCosts> costs = readCosts(kCosts);
  ASSERT_TRUE(bool(costs));
  Cluster cluster;
  cluster.devices = {2, 1};
  measureLinks(cluster, *costs);
  EXPECT_EQ(cluster.link, 4e9);
  EXPECT_EQ(cluster.network, 1e8);
  EXPECT_EQ(cluster.pointToPoint, 1e8);
  EXPECT_EQ(cluster.latency, 2e-5);
  EXPECT_EQ(cluster.slowdown, 1.25);
  // Values that weren't measured keep their defaults.
  Cluster one;
  one.devices = {1};
  measureLinks(one, *costs);
  EXPECT_EQ(one.link, Cluster().link);
  EXPECT_EQ(one.latency, 0);
}

TEST(MeasuredCostsTest, readsTheStore) {
  std::string text = kCosts;
  EXPECT_FALSE(readCosts(text)->store);
  text.insert(1, R"("store": {"read_bytes_per_second": 2e9, "shared": true,
    "write_bytes_per_second": 1e9, "seconds_per_transfer": 1e-4},)");
  llvm::Expected<MeasuredCosts> costs = readCosts(text);
  ASSERT_TRUE(bool(costs)) << llvm::toString(costs.takeError());
  EXPECT_EQ(costs->store->readBytesPerSecond, 2e9);
  EXPECT_EQ(costs->store->writeBytesPerSecond, 1e9);
  EXPECT_EQ(costs->store->secondsPerTransfer, 1e-4);
  EXPECT_TRUE(costs->store->isShared);
}

TEST(MeasuredCostsTest, refusesOtherFiles) {
  struct {
    const char *from, *to, *message;
  } rows[] = {
      {"\"0f\"", "15", "model: expected a text"},
      {"\"runs\"", "\"run\"", "tasks[0].run: unknown field"},
      {"\"slowdown\"", "\"slow_down\"", "links[1].slow_down: unknown field"},
      {"\"links\"", "\"link\"", "link: unknown field"},
      {"\"steps\"", "\"step\"", "step: unknown field"},
      {"\"latency\"", "\"latencies\"",
       "links[0].latency: expected a number from 0 to 1e+06, but the field is "
       "missing"},
      {"\"cuts\"", "\"cut\"", "cuts: expected an array"},
      {"[\"a\"]", "\"a\"", "cuts[0]: expected an array of names"},
      {"[\"a\"]", "[]", "cuts[0]: expected an array of names"},
      {"\"skip\"", "3", "cuts[1]: expected an array of names"},
      {"\"batch\": 64", "\"batch\": 0", "batch: expected a whole number"},
      {"\"micro_batches\": 8, ", "", "micro_batches: expected"},
      {"\"tasks\"", "\"task\"", "tasks: expected an array"},
      {"forward.0", "update.0", "tasks[1].name: expected another name"},
      {"0.25", "-1", "tasks[0].seconds: expected a number from 0 to 1e+06"},
      {"[0, 1]", "[0]", "links[0].ranks: expected the numbers of two ranks"},
      {"4e9", "0",
       "links[0].bytes_per_second: expected a number from 1 to 1e+15"},
      {"1.25", "0", "links[1].slowdown: expected a number from 1 to 1000"},
      {"8, \"sec", "-1, \"sec",
       "tasks[0].runs: expected a number from 0 to 1e+12"},
      {"\"links\"", "\"store\": 3, \"links\"", "store: expected an object"},
      {"\"links\"", "\"store\": {\"read_bytes_per_second\": 0}, \"links\"",
       "store.read_bytes_per_second: expected a number from 1 to 1e+15"},
      {"\"links\"",
       "\"store\": {\"read_bytes_per_second\": 1, \"write_bytes_per_second\": "
       "1, \"seconds_per_transfer\": 0, \"shared\": 1}, \"links\"",
       "store.shared: expected true or false"},
  };
  for (const auto &row : rows) {
    std::string damaged = kCosts;
    size_t at = damaged.find(row.from);
    ASSERT_NE(at, std::string::npos) << row.from;
    damaged.replace(at, std::string(row.from).size(), row.to);
    llvm::Expected<MeasuredCosts> costs = readCosts(damaged);
    ASSERT_FALSE(bool(costs)) << row.to;
    std::string error = llvm::toString(costs.takeError());
    EXPECT_NE(error.find(row.message), std::string::npos) << error;
  }
  llvm::Expected<MeasuredCosts> deep = readCosts(std::string(100000, '['));
  EXPECT_FALSE(bool(deep));
  llvm::consumeError(deep.takeError());
}
