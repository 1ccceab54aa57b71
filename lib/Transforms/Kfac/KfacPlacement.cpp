//===- KfacPlacement.cpp - Replicas' shares of the work of K-FAC ----------===//

#include "Kfac/KfacPlacement.h"

#include "Hfta/Dialect/Hfta/Job/Settings.h"
#include "Hfta/Planning/Kfac/KfacSimulation.h"
#include "Hfta/Transforms/Tasks/MeasuredTasks.h"
#include "Kfac/KfacModeler.h"

#include <map>

using namespace mlir;
using namespace mlir::hfta;

namespace {

class KfacPlacer {
public:
  KfacPlacer(TaskBuilder &tasks, const KfacShare &share,
             const PlannedKfac &problem)
      : module(tasks.getModule()), job(tasks.getJob()), model(problem.model),
        stage(share.stage), ranks(share.ranks),
        costs(problem.rates.getCosts()) {}

  FailureOr<planning::KfacPlan> place();

private:
  planning::KfacPlan choose();
  FailureOr<planning::KfacPlan> placeFraction(double share);
  planning::KfacPlan placeLocally();
  double getMemory();

  ModuleOp module;
  const Job &job;
  const planning::KfacModel &model;
  std::optional<int64_t> stage;
  int64_t ranks;
  planning::KfacCosts costs;
};

} // namespace

/// Returns the bytes that other variables leave on each of the stage's devices
/// for factors and inverses, at least 1; 0 if memory isn't limited.
double KfacPlacer::getMemory() {
  if (job.clusterMemory == 0)
    return 0;
  double bytes = static_cast<double>(job.clusterMemory);
  for (auto variable : module.getOps<VariableOp>()) {
    auto block = static_cast<int64_t>(variable.getBlock());
    bool isElsewhere = stage && block >= 0 && job.getStage(block) != *stage;
    if (variable.getRole() == Role::constant || isElsewhere)
      continue;
    // A replica has sums of its own groups only. It holds activations of at
    // least one copy at a time.
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

/// Returns the fastest plan that fits in the memory that is left. If none fits,
/// returns the plan that inverts each factor on one replica, as it needs the
/// least memory: the program's true needs are known only later and may be
/// smaller, so that this is no error.
planning::KfacPlan KfacPlacer::choose() {
  llvm::Expected<planning::ChosenKfacPlan> chosen =
      planning::chooseKfacPlan(model, costs, ranks, getMemory());
  if (chosen)
    return std::move(chosen->plan);
  llvm::consumeError(chosen.takeError());
  return planning::planFraction(model, costs, {/*rows=*/1, ranks});
}

/// Returns the fastest plan for a grid that has the fraction `share` of the
/// ranks in each column: one by this project's rule, or one by KAISA's, with a
/// layer's factors together or apart.
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
  return *llvm::min_element(plans, [&](const auto &first, const auto &second) {
    return getSeconds(first) < getSeconds(second);
  });
}

/// Returns the plan for placement `local`, which assigns each layer to one
/// group. As a copy's results depend on that, the plan must follow from one
/// copy's layers alone. All copies have the same layers (areCopiesAlike).
planning::KfacPlan KfacPlacer::placeLocally() {
  planning::KfacModel ofCopy = model;
  for (planning::KfacFactor &factor : ofCopy.factors) {
    factor.matrices.count /= job.copies;
    // Count the inversion of each factor once, whatever the method and however
    // many layers use it.
    factor.inverses = 1;
  }
  return planning::planLocal(ofCopy, ranks);
}

FailureOr<planning::KfacPlan> KfacPlacer::place() {
  StringRef word = job.kfacPlacement;
  if (word == "auto")
    return choose();
  if (word == "balanced")
    return planning::planBalanced(model, costs, ranks);
  if (word == "local")
    return planning::KfacPlan(placeLocally());
  std::optional<double> share = planning::readFraction(word);
  if (!share)
    return module.emitError("the job has no placement '") << word << "'";
  return placeFraction(*share);
}

/// Whether the plan `given` was made for the factors and layers of `problem`.
static bool isPlanOf(const PlannedKfac &given, const PlannedKfac &problem) {
  auto isSame = [](const planning::KfacFactor &one,
                   const planning::KfacFactor &other) {
    return one.matrices.size == other.matrices.size &&
           one.matrices.count == other.matrices.count &&
           one.block == other.block && one.isInput == other.isInput &&
           one.isReceived == other.isReceived;
  };
  auto hasSame = [](const planning::KfacLayer &one,
                    const planning::KfacLayer &other) {
    return one.factors.input == other.factors.input &&
           one.factors.output == other.factors.output;
  };
  return given.stage == problem.stage &&
         given.factorNames == problem.factorNames &&
         given.layerNames == problem.layerNames &&
         given.model.blocks.size() == problem.model.blocks.size() &&
         llvm::equal(given.model.factors, problem.model.factors, isSame) &&
         llvm::equal(given.model.layers, problem.model.layers, hasSame);
}

/// Returns the `count` replicas first, first + stride, .... A single replica
/// always has stride 1, so that equal sets are equal attributes.
static ReplicasAttr getReplicas(MLIRContext *context, int64_t first,
                                int64_t count, int64_t stride) {
  return ReplicasAttr::get(context, first, count, count == 1 ? 1 : stride);
}

/// Sets `holders`, `inverter` and `group` of the units and their factors as the
/// plan says.
static void deal(MLIRContext *context, const planning::KfacPlan &plan,
                 const Job &job, ArrayRef<KfacUnit *> units) {
  const planning::FactorGrid &grid = plan.grid;
  auto setInverter = [&](KfacFactor &factor) {
    if (factor.number < 0)
      return;
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
  for (KfacUnit *each : units) {
    KfacUnit &unit = *each;
    if (unit.rule != KfacRule::kronecker)
      continue;
    int64_t column = plan.columns.factors[unit.output.number];
    if (plan.placement == planning::KfacPlacement::local) {
      int64_t replicas = job.getReplicas(job.getStage(unit.getBlock()));
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

/// Splits buckets so that none has moments of both forward and backward:
/// moments of the forward needn't wait for the backward then.
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

/// Moves the moments of each bucket to the block that completes the bucket.
/// Moments of rule `unit` move with those of their block's output factors.
/// Moments that another stage computes stay in their blocks.
static void collectBuckets(const Job &job, const PlannedKfac &planned,
                           const KfacShare &share) {
  const planning::KfacPlan &plan = planned.plan;
  std::vector<int64_t> blockOf(planned.model.factors.size());
  std::map<int64_t, int64_t> ofBlock; // by a block of output factors
  for (const planning::Bucket &bucket : plan.buckets) {
    int64_t last =
        share.blocks[planned.model.factors[plan.readyOrder[bucket.last]].block];
    for (int64_t place = bucket.first; place <= bucket.last; ++place) {
      int64_t number = plan.readyOrder[place];
      const planning::KfacFactor &factor = planned.model.factors[number];
      blockOf[number] = last;
      if (!factor.isInput)
        ofBlock[share.blocks[factor.block]] = last;
    }
  }
  auto collect = [&](KfacFactor &factor, int64_t block) {
    for (VariableOp moment : factor.moments)
      if (job.getStage(static_cast<int64_t>(moment.getBlock())) ==
          job.getStage(block))
        moment.setBlock(block);
  };
  for (KfacUnit *each : share.units) {
    KfacUnit &unit = *each;
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

/// Returns the share of the units of `stage`, or of all units without a value.
static KfacShare makeShare(TaskBuilder &tasks, MutableArrayRef<KfacUnit> units,
                           std::optional<int64_t> stage, int64_t ranks) {
  const Job &job = tasks.getJob();
  KfacShare share;
  share.stage = stage;
  share.ranks = ranks;
  int64_t blocks = 1;
  for (auto function : tasks.getModule().getOps<func::FuncOp>())
    if (auto task =
            function->getAttrOfType<TaskAttr>(HftaDialect::kTaskAttrName))
      blocks = std::max<int64_t>(blocks, task.getBlock() + 1);
  for (int64_t block = 0; block < blocks; ++block)
    if (!stage || job.getStage(block) == *stage)
      share.blocks.push_back(block);
  for (KfacUnit &unit : units)
    if (llvm::is_contained(share.blocks, unit.getBlock()))
      share.units.push_back(&unit);
  return share;
}

/// Returns the shares: the sets of units whose work several ranks share.
/// Usually, the replicas of each stage share the stage's units. With placement
/// `local`, results depend on the group that a layer is assigned to. As they
/// must not depend on stages, all groups share the units of all stages.
static FailureOr<std::vector<KfacShare>>
listShares(TaskBuilder &tasks, MutableArrayRef<KfacUnit> units) {
  const Job &job = tasks.getJob();
  std::vector<KfacShare> shares;
  auto add = [&](std::optional<int64_t> stage, int64_t ranks) {
    if (ranks > 1)
      shares.push_back(makeShare(tasks, units, stage, ranks));
  };
  int64_t stages = job.getStageCount();
  if (job.kfacPlacement == "local") {
    for (int64_t stage = 1; stage < stages; ++stage)
      if (job.getGroups(stage) != job.getGroups(0))
        return tasks.getModule().emitError(
                   "'placement = local' needs the same number of groups in "
                   "each stage: stage 0 has ")
               << job.getGroups(0) << ", stage " << stage << " has "
               << job.getGroups(stage) << "; set it with 'groups'";
    add(std::nullopt, job.getGroups());
  } else if (stages == 1) {
    add(std::nullopt, job.getReplicas());
  } else {
    for (int64_t stage = 0; stage < stages; ++stage)
      add(stage, job.getReplicas(stage));
  }
  return shares;
}

/// Sets the rates of `planned`. With measured times, these replace estimates;
/// fails with an error if they are of a program with other cuts.
static LogicalResult measure(ModuleOp module, const Job &job, int64_t ranks,
                             const std::optional<MeasuredTasks> &measured,
                             PlannedKfac &planned) {
  planned.isMeasured = measured.has_value();
  planned.rates =
      getKfacRates(job, ranks, measured ? &measured->costs : nullptr);
  if (!measured)
    return success();
  if (llvm::Error error = measured->checkCuts(
          module.getContext(),
          module->getAttrOfType<ArrayAttr>(HftaDialect::kCutsAttrName)))
    return measured->refuse(module, std::move(error));
  if (llvm::Error error = planning::measureKfac(
          measured->costs, getKfacWorkload(job), planned.model, planned.rates))
    return measured->refuse(module, std::move(error));
  return success();
}

/// Plans a share, or keeps its plan among `allGiven`, those that the module had
/// before. Returns nothing if the share has no factors. Emits an error and
/// fails if the module's plans aren't for this share.
static FailureOr<std::optional<PlannedKfac>>
planShare(TaskBuilder &tasks, const KfacShare &share,
          const std::optional<MeasuredTasks> &measured,
          ArrayRef<PlannedKfac> allGiven) {
  const Job &job = tasks.getJob();
  ModuleOp module = tasks.getModule();
  bool isLocal = job.kfacPlacement == "local";
  KfacModeler modeler(job, share);
  PlannedKfac planned = modeler.build();
  if (isLocal && !modeler.areCopiesAlike())
    return module.emitError("'placement = local' can't be combined with models "
                            "that differ yet");
  if (planned.model.factors.empty())
    return std::optional<PlannedKfac>();
  if (failed(measure(module, job, share.ranks, measured, planned)))
    return failure();
  const auto *given = llvm::find_if(allGiven, [&](const PlannedKfac &each) {
    return each.stage == share.stage;
  });
  if (given == allGiven.end() && !allGiven.empty())
    return module.emitError("'hfta.kfac_plan' has no plan for ")
           << (share.stage ? "stage " + std::to_string(*share.stage)
                           : "all stages");
  if (given == allGiven.end()) {
    FailureOr<planning::KfacPlan> plan =
        KfacPlacer(tasks, share, planned).place();
    if (failed(plan))
      return failure();
    planned.plan = std::move(*plan);
    separatePasses(planned.model, planned.rates.getCosts(), planned.plan);
    return std::optional(std::move(planned));
  }
  if (!isPlanOf(*given, planned))
    return module.emitError(
        "'hfta.kfac_plan' is for other layers than the module has");
  bool isOfGroups = given->plan.placement == planning::KfacPlacement::local;
  if (given->plan.grid.getRankCount() != share.ranks || isLocal != isOfGroups)
    return module.emitError("'hfta.kfac_plan' must be for 'placement = ")
           << job.kfacPlacement << "' on " << share.ranks
           << (isLocal ? " groups" : " replicas");
  planned.plan = given->plan;
  return std::optional(std::move(planned));
}

LogicalResult hfta::placeKfac(TaskBuilder &tasks,
                              MutableArrayRef<KfacUnit> units) {
  const Job &job = tasks.getJob();
  ModuleOp module = tasks.getModule();
  FailureOr<std::vector<KfacShare>> shares = listShares(tasks, units);
  if (failed(shares))
    return failure();
  FailureOr<std::vector<PlannedKfac>> given = PlannedKfac::readAll(module);
  if (failed(given))
    return failure();
  FailureOr<std::optional<MeasuredTasks>> measured =
      MeasuredTasks::take(module);
  if (failed(measured))
    return failure();
  std::vector<PlannedKfac> plans;
  for (const KfacShare &share : *shares) {
    FailureOr<std::optional<PlannedKfac>> planned =
        planShare(tasks, share, *measured, *given);
    if (failed(planned))
      return failure();
    if (!*planned)
      continue;
    collectBuckets(job, **planned, share);
    deal(module.getContext(), (*planned)->plan, job, share.units);
    plans.push_back(std::move(**planned));
  }
  if (given->size() > plans.size())
    return module.emitError("'hfta.kfac_plan' has plans of ")
           << given->size() << " stages, expected " << plans.size();
  if (!plans.empty())
    PlannedKfac::writeAll(module, plans);
  return success();
}
