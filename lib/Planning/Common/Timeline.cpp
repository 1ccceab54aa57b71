//===- Timeline.cpp - Timelines of simulated and measured steps -----------===//

#include "Hfta/Planning/Common/Timeline.h"
#include "Common/JsonFields.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/JSON.h"

#include <algorithm>
#include <map>

using namespace mlir::hfta;
using namespace mlir::hfta::planning;

void planning::appendRows(Timeline &timeline, Timeline other,
                          const std::string &words) {
  size_t first = timeline.rows.size();
  for (const std::string &row : other.rows)
    timeline.rows.push_back(words + row);
  for (TimelineBar &bar : other.bars) {
    bar.row += first;
    timeline.bars.push_back(std::move(bar));
  }
}

//===----------------------------------------------------------------------===//
// Measured
//===----------------------------------------------------------------------===//

namespace {
/// An activity in a trace.
struct TraceEvent {
  int64_t rank = 0, row = 0;
  double begin = 0, end = 0; ///< seconds
  std::string name;
  std::optional<int64_t> microBatch;
  /// The receiver of the first message that the activity sends.
  std::optional<int64_t> receiver;
};

/// The meaning of a rank's row in a trace. Its name is "worker 2: compute" with
/// the number of a worker, or "compute", where the program has one stage and
/// the worker is the rank.
struct TraceRow {
  bool isWorker = false;
  int64_t number = 0;
  std::string what;
};

/// Reads the activities of a trace and the names of its rows.
class TraceReader {
public:
  void read(const llvm::json::Array &array);
  /// Returns the last step of each rank; nothing if no rank has a step.
  std::optional<Timeline> getLastStep() const;

private:
  void readName(const llvm::json::Object &object);
  void readEvent(const llvm::json::Object &object);
  const TraceRow *getRow(const TraceEvent &event) const;
  std::optional<BarKind> getKind(const TraceEvent &event) const;

  std::vector<TraceEvent> events;
  std::map<int64_t, TraceEvent> steps; ///< the last step of each rank
  std::map<std::pair<int64_t, int64_t>, TraceRow> rows;
  /// Whether separate tasks compute the gradients of weights.
  bool isSplit = false;
};
} // namespace

/// Returns the kind of bar for a task, such as "forward.3".
static BarKind getTaskKind(llvm::StringRef name, bool isSplit) {
  llvm::StringRef part = name.split('.').first;
  if (part == "augment" || part == "forward" || part == "forward_moments" ||
      part == "shared_moments")
    return BarKind::forward;
  if (part == "recompute")
    return BarKind::recompute;
  if (part == "backward" || part == "backward_moments" ||
      part == "sampled_moments")
    return isSplit ? BarKind::backwardInput : BarKind::backward;
  if (part == "backward_weight" || part == "backward_weight_moments")
    return BarKind::backwardWeight;
  if (part == "curvature" || part == "invert")
    return BarKind::invert;
  if (part == "precondition" || part == "scale")
    return BarKind::precondition;
  if (part == "update" || part == "clip" || part == "norm")
    return BarKind::update;
  return BarKind::other;
}

/// Returns the kind of bar for an activity. Returns nothing if it isn't drawn:
/// waiting, copies besides computation, and received messages, which the
/// sender's row shows. Values are sent to later stages, which run on later
/// ranks, and gradients to earlier ones.
std::optional<BarKind> TraceReader::getKind(const TraceEvent &event) const {
  const TraceRow *found = getRow(event);
  if (!found)
    return std::nullopt;
  llvm::StringRef row = found->what, name = event.name;
  if (row == "compute")
    return getTaskKind(name, isSplit);
  if (name.starts_with("combine_moments") || name.starts_with("sums of moment"))
    return BarKind::factorSum;
  if (row == "sums" || name.starts_with("sums of"))
    return BarKind::sum;
  if (!row.starts_with("messages") || !event.receiver)
    return std::nullopt;
  if (name.consume_front("a share of "))
    return name.starts_with("curvature") ? BarKind::inverse
                                         : BarKind::direction;
  return *event.receiver < found->number ? BarKind::gradient : BarKind::value;
}

const TraceRow *TraceReader::getRow(const TraceEvent &event) const {
  auto found = rows.find({event.rank, event.row});
  return found == rows.end() ? nullptr : &found->second;
}

void TraceReader::readName(const llvm::json::Object &object) {
  std::optional<int64_t> rank = object.getInteger("pid");
  std::optional<int64_t> row = object.getInteger("tid");
  const llvm::json::Object *arguments = object.getObject("args");
  if (!rank || !row || !arguments || object.getString("name") != "thread_name")
    return;
  std::optional<llvm::StringRef> name = arguments->getString("name");
  if (!name)
    return;
  TraceRow &read = rows[{*rank, *row}];
  read = {false, *rank, name->str()};
  auto [worker, what] = name->split(": ");
  read.isWorker =
      worker.consume_front("worker ") && !worker.getAsInteger(10, read.number);
  if (read.isWorker)
    read.what = what.str();
}

void TraceReader::readEvent(const llvm::json::Object &object) {
  std::optional<double> begin = object.getNumber("ts");
  std::optional<double> duration = object.getNumber("dur");
  std::optional<int64_t> rank = object.getInteger("pid");
  std::optional<int64_t> row = object.getInteger("tid");
  std::optional<llvm::StringRef> name = object.getString("name");
  if (!begin || !duration || !rank || !row || !name)
    return;
  TraceEvent event;
  event.rank = *rank;
  event.row = *row;
  event.begin = *begin / 1e6;
  event.end = (*begin + *duration) / 1e6;
  event.name = name->str();
  if (const llvm::json::Object *arguments = object.getObject("args")) {
    event.microBatch = arguments->getInteger("micro_batch");
    const llvm::json::Array *sends = arguments->getArray("sends");
    if (sends && !sends->empty())
      if (const llvm::json::Object *first = sends->front().getAsObject())
        event.receiver = first->getInteger("to");
  }
  isSplit |= name->starts_with("backward_weight");
  if (event.name == "step") {
    auto [entry, isFirst] = steps.insert({event.rank, event});
    if (!isFirst && entry->second.begin < event.begin)
      entry->second = event;
  }
  events.push_back(std::move(event));
}

void TraceReader::read(const llvm::json::Array &array) {
  for (const llvm::json::Value &value : array) {
    const llvm::json::Object *object = value.getAsObject();
    if (object && object->getString("ph") == "M")
      readName(*object);
    if (object && object->getString("ph") == "X")
      readEvent(*object);
  }
}

std::optional<Timeline> TraceReader::getLastStep() const {
  if (steps.empty())
    return std::nullopt;
  Timeline timeline;
  timeline.title = "measured";
  double zero = steps.begin()->second.begin;
  for (const auto &[rank, step] : steps)
    zero = std::min(zero, step.begin);
  std::map<std::pair<bool, int64_t>, std::vector<TimelineBar>> bars;
  for (const TraceEvent &event : events) {
    std::optional<BarKind> kind = getKind(event);
    auto step = steps.find(event.rank);
    if (!kind || step == steps.end() || event.begin < step->second.begin ||
        event.end > step->second.end)
      continue;
    TimelineBar bar;
    bar.kind = *kind;
    bar.begin = event.begin - zero;
    bar.end = event.end - zero;
    if (event.microBatch)
      bar.label = std::to_string(*event.microBatch);
    bar.title =
        event.name + (event.microBatch ? ", micro-batch " + bar.label : "");
    const TraceRow *row = getRow(event);
    bars[{row->isWorker, row->number}].push_back(std::move(bar));
  }
  for (auto &[row, own] : bars) {
    auto [isWorker, number] = row;
    for (TimelineBar &bar : own) {
      bar.row = timeline.rows.size();
      timeline.bars.push_back(std::move(bar));
    }
    timeline.rows.push_back((isWorker ? "worker " : "rank ") +
                            std::to_string(number));
  }
  return timeline;
}

static llvm::Error failTrace(llvm::StringRef file, const llvm::Twine &message) {
  return llvm::createStringError(file + ": " + message);
}

llvm::Expected<Timeline> planning::readTrace(llvm::StringRef text,
                                             llvm::StringRef file) {
  llvm::Expected<llvm::json::Value> parsed = parseJson(text);
  if (!parsed)
    return failTrace(file, llvm::toString(parsed.takeError()));
  const llvm::json::Object *root = parsed->getAsObject();
  const llvm::json::Array *array =
      root ? root->getArray("traceEvents") : nullptr;
  if (!array)
    return failTrace(file, "expected an object with an array 'traceEvents'");
  TraceReader reader;
  reader.read(*array);
  if (std::optional<Timeline> timeline = reader.getLastStep())
    return std::move(*timeline);
  return failTrace(file, "expected an activity 'step' of some rank");
}

Timeline planning::layBeside(const Timeline &planned,
                             const Timeline &measured) {
  Timeline both;
  both.title = planned.title + ", planned and measured";
  auto add = [&](const Timeline &timeline, llvm::StringRef name) {
    size_t begin = both.rows.size();
    for (const std::string &row : timeline.rows)
      both.rows.push_back((name + ": " + row).str());
    for (TimelineBar bar : timeline.bars) {
      bar.row += begin;
      both.bars.push_back(std::move(bar));
    }
  };
  add(planned, "planned");
  add(measured, "measured");
  return both;
}
