//===- MeasuredCosts.cpp - Times that a program has measured --------------===//

#include "Hfta/Planning/Common/MeasuredCosts.h"
#include "Common/JsonFields.h"

#include <algorithm>

using namespace mlir::hfta::planning;

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// A time in seconds, at most a few days.
static constexpr NumberRange kSeconds = {0, 1e6};
static constexpr NumberRange kBytesPerSecond = {1, 1e15};
static constexpr NumberRange kCount = {0, 1e12};

static MeasuredLink readLink(JsonFields &fields) {
  MeasuredLink link;
  std::vector<int64_t> ranks = fields.getWholes("ranks", 0);
  if (ranks.size() == 2)
    std::copy(ranks.begin(), ranks.end(), link.ranks);
  else
    fields.say("ranks", "expected the numbers of two ranks, got " +
                            llvm::Twine(ranks.size()));
  link.latency = fields.getNumber("latency", kSeconds);
  link.bytesPerSecond = fields.getNumber("bytes_per_second", kBytesPerSecond);
  if (fields.has("slowdown"))
    link.slowdown = std::max(1.0, fields.getNumber("slowdown", {1, 1e3}));
  return link;
}

static StoreRates readStore(JsonFields &fields) {
  StoreRates store;
  store.readBytesPerSecond =
      fields.getNumber("read_bytes_per_second", kBytesPerSecond);
  store.writeBytesPerSecond =
      fields.getNumber("write_bytes_per_second", kBytesPerSecond);
  store.secondsPerTransfer = fields.getNumber("seconds_per_transfer", kSeconds);
  store.isShared = fields.getFlag("shared");
  return store;
}

static void readTask(JsonFields &fields, MeasuredCosts &costs) {
  std::string name = fields.getText("name");
  MeasuredTask measured;
  measured.seconds = fields.getNumber("seconds", kSeconds);
  if (fields.has("runs"))
    measured.runs = fields.getNumber("runs", kCount);
  if (fields.has("copies"))
    measured.copies = fields.getNumber("copies", kCount);
  if (!costs.tasks.try_emplace(name, measured).second)
    fields.say("name", "expected another name, '" + name + "' is there twice");
}

llvm::Expected<MeasuredCosts>
mlir::hfta::planning::readCosts(llvm::StringRef text) {
  MeasuredCosts costs;
  std::string error = readFields(text, [&](JsonFields &fields) {
    costs.model = fields.getText("model");
    costs.cuts = fields.getLists("cuts");
    costs.copies = fields.getWhole("copies", 1);
    costs.batch = fields.getWhole("batch", 1);
    costs.microBatches = fields.getWhole("micro_batches", 1);
    fields.forEach("tasks", [&](JsonFields &task) { readTask(task, costs); });
    if (fields.has("links"))
      fields.forEach("links", [&](JsonFields &link) {
        costs.links.push_back(readLink(link));
      });
    if (fields.has("store"))
      fields.readObject(
          "store", [&](JsonFields &store) { costs.store = readStore(store); });
    // Ignore the other measurements that bench prints.
    fields.ignore({"copies_at_once", "steps", "ranks", "threads", "seconds",
                   "samples_per_second", "peak_bytes", "store_read_bytes",
                   "store_written_bytes", "rank_times"});
  });
  if (!error.empty())
    return llvm::createStringError(error);
  return costs;
}

//===----------------------------------------------------------------------===//
// Links
//===----------------------------------------------------------------------===//

/// Sets `result` to the median of the values, on which a single outlier has no
/// influence. Does nothing if there are no values.
static void setMedian(std::vector<double> values, double &result) {
  if (values.empty())
    return;
  auto middle =
      values.begin() + static_cast<ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  result = *middle;
}

void mlir::hfta::planning::measureLinks(Cluster &cluster,
                                        const MeasuredCosts &costs) {
  std::vector<double> inside, across, latencies, slowdowns;
  for (const MeasuredLink &link : costs.links) {
    auto [one, other] = link.ranks;
    if (std::max(one, other) >= cluster.getDeviceCount())
      continue;
    bool isInside = cluster.getMachineOf(one) == cluster.getMachineOf(other);
    (isInside ? inside : across).push_back(link.bytesPerSecond);
    latencies.push_back(link.latency);
    slowdowns.push_back(link.slowdown);
  }
  setMedian(inside, cluster.link);
  setMedian(across, cluster.network);
  setMedian(across, cluster.pointToPoint);
  setMedian(latencies, cluster.latency);
  setMedian(slowdowns, cluster.slowdown);
}
