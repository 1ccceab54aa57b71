//===- MultiModelFile.cpp - Workloads as JSON -----------------------------===//

#include "Hfta/Planning/MultiModelWorkload.h"
#include "ParseJson.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <optional>
#include <set>

using namespace mlir::hfta::planning;
namespace json = llvm::json;

// These exceed any real value, and sums over all units still fit in 64 bits.
static constexpr double kMostSeconds = 4e6;
static constexpr double kMostBytesPerSecond = 1e15;
static constexpr int64_t kMostBytes = 1000000000000000;

namespace {

/// Reads fields of one object. The first error of the file is kept.
class FieldReader {
public:
  FieldReader(const json::Object &object, std::string path, std::string &error)
      : object(object), path(std::move(path)), error(error) {}

  int64_t getWhole(llvm::StringRef key, int64_t least, int64_t most) {
    const json::Value *found = get(key);
    std::optional<int64_t> value = found ? found->getAsInteger() : std::nullopt;
    if (value && *value >= least && *value <= most)
      return *value;
    fail(key, found,
         "a whole number from " + llvm::Twine(least) + " to " +
             llvm::Twine(most));
    return least;
  }
  double getNumber(llvm::StringRef key, double least, double most) {
    const json::Value *found = get(key);
    std::optional<double> value = found ? found->getAsNumber() : std::nullopt;
    if (value && *value >= least && *value <= most)
      return *value;
    std::string expected;
    llvm::raw_string_ostream(expected)
        << "a number from " << llvm::format("%g", least) << " to "
        << llvm::format("%g", most);
    fail(key, found, expected);
    return most;
  }
  bool getFlag(llvm::StringRef key, bool unless) {
    const json::Value *found = get(key);
    std::optional<bool> value = found ? found->getAsBoolean() : unless;
    if (!value)
      fail(key, found, "true or false");
    return value.value_or(unless);
  }
  std::string getText(llvm::StringRef key) {
    const json::Value *found = get(key);
    std::optional<llvm::StringRef> text =
        found ? found->getAsString() : std::nullopt;
    if (text && !text->empty())
      return text->str();
    fail(key, found, "a text");
    return "";
  }
  UnitKind getKind(llvm::StringRef key) {
    const json::Value *found = get(key);
    std::optional<llvm::StringRef> text =
        found ? found->getAsString() : std::nullopt;
    for (UnitKind kind :
         {UnitKind::forward, UnitKind::loss, UnitKind::backward})
      if (text == getName(kind))
        return kind;
    fail(key, found, R"("f", "fl" or "b")");
    return UnitKind::forward;
  }
  /// Calls `read` with a reader of each object in an array of at most `most`.
  template <typename Read>
  void forEach(llvm::StringRef key, int64_t most, const Read &read) {
    const json::Value *found = get(key);
    const json::Array *array = found ? found->getAsArray() : nullptr;
    if (!array || array->empty())
      return fail(key, found, "an array that isn't empty");
    if (static_cast<int64_t>(array->size()) > most)
      return say(key, "expected at most " + llvm::Twine(most) + ", got " +
                          llvm::Twine(array->size()));
    for (auto [index, value] : llvm::enumerate(*array)) {
      std::string place = (key + "[" + llvm::Twine(index) + "]").str();
      const json::Object *inner = value.getAsObject();
      if (!inner)
        return fail(place, &value, "an object");
      FieldReader reader(*inner, path + place + ".", error);
      read(reader);
      reader.finish();
      if (!error.empty())
        return;
    }
  }
  /// Returns whether the file has no error so far.
  bool isGood() const { return error.empty(); }
  bool has(llvm::StringRef key) const { return object.get(key); }
  void say(llvm::StringRef key, const llvm::Twine &message) {
    if (error.empty())
      error = (path + key + ": " + message).str();
  }
  /// Reports every field that hasn't been read as an error.
  void finish() {
    std::set<llvm::StringRef> unknown;
    for (const auto &entry : object)
      if (!known.contains(entry.first))
        unknown.insert(entry.first);
    if (!unknown.empty())
      say(*unknown.begin(), "unknown field");
  }

private:
  const json::Value *get(llvm::StringRef key) {
    known.insert(key);
    return object.get(key);
  }
  void fail(llvm::StringRef key, const json::Value *found,
            const llvm::Twine &expected) {
    std::string message;
    llvm::raw_string_ostream os(message);
    os << "expected " << expected;
    if (!found)
      os << ", but the field is missing";
    else if (!found->getAsArray() && !found->getAsObject())
      os << ", got " << *found;
    say(key, message);
  }

  const json::Object &object;
  std::string path;
  std::string &error;
  llvm::StringSet<> known;
};

} // namespace

//===----------------------------------------------------------------------===//
// Bytes of shards
//===----------------------------------------------------------------------===//

/// Estimates the bytes that the shard's first unit reads besides its input. The
/// input is the output of the forward before it; for the model's first unit,
/// which has none, it counts as large as its own output.
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

/// Fills in the bytes of units that don't specify them.
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

static void readUnits(FieldReader &reader, ShardedModel &model) {
  std::vector<bool> isGiven;
  reader.forEach("units", kMostScheduledUnits, [&](FieldReader &fields) {
    ShardUnit &unit = model.units.emplace_back();
    unit.kind = fields.getKind("kind");
    unit.shard = fields.getWhole("shard", 0, kMostScheduledUnits - 1);
    unit.seconds = fields.getNumber("seconds", 0, kMostSeconds);
    unit.bytesIn = fields.getWhole("bytes_in", 0, kMostBytes);
    unit.bytesOut = fields.getWhole("bytes_out", 0, kMostBytes);
    isGiven.push_back(fields.has("shard_bytes"));
    if (isGiven.back())
      unit.shardBytes = fields.getWhole("shard_bytes", 0, unit.bytesIn);
  });
  for (auto [index, unit] : llvm::enumerate(model.units))
    if (unit.shard >= static_cast<int64_t>(model.units.size()))
      reader.say(("units[" + llvm::Twine(index) + "].shard").str(),
                 "expected a number below that of units, " +
                     llvm::Twine(model.units.size()) + ", got " +
                     llvm::Twine(unit.shard));
  if (reader.isGood())
    fillShardBytes(model, isGiven);
}

static void readModels(FieldReader &reader, MultiModelWorkload &workload) {
  llvm::StringSet<> names;
  int64_t units = 0;
  reader.forEach("models", kMostScheduledModels, [&](FieldReader &fields) {
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
  });
}

/// Checks the time of all units one after the other, with their transfers; no
/// wait takes longer.
static void checkTotal(FieldReader &reader,
                       const MultiModelWorkload &workload) {
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
  llvm::Expected<json::Value> value = parseJson(text);
  if (!value)
    return value.takeError();
  const json::Object *object = value->getAsObject();
  if (!object)
    return llvm::createStringError("expected an object");
  std::string error;
  FieldReader reader(*object, "", error);
  MultiModelWorkload workload;
  workload.devices = reader.getWhole("devices", 1, kMostScheduledDevices);
  workload.readBytesPerSecond =
      reader.getNumber("read_bytes_per_second", 1, kMostBytesPerSecond);
  workload.writeBytesPerSecond =
      reader.getNumber("write_bytes_per_second", 1, kMostBytesPerSecond);
  workload.doubleBuffer = reader.getFlag("double_buffer", /*unless=*/true);
  readModels(reader, workload);
  reader.finish();
  checkTotal(reader, workload);
  if (!error.empty())
    return llvm::createStringError(error);
  return workload;
}
