//===- KfacPlacement.cpp - Who of the replicas does what of K-FAC ---------===//

#include "KfacPlacement.h"

#include "Hfta/Dialect/Hfta/IR/Settings.h"
#include "Hfta/Planning/KfacSimulation.h"
#include "Hfta/Planning/ReferenceRates.h"
#include "Hfta/Transforms/MeasuredTasks.h"

#include <map>

using namespace mlir;
using namespace mlir::hfta;
using planning::kBytesPerSecond;
using planning::kFlopsPerSecond;
using planning::kNoFactor;

namespace {

/// What the planner is told of the units: those of one parameter, of whichever
/// copies, are one layer.
class KfacModeler {
public:
  KfacModeler(TaskBuilder &tasks, MutableArrayRef<KfacUnit> units)
      : tasks(tasks), job(tasks.getJob()), units(units) {}

  PlannedKfac build();
  /// Whether each copy has all of the layers, with the same inputs in common:
  /// then a plan of them all is one of each.
  bool areCopiesAlike() const;

private:
  void addBlocks();
  void addUnit(KfacUnit &unit);
  void addCopy(KfacUnit &unit, int64_t number, double precondition);
  int64_t addFactor(const KfacUnit &unit, KfacFactor &factor, bool isInput);
  int64_t getCopiesOf(const TrainedLeaf &leaf) const;
  int64_t countElements(const KfacUnit &unit) const;
  double getRows(const KfacUnit &unit) const;

  TaskBuilder &tasks;
  const Job &job;
  MutableArrayRef<KfacUnit> units;
  PlannedKfac planned;
  DenseMap<Operation *, int64_t> layers; ///< by the weight's variable
  bool sharesDiffer = false;             ///< between copies
};

} // namespace

/// Copies that the parameter is taken for at once.
int64_t KfacModeler::getCopiesOf(const TrainedLeaf &leaf) const {
  VariableOp variable = leaf.variable;
  return leaf.copy || variable.getCopy() ? 1 : job.copies;
}

/// Of the unit's gradient.
int64_t KfacModeler::countElements(const KfacUnit &unit) const {
  auto count = [](const TrainedLeaf &leaf) {
    return VariableOp(leaf.variable).getTensorType().getNumElements();
  };
  return (count(unit.weight) + (unit.bias ? count(*unit.bias) : 0)) *
         getCopiesOf(unit.weight);
}

/// That a replica has in a step.
double KfacModeler::getRows(const KfacUnit &unit) const {
  return 1 / unit.input.scale / static_cast<double>(job.getReplicas());
}

void KfacModeler::addBlocks() {
  int64_t blocks = 1;
  for (auto function : tasks.getModule().getOps<func::FuncOp>())
    if (auto task =
            function->getAttrOfType<TaskAttr>(HftaDialect::kTaskAttrName))
      blocks = std::max<int64_t>(blocks, task.getBlock() + 1);
  planned.model.blocks.resize(blocks);
  for (const KfacUnit &unit : units) {
    planning::KfacBlock &block = planned.model.blocks[unit.getBlock()];
    int64_t elements = countElements(unit);
    block.gradientElements += elements;
    // What they are read, written and multiplied with by an optimizer.
    constexpr double kTouched = 4 * sizeof(float);
    planned.model.update +=
        kTouched * static_cast<double>(elements) / kBytesPerSecond;
    if (unit.rule == KfacRule::kronecker) {
      double forward =
          2 * getRows(unit) * static_cast<double>(elements) / kFlopsPerSecond;
      block.forward += forward;
      block.backward += 2 * forward;
    } else if (unit.rule == KfacRule::unit) {
      // Its moment goes with the gradients.
      block.gradientElements += unit.features * unit.output.size *
                                (unit.output.size + 1) / 2 *
                                getCopiesOf(unit.weight);
    }
  }
}

/// Makes it the layer's factor, or one more matrix of it.
int64_t KfacModeler::addFactor(const KfacUnit &unit, KfacFactor &factor,
                               bool isInput) {
  planning::KfacModel &model = planned.model;
  int64_t copies = getCopiesOf(unit.weight);
  planning::KfacFactor added;
  // A diagonal is matrices of one row.
  added.matrices = {factor.isDiagonal ? 1 : factor.size,
                    copies * (factor.isDiagonal ? factor.size : factor.blocks)};
  added.block = unit.getBlock();
  added.isInput = isInput;
  double columns = static_cast<double>(factor.isDiagonal ? 1 : factor.size);
  int64_t summed = factor.isMomentShared ? 1 : copies;
  added.moment = getRows(unit) * columns * (columns + 1) *
                 static_cast<double>(factor.blocks * summed) / kFlopsPerSecond;
  // The moment is read and cleared, the mean read and written.
  constexpr double kTouched = 4 * sizeof(float);
  added.mean = kTouched * static_cast<double>(added.matrices.getElements()) /
               kBytesPerSecond;
  model.factors.push_back(added);
  VariableOp weight = unit.weight.variable;
  planned.factorNames.push_back((isInput ? "input_factor/" : "output_factor/") +
                                weight.getOwnName());
  return static_cast<int64_t>(model.factors.size()) - 1;
}

/// Another copy of the layer, compiled alone.
void KfacModeler::addCopy(KfacUnit &unit, int64_t number, double precondition) {
  planning::KfacModel &model = planned.model;
  planning::KfacLayer &layer = model.layers[number];
  layer.gradientElements += countElements(unit);
  layer.precondition += precondition;
  auto addMatrices = [&](int64_t of, const KfacFactor &factor) {
    model.factors[of].matrices.count +=
        factor.isDiagonal ? factor.size : factor.blocks;
  };
  unit.input.number = layer.factors.input;
  unit.output.number = layer.factors.output;
  addMatrices(unit.output.number, unit.output);
  const KfacUnit *owner = unit.input.owner;
  bool isOwn = planned.factorNames[unit.input.number] ==
               "input_factor/" + VariableOp(unit.weight.variable).getOwnName();
  sharesDiffer |= isOwn != !owner;
  if (!owner)
    return addMatrices(unit.input.number, unit.input);
  // Both layers go to one column for this copy's sake.
  if (owner->input.number != unit.input.number) {
    sharesDiffer = true;
    model.layers.push_back({{unit.input.number, owner->input.number}, 0, 0});
    planned.layerNames.emplace_back();
  }
}

bool KfacModeler::areCopiesAlike() const {
  DenseMap<Operation *, int64_t> copies;
  for (const KfacUnit &unit : units)
    if (unit.rule == KfacRule::kronecker)
      copies[VariableOp(unit.weight.variable)] += getCopiesOf(unit.weight);
  return !sharesDiffer && llvm::all_of(copies, [&](const auto &entry) {
    return entry.second == job.copies;
  });
}

void KfacModeler::addUnit(KfacUnit &unit) {
  planning::KfacModel &model = planned.model;
  auto [known, isNew] =
      layers.try_emplace(unit.weight.variable, model.layers.size());
  double precondition =
      2 * static_cast<double>(countElements(unit)) *
      static_cast<double>(unit.input.size + unit.output.size) / kFlopsPerSecond;
  if (!isNew)
    return addCopy(unit, known->second, precondition);
  const KfacUnit *owner = unit.input.owner;
  unit.input.number =
      owner ? owner->input.number : addFactor(unit, unit.input, true);
  if (owner && job.kfacMethod != Job::kEigen)
    ++model.factors[unit.input.number].inverses;
  unit.output.number = addFactor(unit, unit.output, false);
  model.layers.push_back({{unit.input.number, unit.output.number},
                          countElements(unit),
                          precondition});
  planned.layerNames.push_back(VariableOp(unit.weight.variable).getOwnName());
}

PlannedKfac KfacModeler::build() {
  addBlocks();
  for (KfacUnit &unit : units)
    if (unit.rule == KfacRule::kronecker)
      addUnit(unit);
  auto getPeriod = [&](StringRef name) {
    const HyperParameter *steps = job.findHyperParameter(name);
    return static_cast<int64_t>(*llvm::min_element(steps->values));
  };
  planned.model.factorEvery = getPeriod("factor_every");
  planned.model.inverseEvery =
      std::max(planned.model.factorEvery, getPeriod("inverse_every"));
  planned.model.microBatches =
      llvm::divideCeil(job.microBatches, job.getReplicas());
  planned.model.numbersPerElement = getNumbersPerElement(job);
  return std::move(planned);
}

//===----------------------------------------------------------------------===//
// The plan
//===----------------------------------------------------------------------===//

namespace {

class KfacPlacer {
public:
  KfacPlacer(TaskBuilder &tasks, const PlannedKfac &problem)
      : module(tasks.getModule()), job(tasks.getJob()), model(problem.model),
        ranks(job.getReplicas()), costs(problem.rates.getCosts()) {}

  FailureOr<planning::KfacPlan> place();

private:
  planning::KfacPlan choose();
  FailureOr<planning::KfacPlan> placeFraction(double share);
  planning::KfacPlan placeLocally();
  double getMemory();

  ModuleOp module;
  const Job &job;
  const planning::KfacModel &model;
  int64_t ranks;
  planning::KfacCosts costs;
};

} // namespace

/// Bytes that the job's devices have for factors and inverses; 0: as many as
/// they like.
double KfacPlacer::getMemory() {
  if (job.clusterMemory == 0)
    return 0;
  double bytes = static_cast<double>(job.clusterMemory);
  for (auto variable : module.getOps<VariableOp>()) {
    if (variable.getRole() == Role::constant)
      continue;
    // A replica has sums of its own groups, and activations of a copy at least.
    Role role = variable.getRole();
    bool isOfGroups = SegmentAttr::isSummed(role) || role == Role::result;
    bool takesTurns = SegmentAttr::livesWithinStep(role) && !isOfGroups;
    auto instances = static_cast<int64_t>(variable.getInstances());
    if (isOfGroups)
      instances = llvm::divideCeil(instances, ranks);
    RankedTensorType type = variable.getTensorType();
    int64_t copies = takesTurns ? 1 : getCopies(type).value_or(1);
    bytes -= static_cast<double>(getLogicalBytes(type) * copies * instances);
  }
  return std::max(bytes, 1.0);
}

/// The fastest one that fits beside what is known of the program; if none does,
/// each inverse on one replica, which takes least: more or less than is known
/// here may be needed, so that nothing is refused.
planning::KfacPlan KfacPlacer::choose() {
  llvm::Expected<planning::ChosenKfacPlan> chosen =
      planning::chooseKfacPlan(model, costs, ranks, getMemory());
  if (chosen)
    return std::move(chosen->plan);
  llvm::consumeError(chosen.takeError());
  return planning::planFraction(model, costs, {/*rows=*/1, ranks});
}

/// On the grid with so many ranks in a column, the best of our rule and of
/// KAISA's.
FailureOr<planning::KfacPlan> KfacPlacer::placeFraction(double share) {
  llvm::Expected<planning::FactorGrid> grid =
      planning::makeFactorGrid(share, ranks);
  if (!grid)
    return module.emitError("'placement = ")
           << job.kfacPlacement << "': " << llvm::toString(grid.takeError());
  SmallVector<planning::KfacPlan> plans = {
      planning::planFraction(model, costs, *grid),
      planning::planFraction(model, costs, *grid,
                             planning::FactorPairing::together)};
  if (grid->rows > 1)
    plans.push_back(planning::planFraction(model, costs, *grid,
                                           planning::FactorPairing::apart));
  auto getSeconds = [&](const planning::KfacPlan &plan) {
    return planning::getMeanSeconds(model, costs, plan);
  };
  return *std::min_element(plans.begin(), plans.end(),
                           [&](const auto &first, const auto &second) {
                             return getSeconds(first) < getSeconds(second);
                           });
}

/// Each layer with one group. Which one must follow from a copy's own layers,
/// as its results do: all copies have all of them.
planning::KfacPlan KfacPlacer::placeLocally() {
  planning::KfacModel ofCopy = model;
  for (planning::KfacFactor &factor : ofCopy.factors)
    factor.matrices.count /= job.copies;
  return planning::planLocal(ofCopy, job.getGroups());
}

FailureOr<planning::KfacPlan> KfacPlacer::place() {
  StringRef word = job.kfacPlacement;
  if (word == "auto")
    return choose();
  if (word == "balanced")
    return planning::planBalanced(model, costs, ranks);
  if (word == "local")
    return placeLocally();
  std::optional<double> share = planning::readFraction(word);
  if (!share)
    return module.emitError("the job has no placement '") << word << "'";
  return placeFraction(*share);
}

/// Whether a plan is one of these units: what it was made of is the same.
static bool isPlanOf(const PlannedKfac &given, const PlannedKfac &problem) {
  auto isSame = [](const planning::KfacFactor &one,
                   const planning::KfacFactor &other) {
    return one.matrices.size == other.matrices.size &&
           one.matrices.count == other.matrices.count &&
           one.block == other.block && one.isInput == other.isInput;
  };
  auto hasSame = [](const planning::KfacLayer &one,
                    const planning::KfacLayer &other) {
    return one.factors.input == other.factors.input &&
           one.factors.output == other.factors.output;
  };
  return given.factorNames == problem.factorNames &&
         given.layerNames == problem.layerNames &&
         given.model.blocks.size() == problem.model.blocks.size() &&
         llvm::equal(given.model.factors, problem.model.factors, isSame) &&
         llvm::equal(given.model.layers, problem.model.layers, hasSame);
}

/// The replicas first, first + stride, ..., as one is always written.
static ReplicasAttr getReplicas(MLIRContext *context, int64_t first,
                                int64_t count, int64_t stride) {
  return ReplicasAttr::get(context, first, count, count == 1 ? 1 : stride);
}

/// Tells the units who does their work.
static void deal(MLIRContext *context, const planning::KfacPlan &plan,
                 const Job &job, MutableArrayRef<KfacUnit> units) {
  const planning::FactorGrid &grid = plan.grid;
  int64_t replicas = job.getReplicas();
  auto setInverter = [&](KfacFactor &factor) {
    int64_t owner = plan.owners[factor.number];
    if (owner != planning::kEveryRank && grid.rows > 1)
      factor.inverter = getReplicas(context, owner, 1, 1);
  };
  auto setGroup = [&](KfacFactor &factor, int64_t group) {
    factor.group = group;
    int64_t own = 0;
    for (int64_t number = 0; number < job.microBatches; ++number)
      own += number % job.getGroups() == group;
    factor.rowsOfGroup =
        static_cast<double>(job.microBatches) / static_cast<double>(own);
  };
  for (KfacUnit &unit : units) {
    if (unit.rule != KfacRule::kronecker)
      continue;
    int64_t column = plan.columns.factors[unit.output.number];
    if (plan.placement == planning::KfacPlacement::local) {
      setGroup(unit.input, column);
      setGroup(unit.output, column);
      if (replicas > 1)
        unit.holders = getReplicas(context, column % replicas, 1, 1);
      continue;
    }
    if (grid.columns > 1)
      unit.holders = getReplicas(context, column, grid.rows, grid.columns);
    setInverter(unit.input);
    setInverter(unit.output);
  }
}

/// Sums under forward and under backward are of different buckets: what is
/// taken in forward waits for no backward.
static void separatePasses(const planning::KfacModel &model,
                           const planning::KfacCosts &costs,
                           planning::KfacPlan &plan) {
  if (plan.buckets.empty())
    return;
  SmallVector<int64_t> lengths;
  for (const planning::Bucket &bucket : plan.buckets) {
    int64_t inputs = 0, all = bucket.last - bucket.first + 1;
    for (int64_t place = bucket.first; place <= bucket.last; ++place)
      inputs += model.factors[plan.readyOrder[place]].isInput;
    for (int64_t length : {inputs, all - inputs})
      if (length > 0)
        lengths.push_back(length);
  }
  plan.buckets = planning::getBucketTimes(
      planning::getBucketProblem(model, costs, plan.readyOrder), lengths);
}

/// A bucket's moments lie together, in the block that completes it; those of
/// parameters that have no inverses beside a layer's of their block.
static void collectBuckets(const PlannedKfac &planned,
                           MutableArrayRef<KfacUnit> units) {
  const planning::KfacPlan &plan = planned.plan;
  std::vector<int64_t> blockOf(planned.model.factors.size());
  std::map<int64_t, int64_t> ofBlock; // of output factors
  for (const planning::Bucket &bucket : plan.buckets) {
    int64_t last = planned.model.factors[plan.readyOrder[bucket.last]].block;
    for (int64_t place = bucket.first; place <= bucket.last; ++place) {
      int64_t number = plan.readyOrder[place];
      const planning::KfacFactor &factor = planned.model.factors[number];
      blockOf[number] = last;
      if (!factor.isInput)
        ofBlock[factor.block] = last;
    }
  }
  auto collect = [](KfacFactor &factor, int64_t block) {
    for (VariableOp moment : factor.moments)
      moment.setBlock(block);
  };
  for (KfacUnit &unit : units) {
    if (unit.rule == KfacRule::unit) {
      auto known = ofBlock.find(unit.getBlock());
      if (known != ofBlock.end())
        collect(unit.output, known->second);
    } else if (unit.rule == KfacRule::kronecker && !plan.buckets.empty()) {
      if (!unit.input.owner)
        collect(unit.input, blockOf[unit.input.number]);
      collect(unit.output, blockOf[unit.output.number]);
    }
  }
}

/// Of several stages each replica does all for its own layers.
static LogicalResult checkStages(ModuleOp module, const Job &job) {
  bool hasReplicas =
      llvm::any_of(llvm::seq<int64_t>(0, job.getStageCount()),
                   [&](int64_t stage) { return job.getGroups(stage) > 1; });
  if (job.kfacPlacement == "auto" || !hasReplicas)
    return success();
  return module.emitError("'placement = ")
         << job.kfacPlacement
         << "' can't be combined yet with several stages that have several "
            "groups; expected 'placement = auto'";
}

/// What a program has measured, in place of what is estimated.
static LogicalResult measure(ModuleOp module, const Job &job, int64_t ranks,
                             PlannedKfac &planned) {
  FailureOr<std::optional<MeasuredTasks>> measured =
      MeasuredTasks::take(module);
  if (failed(measured))
    return failure();
  planned.isMeasured = measured->has_value();
  planned.rates =
      getKfacRates(job, ranks, *measured ? &(*measured)->costs : nullptr);
  if (!*measured)
    return success();
  if (llvm::Error error = (*measured)->checkCuts(
          module.getContext(),
          module->getAttrOfType<ArrayAttr>(HftaDialect::kCutsAttrName)))
    return (*measured)->refuse(module, std::move(error));
  if (llvm::Error error =
          planning::measureKfac((*measured)->costs, getKfacWorkload(job),
                                planned.model, planned.rates))
    return (*measured)->refuse(module, std::move(error));
  return success();
}

LogicalResult hfta::placeKfac(TaskBuilder &tasks,
                              MutableArrayRef<KfacUnit> units) {
  const Job &job = tasks.getJob();
  ModuleOp module = tasks.getModule();
  bool isLocal = job.kfacPlacement == "local";
  if (job.getStageCount() > 1)
    return checkStages(module, job);
  if ((isLocal ? job.getGroups() : job.getReplicas()) == 1)
    return success();
  KfacModeler modeler(tasks, units);
  PlannedKfac planned = modeler.build();
  if (isLocal && !modeler.areCopiesAlike())
    return module.emitError("'placement = local' can't be combined with models "
                            "that differ yet");
  if (planned.model.factors.empty())
    return success();
  int64_t ranks = isLocal ? job.getGroups() : job.getReplicas();
  if (failed(measure(module, job, ranks, planned)))
    return failure();
  FailureOr<std::optional<PlannedKfac>> given = PlannedKfac::read(module);
  if (failed(given))
    return failure();
  if (*given && !isPlanOf(**given, planned))
    return module.emitError(
        "'hfta.kfac_plan' is of other layers than the module's");
  if (*given &&
      ((*given)->plan.grid.getRankCount() != ranks ||
       isLocal != ((*given)->plan.placement == planning::KfacPlacement::local)))
    return module.emitError("'hfta.kfac_plan' must be of 'placement = ")
           << job.kfacPlacement << "' on " << ranks
           << (isLocal ? " groups" : " replicas");
  if (*given) {
    planned.plan = std::move((*given)->plan);
  } else {
    FailureOr<planning::KfacPlan> plan = KfacPlacer(tasks, planned).place();
    if (failed(plan))
      return failure();
    planned.plan = std::move(*plan);
  }
  separatePasses(planned.model, planned.rates.getCosts(), planned.plan);
  collectBuckets(planned, units);
  planned.write(module);
  deal(module.getContext(), planned.plan, job, units);
  return success();
}
