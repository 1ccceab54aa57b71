//===- MeasuredCosts.cpp - Times that a program has measured --------------===//

#include "Hfta/Planning/MeasuredCosts.h"
#include "ParseJson.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"

#include <algorithm>
#include <cmath>

using namespace mlir::hfta::planning;
namespace json = llvm::json;

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {

/// Reads fields of one object and keeps the first error.
class CostsReader {
public:
  CostsReader(const json::Object &object, std::string path, std::string &error)
      : object(object), path(std::move(path)), error(error) {}

  int64_t getWhole(llvm::StringRef key, int64_t least) {
    std::optional<int64_t> value = object.getInteger(key);
    if (value && *value >= least)
      return *value;
    fail(key, "a whole number of at least " + llvm::Twine(least));
    return least;
  }
  /// Reads a time in seconds, at most a few days.
  double getSeconds(llvm::StringRef key) { return getNumber(key, 0, 1e6); }
  double getNumber(llvm::StringRef key, double least, double most) {
    std::optional<double> value = object.getNumber(key);
    if (value && *value >= least && *value <= most)
      return *value;
    std::string text;
    llvm::raw_string_ostream(text)
        << "a number from " << llvm::format("%g", least) << " to "
        << llvm::format("%g", most);
    fail(key, text);
    return 1;
  }
  llvm::StringRef getText(llvm::StringRef key) {
    std::optional<llvm::StringRef> text = object.getString(key);
    if (text && !text->empty())
      return *text;
    fail(key, "a text");
    return "";
  }
  /// Calls `read` with a reader of each object in an array.
  template <typename Read>
  void forEach(llvm::StringRef key, bool isOptional, const Read &read) {
    const json::Array *array = object.getArray(key);
    if (!array && isOptional && !object.get(key))
      return;
    if (!array)
      return fail(key, "an array");
    for (auto [index, value] : llvm::enumerate(*array)) {
      std::string place = (key + "[" + llvm::Twine(index) + "]").str();
      const json::Object *inner = value.getAsObject();
      if (!inner)
        return fail(place, "an object");
      CostsReader reader(*inner, path + place + ".", error);
      read(reader);
      if (!error.empty())
        return;
    }
  }
  void fail(llvm::StringRef key, const llvm::Twine &expected) {
    if (error.empty())
      error = (path + key + ": expected " + expected).str();
  }
  const json::Object &getObject() const { return object; }

private:
  const json::Object &object;
  std::string path;
  std::string &error;
};

} // namespace

static MeasuredLink readLink(CostsReader &reader) {
  MeasuredLink link;
  const json::Array *ranks = reader.getObject().getArray("ranks");
  bool isPair = ranks && ranks->size() == 2;
  for (int side = 0; isPair && side < 2; ++side) {
    std::optional<int64_t> rank = (*ranks)[side].getAsInteger();
    isPair = rank && *rank >= 0;
    link.ranks[side] = rank.value_or(0);
  }
  if (!isPair)
    reader.fail("ranks", "the numbers of two ranks");
  link.latency = reader.getSeconds("latency");
  link.bytesPerSecond = reader.getNumber("bytes_per_second", 1, 1e15);
  if (reader.getObject().get("slowdown"))
    link.slowdown = std::max(1.0, reader.getNumber("slowdown", 1, 1e3));
  return link;
}

static StoreRates readStore(CostsReader &reader) {
  StoreRates store;
  store.readBytesPerSecond = reader.getNumber("read_bytes_per_second", 1, 1e15);
  store.writeBytesPerSecond =
      reader.getNumber("write_bytes_per_second", 1, 1e15);
  store.secondsPerTransfer = reader.getSeconds("seconds_per_transfer");
  std::optional<bool> isShared = reader.getObject().getBoolean("shared");
  if (!isShared)
    reader.fail("shared", "true or false");
  store.isShared = isShared.value_or(false);
  return store;
}

/// Reads lists of names.
static std::vector<std::vector<std::string>> readCuts(CostsReader &reader) {
  std::vector<std::vector<std::string>> cuts;
  const json::Array *list = reader.getObject().getArray("cuts");
  if (!list) {
    reader.fail("cuts", "an array");
    return cuts;
  }
  for (auto [index, value] : llvm::enumerate(*list)) {
    std::vector<std::string> &cut = cuts.emplace_back();
    if (const json::Array *names = value.getAsArray())
      for (const json::Value &name : *names)
        cut.push_back(name.getAsString().value_or("").str());
    if (cut.empty() || llvm::is_contained(cut, ""))
      reader.fail(("cuts[" + llvm::Twine(index) + "]").str(),
                  "an array of names");
  }
  return cuts;
}

llvm::Expected<MeasuredCosts>
mlir::hfta::planning::readCosts(llvm::StringRef text) {
  llvm::Expected<json::Value> value = parseJson(text);
  if (!value)
    return value.takeError();
  const json::Object *object = value->getAsObject();
  if (!object)
    return llvm::createStringError("expected an object");
  std::string error;
  MeasuredCosts costs;
  CostsReader reader(*object, "", error);
  costs.model = reader.getText("model");
  costs.cuts = readCuts(reader);
  costs.copies = reader.getWhole("copies", 1);
  costs.batch = reader.getWhole("batch", 1);
  costs.microBatches = reader.getWhole("micro_batches", 1);
  reader.forEach("tasks", /*isOptional=*/false, [&](CostsReader &task) {
    llvm::StringRef name = task.getText("name");
    MeasuredTask measured;
    measured.seconds = task.getSeconds("seconds");
    if (task.getObject().get("runs"))
      measured.runs = task.getNumber("runs", 0, 1e12);
    if (task.getObject().get("copies"))
      measured.copies = task.getNumber("copies", 0, 1e12);
    if (!costs.tasks.try_emplace(name, measured).second)
      task.fail("name", "another name, '" + name + "' is there twice");
  });
  reader.forEach("links", /*isOptional=*/true, [&](CostsReader &link) {
    costs.links.push_back(readLink(link));
  });
  if (const json::Value *store = object->get("store")) {
    const json::Object *inner = store->getAsObject();
    if (inner) {
      CostsReader rates(*inner, "store.", error);
      costs.store = readStore(rates);
    } else {
      reader.fail("store", "an object");
    }
  }
  if (!error.empty())
    return llvm::createStringError(error);
  return costs;
}

//===----------------------------------------------------------------------===//
// Links
//===----------------------------------------------------------------------===//

/// Sets `result` to the median, which no single disturbance moves; does nothing
/// if there are no values.
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
