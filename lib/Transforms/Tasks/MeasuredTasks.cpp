//===- MeasuredTasks.cpp - Measured costs, in the module ------------------===//

#include "Hfta/Transforms/Tasks/MeasuredTasks.h"

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "mlir/IR/Builders.h"

#include <cmath>

using namespace mlir;
using namespace mlir::hfta;
using planning::MeasuredCosts;
using planning::MeasuredLink;
using planning::MeasuredTask;

static constexpr StringLiteral kAttribute = "hfta.measured_costs";

static ArrayAttr makeCuts(Builder builder, const MeasuredCosts &costs) {
  SmallVector<Attribute> cuts;
  for (const std::vector<std::string> &cut : costs.cuts)
    cuts.push_back(builder.getStrArrayAttr(llvm::map_to_vector(
        cut, [](const std::string &name) { return StringRef(name); })));
  return builder.getArrayAttr(cuts);
}

void MeasuredTasks::write(ModuleOp module) const {
  Builder builder(module.getContext());
  NamedAttrList to;
  to.set("file", builder.getStringAttr(file));
  to.set("cuts", makeCuts(builder, costs));
  to.set("samples",
         builder.getDenseI64ArrayAttr({costs.batch, costs.microBatches}));
  NamedAttrList tasks;
  for (const auto &task : costs.tasks) {
    const MeasuredTask &measured = task.getValue();
    tasks.set(task.getKey(),
              builder.getDenseF64ArrayAttr(
                  {measured.seconds, measured.runs, measured.copies}));
  }
  to.set("tasks", tasks.getDictionary(module.getContext()));
  SmallVector<int64_t> ranks;
  SmallVector<double> links;
  for (const MeasuredLink &link : costs.links) {
    llvm::append_range(ranks, link.ranks);
    links.append({link.latency, link.bytesPerSecond, link.slowdown});
  }
  to.set("linked", builder.getDenseI64ArrayAttr(ranks));
  to.set("links", builder.getDenseF64ArrayAttr(links));
  if (costs.store)
    to.set("store",
           builder.getDenseF64ArrayAttr({costs.store->readBytesPerSecond,
                                         costs.store->writeBytesPerSecond,
                                         costs.store->secondsPerTransfer,
                                         costs.store->isShared ? 1.0 : 0.0}));
  module->setAttr(kAttribute, to.getDictionary(module.getContext()));
}

static bool readCuts(DictionaryAttr from, MeasuredCosts &to) {
  auto cuts = from.getAs<ArrayAttr>("cuts");
  if (!cuts)
    return false;
  for (Attribute attribute : cuts) {
    std::vector<std::string> &cut = to.cuts.emplace_back();
    auto names = dyn_cast<ArrayAttr>(attribute);
    if (!names || !llvm::all_of(names, llvm::IsaPred<StringAttr>))
      return false;
    for (auto name : names.getAsRange<StringAttr>())
      cut.push_back(name.str());
  }
  return true;
}

static bool areTimes(ArrayRef<double> values) {
  return llvm::all_of(
      values, [](double value) { return value >= 0 && std::isfinite(value); });
}

static bool readTasks(DictionaryAttr from, MeasuredCosts &to) {
  auto tasks = from.getAs<DictionaryAttr>("tasks");
  if (!tasks)
    return false;
  for (NamedAttribute task : tasks) {
    auto numbers = dyn_cast<DenseF64ArrayAttr>(task.getValue());
    if (!numbers || numbers.size() != 3 || !areTimes(numbers))
      return false;
    to.tasks[task.getName()] = {numbers[0], numbers[1], numbers[2]};
  }
  return true;
}

static bool readLinks(DictionaryAttr from, MeasuredCosts &to) {
  auto ranks = from.getAs<DenseI64ArrayAttr>("linked");
  auto links = from.getAs<DenseF64ArrayAttr>("links");
  if (!ranks || !links || ranks.size() % 2 != 0 ||
      links.size() != ranks.size() / 2 * 3 || !areTimes(links) ||
      llvm::any_of(ranks.asArrayRef(), [](int64_t rank) { return rank < 0; }))
    return false;
  for (int64_t number = 0; number < ranks.size() / 2; ++number) {
    ArrayRef<double> numbers = links.asArrayRef().slice(3 * number, 3);
    if (numbers[1] == 0)
      return false;
    to.links.push_back({{ranks[2 * number], ranks[2 * number + 1]},
                        numbers[0],
                        numbers[1],
                        std::max(numbers[2], 1.0)});
  }
  return true;
}

void MeasuredTasks::remove(ModuleOp module) {
  if (!wereRefused(module))
    module->removeAttr(kAttribute);
}

FailureOr<std::optional<MeasuredTasks>> MeasuredTasks::take(ModuleOp module) {
  FailureOr<std::optional<MeasuredTasks>> measured = read(module);
  module->removeAttr(kAttribute);
  return measured;
}

static bool readStore(DictionaryAttr from, MeasuredCosts &to) {
  Attribute attribute = from.get("store");
  if (!attribute)
    return true;
  auto rates = dyn_cast<DenseF64ArrayAttr>(attribute);
  if (!rates || rates.size() != 4 || !areTimes(rates) || rates[0] == 0 ||
      rates[1] == 0)
    return false;
  to.store = {rates[0], rates[1], rates[2], rates[3] != 0};
  return true;
}

FailureOr<std::optional<MeasuredTasks>> MeasuredTasks::read(ModuleOp module) {
  Attribute attribute = module->getAttr(kAttribute);
  if (!attribute)
    return std::optional<MeasuredTasks>();
  MeasuredTasks measured;
  MeasuredCosts &costs = measured.costs;
  auto from = dyn_cast<DictionaryAttr>(attribute);
  auto file = from ? from.getAs<StringAttr>("file") : StringAttr();
  auto samples =
      from ? from.getAs<DenseI64ArrayAttr>("samples") : DenseI64ArrayAttr();
  bool isWhole = file && samples && samples.size() == 2 && samples[0] >= 1 &&
                 samples[1] >= 1 && readCuts(from, costs) &&
                 readTasks(from, costs) && readLinks(from, costs) &&
                 readStore(from, costs);
  if (!isWhole)
    return module.emitError("'")
           << kAttribute << "' must be what '--costs' writes";
  measured.file = file.str();
  costs.batch = samples[0];
  costs.microBatches = samples[1];
  return std::optional(std::move(measured));
}

LogicalResult MeasuredTasks::refuse(ModuleOp module, llvm::Error error) const {
  module->setAttr(kAttribute, UnitAttr::get(module.getContext()));
  return module.emitError("'")
         << file << "': " << llvm::toString(std::move(error));
}

bool MeasuredTasks::wereRefused(ModuleOp module) {
  return module->hasAttrOfType<UnitAttr>(kAttribute);
}

/// Describes a cut for messages: "after 'a'", "after 'b', 'c'" for a cut of two
/// values, or "none" if there is no cut of this number.
static std::string describeCut(ArrayAttr cuts, size_t number) {
  if (number >= cuts.size())
    return "none";
  std::string text = "after ";
  llvm::raw_string_ostream stream(text);
  llvm::interleaveComma(
      cast<ArrayAttr>(cuts[number]).getAsRange<StringAttr>(), stream,
      [&](StringAttr name) { stream << "'" << name.getValue() << "'"; });
  return text;
}

llvm::Error MeasuredTasks::checkCuts(MLIRContext *context,
                                     ArrayAttr cuts) const {
  if (!cuts)
    cuts = ArrayAttr::get(context, {});
  ArrayAttr own = makeCuts(Builder(context), costs);
  size_t number = 0;
  while (number < std::min(own.size(), cuts.size()) &&
         own[number] == cuts[number])
    ++number;
  if (own == cuts)
    return llvm::Error::success();
  return llvm::createStringError("cuts[" + llvm::Twine(number) +
                                 "]: expected " + describeCut(cuts, number) +
                                 ", as the job's program is cut, got " +
                                 describeCut(own, number));
}
