//===- PlannedKfac.cpp - Plans for K-FAC on replicas, in modules ----------===//

#include "Hfta/Transforms/Kfac/PlannedKfac.h"

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Dialect/Hfta/Job/JobCluster.h"
#include "Hfta/Planning/Common/ReferenceRates.h"

using namespace mlir;
using namespace mlir::hfta;
using planning::KfacPlacement;

static constexpr StringLiteral kAttribute = "hfta.kfac_plan";

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

/// The rates of inversion by the number of a matrix' rows, in flops per second,
/// for n³ flops per matrix, when matrices are inverted one after the other.
/// Measured with potrf and potri of OpenBLAS in f32, on one thread with vectors
/// of 64 bytes.
static constexpr std::pair<int64_t, double> kInversionRates[] = {
    {8, 0.6e9},  {16, 1.6e9}, {32, 3.4e9},  {64, 6.5e9}, {128, 12e9},
    {256, 21e9}, {512, 33e9}, {1024, 48e9}, {2304, 73e9}};
/// The time for eigenvectors relative to the time for inverses. Eigenvectors
/// take 9 to 25 n³ flops.
static constexpr double kEigenFactor = 17;
/// The seconds per message if the job's cluster doesn't specify them. The value
/// is an assumption, a multiple of the time to poll for messages
/// (docs/architecture.md). With zero, no sums would be sent together.
static constexpr double kMessageSeconds = 5e-5;

/// Returns the bytes per element of the sums that ranks add up.
static double getSummedBytes(const Job &job) {
  return job.precision.compute == "f64" ? 8 : 4;
}

/// Returns the bytes per element of an inverse.
static double getInvertedBytes(const Job &job) {
  return job.getInversionType() == "f64" ? 8 : 4;
}

planning::KfacRates
hfta::getKfacRates(const Job &job, int64_t ranks,
                   const planning::MeasuredCosts *measured) {
  planning::Cluster cluster = makeCluster(job);
  if (cluster.devices.empty())
    cluster.devices = {ranks};
  if (measured)
    measureCluster(job, *measured, cluster);
  double latency = cluster.latency > 0 ? cluster.latency : kMessageSeconds;
  bool isInside = cluster.devices.front() >= ranks;
  double rate = isInside ? cluster.link : cluster.network;
  planning::KfacRates rates;
  rates.bytesPerElement = getInvertedBytes(job);
  double slower = job.kfacMethod == Job::kEigen ? kEigenFactor : 1;
  for (auto [size, flops] : kInversionRates) {
    double rows = static_cast<double>(size);
    rates.inversions.push_back({size, planning::kSecondsPerKernel,
                                slower * rows * rows * rows / flops});
  }
  // Half of a sum's bytes are sent to the rank that adds them up, the other
  // half back from it.
  auto share = static_cast<double>(ranks - 1) / static_cast<double>(ranks);
  double bytes = getSummedBytes(job);
  rates.reduceFactors = {
      2 * latency, 2 * share * bytes / rate,
      std::max<int64_t>(1, job.bucket / static_cast<int64_t>(bytes))};
  rates.reduceGradients = rates.reduceFactors;
  rates.message = {latency, rates.bytesPerElement / rate};
  rates.isOverlapped = job.overlap;
  return rates;
}

int64_t hfta::getNumbersPerElement(const Job &job) {
  return job.kfacMethod == Job::kEigen ? 2 : 1;
}

planning::KfacWorkload hfta::getKfacWorkload(const Job &job) {
  planning::KfacWorkload workload;
  workload.ranks = job.getReplicas();
  workload.batch = job.batch;
  workload.copies = job.copies;
  workload.groups = job.getGroups();
  workload.elementsOfPart =
      SegmentAttr::kBlockBytes / static_cast<int64_t>(getSummedBytes(job));
  return workload;
}

//===----------------------------------------------------------------------===//
// The attribute
//===----------------------------------------------------------------------===//

static StringRef getName(KfacPlacement placement) {
  switch (placement) {
  case KfacPlacement::balanced:
    return "balanced";
  case KfacPlacement::fraction:
    return "fraction";
  case KfacPlacement::local:
    return "local";
  }
  llvm_unreachable("all placements are above");
}

namespace {

/// Adds attributes that list one member of each element of an array of structs.
template <typename Element>
class Writer {
public:
  Writer(Builder builder, NamedAttrList &to, ArrayRef<Element> elements)
      : builder(builder), to(to), elements(elements) {}

  template <typename Get>
  void addWhole(StringRef name, Get get) {
    to.set(name,
           builder.getDenseI64ArrayAttr(llvm::map_to_vector(elements, get)));
  }
  template <typename Get>
  void addNumbers(StringRef name, Get get) {
    to.set(name,
           builder.getDenseF64ArrayAttr(llvm::map_to_vector(elements, get)));
  }

private:
  Builder builder;
  NamedAttrList &to;
  ArrayRef<Element> elements;
};

template <typename Element>
Writer(Builder, NamedAttrList &, ArrayRef<Element>) -> Writer<Element>;

/// Reads entries of the dictionary, and reports only the first error.
class Reader {
public:
  Reader(ModuleOp module, DictionaryAttr from) : module(module), from(from) {}

  /// Reads integers that are at least `least`: exactly `count` of them, if
  /// given. After an error, returns `count` times `least`.
  ArrayRef<int64_t> getWhole(StringRef name, std::optional<size_t> count,
                             int64_t least) {
    auto values = from.getAs<DenseI64ArrayAttr>(name);
    if (!values || (count && values.asArrayRef().size() != *count) ||
        llvm::any_of(values.asArrayRef(),
                     [&](int64_t value) { return value < least; })) {
      failList(name, "whole numbers from " + Twine(least) + " on", count);
      return empty(wholes, count, least);
    }
    return values;
  }
  ArrayRef<double> getNumbers(StringRef name, size_t count) {
    auto values = from.getAs<DenseF64ArrayAttr>(name);
    if (!values || values.size() != static_cast<int64_t>(count) ||
        llvm::any_of(values.asArrayRef(), [](double value) {
          return !(value >= 0 && std::isfinite(value));
        })) {
      failList(name, "numbers from 0 on", count);
      return empty(numbers, count, 0.0);
    }
    return values;
  }
  std::vector<std::string> getNames(StringRef name) {
    std::vector<std::string> names;
    auto values = from.getAs<ArrayAttr>(name);
    if (!values || !llvm::all_of(values, llvm::IsaPred<StringAttr>)) {
      failList(name, "strings", std::nullopt);
      return names;
    }
    for (auto value : values.getAsRange<StringAttr>())
      names.push_back(value.str());
    return names;
  }
  /// Reports an error, unless one has been reported before.
  void fail(StringRef name, const Twine &expected) {
    if (!hasFailed)
      module.emitError("in '")
          << kAttribute << "': '" << name << "' must be " << expected;
    hasFailed = true;
  }
  LogicalResult getResult() const { return failure(hasFailed); }

private:
  void failList(StringRef name, const Twine &expected,
                std::optional<size_t> count) {
    std::string many = count ? std::to_string(*count) + " " : "";
    fail(name, "a list of " + many + expected.str());
  }
  template <typename Value>
  static ArrayRef<Value> empty(std::vector<Value> &values,
                               std::optional<size_t> count, Value value) {
    values.assign(count.value_or(0), value);
    return values;
  }

  ModuleOp module;
  DictionaryAttr from;
  bool hasFailed = false;
  std::vector<int64_t> wholes; ///< returned instead of missing lists
  std::vector<double> numbers;
};

} // namespace

static void writeModel(Builder &builder, const planning::KfacModel &model,
                       NamedAttrList &to) {
  Writer factors(builder, to, ArrayRef(model.factors));
  using Factor = planning::KfacFactor;
  factors.addWhole("sizes", [](const Factor &f) { return f.matrices.size; });
  factors.addWhole("counts", [](const Factor &f) { return f.matrices.count; });
  factors.addWhole("blocks", [](const Factor &f) { return f.block; });
  factors.addWhole("inputs",
                   [](const Factor &f) { return int64_t(f.isInput); });
  factors.addWhole("inverses", [](const Factor &f) { return f.inverses; });
  factors.addWhole("shared_by", [](const Factor &f) { return f.sharedBy; });
  factors.addWhole("received",
                   [](const Factor &f) { return int64_t(f.isReceived); });
  factors.addNumbers("moments", [](const Factor &f) { return f.moment; });
  factors.addNumbers("means", [](const Factor &f) { return f.mean; });
  Writer layers(builder, to, ArrayRef(model.layers));
  using Layer = planning::KfacLayer;
  layers.addWhole("layer_inputs",
                  [](const Layer &l) { return l.factors.input; });
  layers.addWhole("layer_outputs",
                  [](const Layer &l) { return l.factors.output; });
  layers.addWhole("layer_elements",
                  [](const Layer &l) { return l.gradientElements; });
  layers.addNumbers("precondition",
                    [](const Layer &l) { return l.precondition; });
  Writer blocks(builder, to, ArrayRef(model.blocks));
  using Block = planning::KfacBlock;
  blocks.addWhole("gradients",
                  [](const Block &b) { return b.gradientElements; });
  blocks.addNumbers("forward", [](const Block &b) { return b.forward; });
  blocks.addNumbers("backward", [](const Block &b) { return b.backward; });
}

static void writeRates(Builder &builder, const planning::KfacRates &rates,
                       NamedAttrList &to) {
  Writer inversions(builder, to, ArrayRef(rates.inversions));
  using Inversion = planning::InversionMeasurement;
  inversions.addWhole("inverted_sizes",
                      [](const Inversion &i) { return i.size; });
  inversions.addNumbers("inversion_launches",
                        [](const Inversion &i) { return i.launch; });
  inversions.addNumbers("inversions",
                        [](const Inversion &i) { return i.perMatrix; });
  const planning::TransferCost transfers[] = {
      rates.reduceFactors, rates.reduceGradients, rates.message};
  Writer sends(builder, to, ArrayRef(transfers));
  using Transfer = planning::TransferCost;
  sends.addNumbers("latencies", [](const Transfer &t) { return t.latency; });
  sends.addNumbers("per_element",
                   [](const Transfer &t) { return t.secondsPerElement; });
  sends.addWhole("most_elements",
                 [](const Transfer &t) { return t.mostElements; });
}

DictionaryAttr PlannedKfac::write(MLIRContext *context) const {
  Builder builder(context);
  NamedAttrList to;
  auto setWhole = [&](StringRef name, ArrayRef<int64_t> values) {
    to.set(name, builder.getDenseI64ArrayAttr(values));
  };
  auto setNames = [&](StringRef name, ArrayRef<std::string> names) {
    to.set(name, builder.getStrArrayAttr(
                     llvm::map_to_vector(names, [](const std::string &name) {
                       return StringRef(name);
                     })));
  };
  if (stage)
    to.set("stage", builder.getI64IntegerAttr(*stage));
  to.set("placement", builder.getStringAttr(getName(plan.placement)));
  setWhole("grid", {plan.grid.rows, plan.grid.columns});
  setWhole("periods", {model.factorEvery, model.inverseEvery});
  setNames("factors", factorNames);
  setNames("layers", layerNames);
  setWhole("owners", plan.owners);
  setWhole("columns", plan.columns.factors);
  setWhole("layer_columns", plan.columns.layers);
  setWhole("order", plan.readyOrder);
  setWhole("buckets", llvm::map_to_vector(
                          plan.buckets, [](const planning::Bucket &bucket) {
                            return bucket.last - bucket.first + 1;
                          }));
  writeModel(builder, model, to);
  to.set("update", builder.getF64FloatAttr(model.update));
  setWhole("micro_batches", {model.microBatches});
  to.set("measured", builder.getBoolAttr(isMeasured));
  writeRates(builder, rates, to);
  return to.getDictionary(context);
}

void PlannedKfac::writeAll(ModuleOp module, ArrayRef<PlannedKfac> plans) {
  MLIRContext *context = module.getContext();
  auto dictionaries =
      llvm::map_to_vector(plans, [&](const PlannedKfac &planned) -> Attribute {
        return planned.write(context);
      });
  bool isOfStages = plans.front().stage.has_value();
  module->setAttr(kAttribute, isOfStages ? ArrayAttr::get(context, dictionaries)
                                         : dictionaries.front());
}

/// Reads the planner's model.
static void readModel(Reader &reader, DictionaryAttr from, PlannedKfac &to) {
  planning::KfacModel &model = to.model;
  ArrayRef<int64_t> periods = reader.getWhole("periods", 2, 1);
  std::tie(model.factorEvery, model.inverseEvery) =
      std::tie(periods[0], periods[1]);
  to.factorNames = reader.getNames("factors");
  to.layerNames = reader.getNames("layers");
  size_t factors = to.factorNames.size(), layers = to.layerNames.size();
  model.factors.resize(factors);
  model.layers.resize(layers);
  ArrayRef<int64_t> gradients = reader.getWhole("gradients", std::nullopt, 0);
  model.blocks.resize(gradients.size());
  for (auto [block, value] : llvm::zip(model.blocks, gradients))
    block.gradientElements = value;
  auto get = [&](auto &of, StringRef name, int64_t least, auto member) {
    for (auto [each, value] :
         llvm::zip_equal(of, reader.getWhole(name, of.size(), least)))
      member(each) = value;
  };
  auto getNumbers = [&](auto &of, StringRef name, auto member) {
    for (auto [each, value] :
         llvm::zip_equal(of, reader.getNumbers(name, of.size())))
      member(each) = value;
  };
  using Factor = planning::KfacFactor;
  using Layer = planning::KfacLayer;
  using Block = planning::KfacBlock;
  get(model.factors, "sizes", 1,
      [](Factor &f) -> int64_t & { return f.matrices.size; });
  get(model.factors, "counts", 1,
      [](Factor &f) -> int64_t & { return f.matrices.count; });
  get(model.factors, "blocks", 0,
      [](Factor &f) -> int64_t & { return f.block; });
  get(model.factors, "inputs", 0,
      [](Factor &f) -> bool & { return f.isInput; });
  get(model.factors, "inverses", 1,
      [](Factor &f) -> int64_t & { return f.inverses; });
  get(model.factors, "shared_by", 1,
      [](Factor &f) -> int64_t & { return f.sharedBy; });
  get(model.factors, "received", 0,
      [](Factor &f) -> bool & { return f.isReceived; });
  getNumbers(model.factors, "moments",
             [](Factor &f) -> double & { return f.moment; });
  getNumbers(model.factors, "means",
             [](Factor &f) -> double & { return f.mean; });
  get(model.layers, "layer_inputs", planning::kNoFactor,
      [](Layer &l) -> int64_t & { return l.factors.input; });
  get(model.layers, "layer_outputs", planning::kNoFactor,
      [](Layer &l) -> int64_t & { return l.factors.output; });
  get(model.layers, "layer_elements", 0,
      [](Layer &l) -> int64_t & { return l.gradientElements; });
  getNumbers(model.layers, "precondition",
             [](Layer &l) -> double & { return l.precondition; });
  getNumbers(model.blocks, "forward",
             [](Block &b) -> double & { return b.forward; });
  getNumbers(model.blocks, "backward",
             [](Block &b) -> double & { return b.backward; });
  if (auto update = from.getAs<FloatAttr>("update"))
    model.update = update.getValueAsDouble();
  model.microBatches = reader.getWhole("micro_batches", 1, 1).front();
}

/// Reads the planner's rates of the machines.
static void readRates(Reader &reader, DictionaryAttr from, const Job &job,
                      PlannedKfac &to) {
  planning::KfacRates &rates = to.rates;
  rates.bytesPerElement = getInvertedBytes(job);
  rates.isOverlapped = job.overlap;
  auto measured = from.getAs<BoolAttr>("measured");
  to.isMeasured = measured && measured.getValue();
  to.model.numbersPerElement = getNumbersPerElement(job);
  ArrayRef<int64_t> sizes = reader.getWhole("inverted_sizes", std::nullopt, 1);
  ArrayRef<double> launches =
      reader.getNumbers("inversion_launches", sizes.size());
  ArrayRef<double> seconds = reader.getNumbers("inversions", sizes.size());
  std::set<int64_t> different(sizes.begin(), sizes.end());
  if (sizes.empty() || different.size() != sizes.size() ||
      llvm::is_contained(seconds, 0.0))
    reader.fail("inverted_sizes", "different sizes, each of which takes time");
  for (auto [size, launch, each] : llvm::zip_equal(sizes, launches, seconds))
    rates.inversions.push_back({size, launch, each});
  planning::TransferCost *transfers[] = {
      &rates.reduceFactors, &rates.reduceGradients, &rates.message};
  for (auto [transfer, latency, each, most] :
       llvm::zip_equal(transfers, reader.getNumbers("latencies", 3),
                       reader.getNumbers("per_element", 3),
                       reader.getWhole("most_elements", 3, 0)))
    *transfer = {latency, each, most};
}

/// Checks that numbers refer to existing layers, factors, blocks and ranks.
static LogicalResult checkPlan(ModuleOp module, const PlannedKfac &planned) {
  const planning::KfacModel &model = planned.model;
  const planning::KfacPlan &plan = planned.plan;
  auto fail = [&](const Twine &message) {
    return module.emitError("in '") << kAttribute << "': " << message;
  };
  auto count = static_cast<int64_t>(model.factors.size());
  for (const planning::KfacLayer &layer : model.layers)
    if (std::max(layer.factors.input, layer.factors.output) >= count)
      return fail("a layer's factor must be the number of one of the factors, "
                  "of which there are " +
                  Twine(count));
  for (auto [number, factor] : llvm::enumerate(model.factors)) {
    const std::string &name = planned.factorNames[number];
    if (factor.block >= static_cast<int64_t>(model.blocks.size()))
      return fail("'" + name + "' must be in one of " +
                  Twine(model.blocks.size()) + " blocks, got " +
                  Twine(factor.block));
    int64_t column = plan.columns.factors[number], owner = plan.owners[number];
    if (column >= plan.grid.columns)
      return fail("'" + name + "' must be in one of " +
                  Twine(plan.grid.columns) + " columns, got " + Twine(column));
    if (owner >= plan.grid.getRankCount() ||
        (owner != planning::kEveryRank && plan.grid.getColumn(owner) != column))
      return fail("the owner of '" + name + "' must be a rank of column " +
                  Twine(column) + " or -1, got " + Twine(owner));
  }
  for (auto [layer, column] :
       llvm::zip_equal(model.layers, plan.columns.layers))
    for (int64_t factor : {layer.factors.input, layer.factors.output})
      if (factor >= 0 && plan.columns.factors[factor] != column)
        return fail("a layer and its factors must be in one column");
  return success();
}

/// Reads the buckets. The order in which factors are computed follows from the
/// model, and must be the one in the attribute.
static LogicalResult readBuckets(Reader &reader, ModuleOp module,
                                 PlannedKfac &to) {
  if (to.plan.placement == KfacPlacement::local)
    return success();
  planning::BucketProblem problem = planning::getBucketProblem(
      to.model, to.rates.getCosts(), to.plan.readyOrder);
  ArrayRef<int64_t> lengths = reader.getWhole("buckets", std::nullopt, 1);
  ArrayRef<int64_t> order =
      reader.getWhole("order", to.plan.readyOrder.size(), 0);
  if (failed(reader.getResult()))
    return failure();
  auto fail = [&](const Twine &message) {
    return module.emitError("in '") << kAttribute << "': " << message;
  };
  if (order != ArrayRef(to.plan.readyOrder))
    return fail("'order' must be the order in which factors are computed");
  auto total = static_cast<int64_t>(problem.factors.size()), end = int64_t(0);
  for (int64_t length : lengths) {
    end = length > total - end ? total + 1 : end + length;
    if (end > total)
      break;
    if (!problem.factors[end - 1].endsBlock)
      return fail("a bucket must end with a block");
  }
  if (end != total)
    return fail("buckets must have all " + Twine(total) + " factors, got " +
                (end > total ? "more" : std::to_string(end)));
  to.plan.buckets = planning::getBucketTimes(problem, lengths);
  return success();
}

FailureOr<PlannedKfac> PlannedKfac::read(ModuleOp module, const Job &job,
                                         DictionaryAttr from) {
  PlannedKfac planned;
  Reader reader(module, from);
  readModel(reader, from, planned);
  readRates(reader, from, job, planned);
  planning::KfacPlan &plan = planned.plan;
  auto placement = from.getAs<StringAttr>("placement");
  const KfacPlacement all[] = {KfacPlacement::balanced, KfacPlacement::fraction,
                               KfacPlacement::local};
  const auto *known = llvm::find_if(all, [&](KfacPlacement each) {
    return placement && placement.getValue() == getName(each);
  });
  if (known == std::end(all))
    reader.fail("placement", "balanced, fraction or local");
  else
    plan.placement = *known;
  ArrayRef<int64_t> grid = reader.getWhole("grid", 2, 1);
  plan.grid = {grid[0], grid[1]};
  size_t factors = planned.model.factors.size();
  plan.owners = reader.getWhole("owners", factors, planning::kEveryRank).vec();
  plan.columns.factors = reader.getWhole("columns", factors, 0).vec();
  plan.columns.layers =
      reader.getWhole("layer_columns", planned.model.layers.size(), 0).vec();
  if (failed(reader.getResult()) || failed(checkPlan(module, planned)) ||
      failed(readBuckets(reader, module, planned)) ||
      failed(reader.getResult()))
    return failure();
  return planned;
}

FailureOr<std::vector<PlannedKfac>> PlannedKfac::readAll(ModuleOp module) {
  std::vector<PlannedKfac> plans;
  Attribute attribute = module->getAttr(kAttribute);
  if (!attribute)
    return plans;
  auto fail = [&](const Twine &message) {
    module.emitError("'") << kAttribute << "' " << message;
    return failure();
  };
  FailureOr<Job> job = Job::read(module);
  if (failed(job))
    return failure();
  auto add = [&](DictionaryAttr from, std::optional<int64_t> stage) {
    FailureOr<PlannedKfac> planned = read(module, *job, from);
    if (failed(planned))
      return failure();
    planned->stage = stage;
    plans.push_back(std::move(*planned));
    return success();
  };
  if (auto from = dyn_cast<DictionaryAttr>(attribute)) {
    if (failed(add(from, std::nullopt)))
      return failure();
    return plans;
  }
  auto list = dyn_cast<ArrayAttr>(attribute);
  if (!list || list.empty() ||
      !llvm::all_of(list, llvm::IsaPred<DictionaryAttr>))
    return fail("must be a dictionary, or a list of one for each stage");
  int64_t least = 0;
  for (auto from : list.getAsRange<DictionaryAttr>()) {
    auto stage = from.getAs<IntegerAttr>("stage");
    int64_t count = job->getStageCount();
    if (!stage || stage.getInt() < least || stage.getInt() >= count)
      return fail(
          "must have plans for some of the " + Twine(count) +
          " stages, each with the stage's number 'stage', in ascending order");
    if (failed(add(from, stage.getInt())))
      return failure();
    least = stage.getInt() + 1;
  }
  return plans;
}

FailureOr<llvm::StringMap<int64_t>> hfta::findGroupsOfMoments(ModuleOp module) {
  llvm::StringMap<int64_t> groups;
  FailureOr<std::vector<PlannedKfac>> plans = PlannedKfac::readAll(module);
  if (failed(plans))
    return failure();
  llvm::StringMap<int64_t> ofFactors;
  for (const PlannedKfac &planned : *plans)
    if (planned.plan.placement == KfacPlacement::local)
      for (auto [name, column] :
           llvm::zip_equal(planned.factorNames, planned.plan.columns.factors))
        ofFactors[name] = column;
  if (ofFactors.empty())
    return groups;
  SymbolTable symbols(module);
  for (auto variable : module.getOps<VariableOp>()) {
    if (!variable.isFor(Purpose::moment))
      continue;
    PurposeAttr purpose = *variable.getPurpose();
    auto weight = symbols.lookup<VariableOp>(purpose.getOf().getAttr());
    StringRef side = purpose.getName().getValue().starts_with("input")
                         ? "input_factor/"
                         : "output_factor/";
    auto known = ofFactors.find((side + weight.getOwnName()).str());
    if (known != ofFactors.end())
      groups[variable.getSymName()] = known->second;
  }
  return groups;
}
