//===- PlanFile.cpp - Plans as JSON ---------------------------------------===//

#include "Common/JsonFields.h"
#include "Hfta/Planning/Pipelines/Order.h"
#include "Hfta/Planning/Pipelines/PipelinePlan.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir::hfta::planning;
using llvm::StringRef;
namespace json = llvm::json;

namespace {

// A time: milliseconds in the file, seconds in the plan.
struct Time {
  double &seconds;
};
struct OptionalTime {
  std::optional<double> &seconds;
};
/// A time that is null in the file if it is 0 in the plan.
struct SomeTime {
  double &seconds;
};
/// A number that must be at least `least`, or greater than that.
struct Number {
  double &value;
  double least = 0;
  bool includesLeast = true;
};
struct Whole {
  int64_t &value;
  int64_t least = 0;
};
/// A whole number that is null in the file if it is -1 in the plan.
struct SomeWhole {
  int64_t &value;
};
struct Wholes {
  std::vector<int64_t> &values;
  int64_t least = 0;
};

/// A flag that is left out of the file if it is false.
struct Flag {
  bool &value;
};
/// A list of strings that is left out of the file if it is empty.
struct OptionalTexts {
  std::vector<std::string> &values;
};

/// Writes the fields of an object.
class Writer {
public:
  explicit Writer(json::OStream &os) : os(os) {}

  void field(StringRef key, const std::string &value) {
    os.attribute(key, value);
  }
  void field(StringRef key, Time time) {
    os.attribute(key, time.seconds * 1e3);
  }
  void field(StringRef key, OptionalTime time) {
    os.attribute(key, time.seconds ? json::Value(*time.seconds * 1e3)
                                   : json::Value(nullptr));
  }
  void field(StringRef key, SomeTime time) {
    os.attribute(key, time.seconds > 0 ? json::Value(time.seconds * 1e3)
                                       : json::Value(nullptr));
  }
  void field(StringRef key, Number number) { os.attribute(key, number.value); }
  void field(StringRef key, Whole number) { os.attribute(key, number.value); }
  void field(StringRef key, SomeWhole number) {
    os.attribute(key, number.value < 0 ? json::Value(nullptr)
                                       : json::Value(number.value));
  }
  void field(StringRef key, Wholes numbers) {
    os.attribute(key, json::Array(numbers.values));
  }
  void field(StringRef key, Flag flag) {
    if (flag.value)
      os.attribute(key, true);
  }
  void field(StringRef key, OptionalTexts texts) {
    if (!texts.values.empty())
      os.attribute(key, json::Array(texts.values));
  }
  void field(StringRef key, Duplex &duplex) {
    os.attribute(key, duplex == Duplex::full ? "full" : "half");
  }
  template <typename Record, typename Describe>
  void record(StringRef key, Record &value, const Describe &describe) {
    os.attributeObject(key, [&] { describe(*this, value); });
  }
  template <typename Record, typename Describe>
  void records(StringRef key, std::vector<Record> &values,
               const Describe &describe) {
    os.attributeArray(key, [&] {
      for (Record &value : values)
        os.object([&] { describe(*this, value); });
    });
  }

  /// Writes the only record's fields into the present object, or several
  /// records as an array under the key.
  template <typename Record, typename Describe, typename DescribeSeveral>
  void oneOrSeveral(StringRef key, std::vector<Record> &values,
                    const Describe &describe, const DescribeSeveral &several) {
    if (values.size() == 1)
      describe(*this, values.front());
    else
      records(key, values, several);
  }

  void check(bool, StringRef, const llvm::Twine &) {}

private:
  json::OStream &os;
};

/// Reads what Writer writes. Has the same functions, so that one description of
/// the file serves both.
class Reader {
public:
  explicit Reader(JsonFields &fields) : fields(fields) {}

  void field(StringRef key, std::string &value) { value = fields.getText(key); }
  void field(StringRef key, Time time) {
    time.seconds = fields.getNumber(key, NumberRange()) / 1e3;
  }
  void field(StringRef key, OptionalTime time) {
    if (!fields.isNull(key))
      field(key, Time{time.seconds.emplace(0)});
  }
  void field(StringRef key, SomeTime time) {
    if (!fields.isNull(key))
      field(key, Time{time.seconds});
  }
  void field(StringRef key, Number number) {
    NumberRange range;
    range.least = number.least;
    range.includesLeast = number.includesLeast;
    number.value = fields.getNumber(key, range);
  }
  void field(StringRef key, Whole number) {
    number.value = fields.getWhole(key, number.least);
  }
  void field(StringRef key, SomeWhole number) {
    if (!fields.isNull(key))
      field(key, Whole{number.value});
  }
  void field(StringRef key, Wholes numbers) {
    numbers.values = fields.getWholes(key, numbers.least);
  }
  void field(StringRef key, Flag flag) {
    flag.value = fields.getFlag(key, /*unless=*/false);
  }
  void field(StringRef key, OptionalTexts texts) {
    if (fields.has(key))
      texts.values = fields.getTexts(key);
  }
  void field(StringRef key, Duplex &duplex) {
    duplex = fields.getChoice(key, {"full", "half"}) == 0 ? Duplex::full
                                                          : Duplex::half;
  }
  template <typename Record, typename Describe>
  void record(StringRef key, Record &value, const Describe &describe) {
    fields.readObject(key, [&](JsonFields &inner) {
      Reader reader(inner);
      describe(reader, value);
    });
  }
  template <typename Record, typename Describe>
  void records(StringRef key, std::vector<Record> &values,
               const Describe &describe) {
    fields.forEachOfSome(key, [&](JsonFields &inner) {
      Reader reader(inner);
      describe(reader, values.emplace_back());
    });
  }
  template <typename Record, typename Describe, typename DescribeSeveral>
  void oneOrSeveral(StringRef key, std::vector<Record> &values,
                    const Describe &describe, const DescribeSeveral &several) {
    if (!fields.has(key))
      return describe(*this, values.emplace_back());
    records(key, values, several);
    check(values.size() > 1, key, "expected several, got one");
  }
  /// Reports an error about a field unless the condition holds.
  void check(bool holds, StringRef key, const llvm::Twine &message) {
    if (!holds)
      fields.say(key, message);
  }

private:
  JsonFields &fields;
};

/// Describes the fields of a plan, for both writing and reading.
struct Describe {
  template <typename Archive>
  void operator()(Archive &archive, Cluster &cluster) const {
    archive.field("devices", Wholes{cluster.devices, 1});
    archive.field("memory", Whole{cluster.memory});
    archive.field("link", Number{cluster.link, 0, false});
    archive.field("network", Number{cluster.network, 0, false});
    archive.field("point_to_point", Number{cluster.pointToPoint, 0, false});
    archive.field("latency", Number{cluster.latency});
    archive.field("duplex", cluster.duplex);
  }
  template <typename Archive>
  void operator()(Archive &archive, PlannedPart &part) const {
    archive.field("first", part.first);
    archive.field("last", part.last);
    archive.field("cut", OptionalTexts{part.cut});
    archive.field("forward_ms", Time{part.forward});
    archive.field("backward_ms", Time{part.backward});
    archive.field("recompute", Flag{part.recomputes});
  }
  template <typename Archive>
  void operator()(Archive &archive, PlannedStage &stage) const {
    archive.oneOrSeveral("chunks", stage.parts, *this,
                         [this](auto &inner, PlannedPart &part) {
                           inner.field("part", Whole{part.number});
                           (*this)(inner, part);
                         });
    auto replicas = static_cast<int64_t>(stage.devices.size());
    archive.field("replicas", Whole{replicas, 1});
    archive.field("devices", Wholes{stage.devices});
    archive.field("groups", Whole{stage.groups, 1});
    archive.field("in_flight", Whole{stage.inFlight, 1});
    archive.field("all_reduce_ms", Time{stage.allReduce});
    archive.field("peak_bytes", Whole{stage.peakBytes});
    archive.check(
        replicas == static_cast<int64_t>(stage.devices.size()), "replicas",
        "expected as many as 'devices' are, got " + llvm::Twine(replicas));
  }
  template <typename Archive>
  void operator()(Archive &archive, PipelinePlan &plan) const {
    archive.field("model", plan.model);
    archive.record("cluster", plan.cluster, *this);
    archive.field("micro_batches", Whole{plan.microBatches, 1});
    archive.field("order", plan.order);
    archive.field("actions", OptionalTexts{plan.actions});
    archive.field("latency_ms", SomeTime{plan.latency});
    archive.field("estimate_ms", SomeTime{plan.estimate});
    archive.field("pivot", SomeWhole{plan.pivot});
    archive.field("simulated_ms", OptionalTime{plan.simulated});
    archive.field("speedup", Number{plan.speedup});
    archive.records("stages", plan.stages, *this);
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// Writing and reading
//===----------------------------------------------------------------------===//

void mlir::hfta::planning::writePlan(const PipelinePlan &plan,
                                     llvm::raw_ostream &os) {
  json::OStream stream(os, /*IndentSize=*/2);
  Writer writer(stream);
  stream.object([&] { Describe()(writer, const_cast<PipelinePlan &>(plan)); });
  os << '\n';
}

/// Checks that each stage has one part of the model for each chunk, and those
/// that the placement gives it. Returns an error message, or an empty string.
static std::string checkParts(const PipelinePlan &plan) {
  auto stages = static_cast<int64_t>(plan.stages.size());
  PipelineShape shape;
  shape.replicas.assign(stages, 1);
  shape.chunks = plan.getChunks();
  if (plan.isVShaped())
    shape.placement = ChunkPlacement::v;
  if (shape.chunks > 1 && stages == 1)
    return "stages[0].chunks: expected none for a plan of one stage";
  for (auto [i, stage] : llvm::enumerate(plan.stages)) {
    std::string place = "stages[" + llvm::utostr(i) + "].chunks";
    if (static_cast<int64_t>(stage.parts.size()) != shape.chunks)
      return place + ": expected as many as those of stages[0], " +
             llvm::itostr(shape.chunks) + ", got " +
             llvm::utostr(stage.parts.size());
    for (auto [chunk, part] : llvm::enumerate(stage.parts)) {
      int64_t expected =
          shape.getStage(static_cast<int64_t>(i), static_cast<int64_t>(chunk));
      if (part.number != expected)
        return place + "[" + llvm::utostr(chunk) + "].part: expected " +
               llvm::itostr(expected) + ", got " + llvm::itostr(part.number);
    }
  }
  return "";
}

/// Checks that the plan has those times that plans with its number of chunks
/// have. Returns an error message, or an empty string.
static std::string checkTimes(const PipelinePlan &plan) {
  bool isChunked = plan.getChunks() > 1;
  struct {
    const char *name;
    bool isThere, isWanted;
  } rows[] = {{"latency_ms", plan.latency > 0, !isChunked},
              {"estimate_ms", plan.estimate > 0, !isChunked},
              {"pivot", plan.pivot >= 0, !isChunked},
              {"simulated_ms", plan.simulated.has_value(),
               isChunked || plan.simulated.has_value()}};
  for (const auto &row : rows)
    if (row.isThere != row.isWanted)
      return std::string(row.name) + ": expected " +
             (row.isWanted ? "a number" : "null") + " for stages of " +
             (isChunked ? "several chunks" : "one chunk") + ", got " +
             (row.isThere ? "a number" : "none");
  return "";
}

/// Checks that fields don't contradict each other. Returns an error message, or
/// an empty string.
static std::string checkPlan(const PipelinePlan &plan) {
  int64_t devices = 0;
  for (int64_t count : plan.cluster.devices)
    devices += std::min(count, kMostDevices + 1);
  if (devices > kMostDevices)
    return "cluster.devices: expected at most " + llvm::itostr(kMostDevices) +
           " of all machines";
  std::vector<bool> isUsed(devices);
  for (auto [i, stage] : llvm::enumerate(plan.stages)) {
    std::string place = "stages[" + llvm::utostr(i) + "].";
    for (auto [at, device] : llvm::enumerate(stage.devices)) {
      std::string which = place + "devices[" + llvm::utostr(at) + "]: ";
      if (device >= static_cast<int64_t>(isUsed.size()))
        return which + "the cluster has no device " + llvm::itostr(device);
      if (isUsed[device])
        return which + "device " + llvm::itostr(device) + " is used twice";
      isUsed[device] = true;
    }
    auto replicas = static_cast<int64_t>(stage.devices.size());
    if (replicas > plan.microBatches)
      return place + "replicas: " + llvm::itostr(replicas) +
             " replicas share " + llvm::itostr(plan.microBatches) +
             " micro-batches";
    if (stage.groups < replicas || stage.groups > plan.microBatches)
      return place +
             "groups: expected at least 'replicas' and at most "
             "'micro_batches', got " +
             llvm::itostr(stage.groups);
    if (stage.inFlight > plan.microBatches)
      return place + "in_flight: expected at most 'micro_batches', got " +
             llvm::itostr(stage.inFlight);
  }
  if (!plan.actions.empty() && plan.actions.size() != plan.stages.size())
    return "actions: expected a row for each of 'stages', got " +
           llvm::utostr(plan.actions.size());
  if (plan.pivot >= 2 * static_cast<int64_t>(plan.stages.size()) - 1)
    return "pivot: expected a stage or link, counted together from 0, got " +
           llvm::itostr(plan.pivot);
  std::string wrong = checkParts(plan);
  return wrong.empty() ? checkTimes(plan) : wrong;
}

std::optional<PipelinePlan> mlir::hfta::planning::readPlan(StringRef text,
                                                           std::string &error) {
  PipelinePlan plan;
  error = readFields(text, [&](JsonFields &fields) {
    Reader reader(fields);
    Describe()(reader, plan);
  });
  for (auto [number, stage] : llvm::enumerate(plan.stages))
    if (stage.parts.size() == 1)
      stage.parts.front().number = static_cast<int64_t>(number);
  if (error.empty())
    error = checkPlan(plan);
  if (!error.empty())
    return std::nullopt;
  return plan;
}
