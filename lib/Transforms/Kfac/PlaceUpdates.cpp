//===- PlaceUpdates.cpp - Matrices that one replica updates for all -------===//
//
// An update that computes with whole matrices takes much longer than one that
// goes through a parameter element by element, so that replicas share these
// updates, as distributed Muon does (J. Liu et al., "Muon is scalable for LLM
// training", 2025). The rule by which K-FAC's factors are placed (SPD-KFAC,
// ICDCS 2021) chooses the owners.
//===----------------------------------------------------------------------===//

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Dialect/Hfta/IR/VariableNames.h"
#include "Hfta/Dialect/Hfta/Job/Averages.h"
#include "Hfta/Dialect/Hfta/Job/Optimizers.h"
#include "Hfta/Planning/Common/ReferenceRates.h"
#include "Hfta/Planning/Kfac/FactorPlacement.h"
#include "Hfta/Transforms/Kfac/PlannedKfac.h"
#include "Hfta/Transforms/Passes.h"
#include "Tasks/Blocks.h"
#include "Tasks/TaskBuilder.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"

#include <cmath>

namespace mlir::hfta {
#define GEN_PASS_DEF_HFTAPLACEUPDATES
#include "Hfta/Transforms/Passes.h.inc"
} // namespace mlir::hfta

using namespace mlir;
using namespace mlir::hfta;

/// An estimate of an update's kernels: the five steps of muon have three
/// products each.
static constexpr double kKernels = 16;
/// The planner describes a matrix by the rows of a square one whose update
/// takes as many flops: those of muon's products, 30 n^3.
static constexpr double kFlopsPerCube = 30;

namespace {
/// A parameter with all of its updates, those of several copies and optimizers.
struct Updated {
  VariableOp parameter;
  SmallVector<OptimizerUpdateOp> updates;
  planning::Factor matrices;
};

/// Chooses the owners among the replicas of one stage, and divides the tasks.
class UpdatePlacer {
public:
  UpdatePlacer(ModuleOp module, const Job &job, int64_t stage)
      : module(module), job(job), stage(stage), symbols(module) {}

  void place();

private:
  VariableOp findParameter(OptimizerUpdateOp update);
  int64_t countSentElements(const Updated &updated) const;
  void collect(func::FuncOp task);
  planning::FactorOwners chooseOwners() const;
  void moveUpdates(func::FuncOp task, ArrayRef<Updated *> owned, int64_t owner);
  void giveHolders(func::FuncOp task, ReplicasAttr owner);
  void remarkOn(const Updated &updated, int64_t owner) const;

  ModuleOp module;
  const Job &job;
  int64_t stage;
  SymbolTable symbols;
  std::vector<Updated> all;
};
} // namespace

/// Returns the variable from which an update's parameter is read.
VariableOp UpdatePlacer::findParameter(OptimizerUpdateOp update) {
  ReadOp read = findRead(update.getParameter());
  return read ? symbols.lookup<VariableOp>(read.getVariable()) : VariableOp();
}

/// Returns the number of copies that an update is for.
static int64_t countCopies(OptimizerUpdateOp update) {
  ReadOp read = findRead(update.getParameter());
  if (read.getOnly())
    return static_cast<int64_t>(read.getOnly()->size());
  return getCopies(read.getType()).value_or(1);
}

/// Returns the elements that an owner sends of each copy's parameter: those of
/// the parameter itself and of an average of its weights.
int64_t UpdatePlacer::countSentElements(const Updated &updated) const {
  int64_t elements =
      VariableOp(updated.parameter).getTensorType().getNumElements();
  bool isAveraged = !job.average.empty() ||
                    llvm::any_of(updated.updates, [](OptimizerUpdateOp update) {
                      return update.getInfo().keepsAverage();
                    });
  return isAveraged ? 2 * elements : elements;
}

/// Adds the parameters of a task of which some update computes with matrices.
void UpdatePlacer::collect(func::FuncOp task) {
  llvm::MapVector<Operation *, Updated> ofTask;
  for (auto update : task.getOps<OptimizerUpdateOp>())
    if (VariableOp parameter = findParameter(update)) {
      Updated &updated = ofTask[parameter];
      updated.parameter = parameter;
      updated.updates.push_back(update);
    }
  for (auto &[parameter, updated] : ofTask) {
    RankedTensorType type = updated.parameter.getTensorType();
    double flops = 0;
    int64_t matrices = 0;
    for (OptimizerUpdateOp update : updated.updates) {
      if (!update.getInfo().countProducts || type.getRank() < 2)
        continue;
      int64_t copies = countCopies(update);
      matrices += copies;
      flops +=
          static_cast<double>(copies) * static_cast<double>(update.getFlops());
    }
    if (matrices == 0)
      continue;
    updated.matrices.count = matrices;
    updated.matrices.size = std::max<int64_t>(
        std::llround(
            std::cbrt(flops / static_cast<double>(matrices) / kFlopsPerCube)),
        1);
    updated.matrices.sentElements = countSentElements(updated);
    all.push_back(std::move(updated));
  }
}

planning::FactorOwners UpdatePlacer::chooseOwners() const {
  int64_t replicas = job.getReplicas(stage);
  planning::KfacRates rates = getKfacRates(job, replicas, /*measured=*/nullptr);
  planning::PlacementCosts costs;
  costs.invert = planning::makeCubicInversionCost(
      kKernels * planning::kSecondsPerKernel, /*each=*/0,
      kFlopsPerCube / planning::kFlopsPerSecond);
  costs.broadcast = rates.getCosts().broadcast(replicas);
  costs.isMerged = false;
  SmallVector<planning::Factor> matrices = llvm::map_to_vector(
      all, [](const Updated &updated) { return updated.matrices; });
  return planning::placeFactors(matrices, replicas, costs);
}

void UpdatePlacer::place() {
  auto tasks = llvm::to_vector(llvm::make_filter_range(
      module.getOps<func::FuncOp>(), [&](func::FuncOp function) {
        auto task =
            function->getAttrOfType<TaskAttr>(HftaDialect::kTaskAttrName);
        return task && task.getPart() == parts::kUpdate &&
               job.getStage(task.getBlock()) == stage;
      }));
  for (func::FuncOp task : tasks)
    collect(task);
  if (all.empty())
    return;
  planning::FactorOwners owners = chooseOwners();
  for (func::FuncOp task : tasks) {
    std::map<int64_t, SmallVector<Updated *>> byOwner;
    for (auto [updated, owner] : llvm::zip_equal(all, owners))
      if (owner != planning::kEveryRank &&
          updated.updates.front()->getParentOp() == task)
        byOwner[owner].push_back(&updated);
    for (auto &[owner, owned] : byOwner)
      moveUpdates(task, owned, owner);
  }
}

/// Moves updates, and the writes of their results, to a task of their owner,
/// with the ops and reads that they need.
void UpdatePlacer::moveUpdates(func::FuncOp task, ArrayRef<Updated *> owned,
                               int64_t owner) {
  MLIRContext *context = module.getContext();
  auto attribute = task->getAttrOfType<TaskAttr>(HftaDialect::kTaskAttrName);
  auto replicas = ReplicasAttr::get(context, owner, 1, 1);
  DenseSet<Operation *> results, needed;
  for (Updated *each : owned) {
    results.insert(each->updates.begin(), each->updates.end());
    remarkOn(*each, owner);
  }
  Block &body = task.getBody().front();
  auto hasAny = [](const DenseSet<Operation *> &set, Operation &op) {
    return llvm::any_of(op.getOperands(), [&](Value operand) {
      return set.contains(operand.getDefiningOp());
    });
  };
  for (Operation &op : body)
    if (hasAny(results, op))
      results.insert(&op);
  needed = results;
  for (Operation &op : llvm::reverse(body))
    if (needed.contains(&op))
      for (Value operand : op.getOperands())
        if (Operation *from = operand.getDefiningOp())
          needed.insert(from);

  OpBuilder builder(task);
  auto part = func::FuncOp::create(
      builder, task.getLoc(),
      (names::kTaskPrefix + TaskAttr::makeName(attribute.getPart().getValue(),
                                               attribute.getBlock(), replicas))
          .str(),
      task.getFunctionType());
  part->setAttr(HftaDialect::kTaskAttrName,
                TaskAttr::get(context, attribute.getPart(),
                              attribute.getBlock(), replicas));
  builder.setInsertionPointToStart(part.addEntryBlock());
  IRMapping mapping;
  for (Operation &op : body)
    if (needed.contains(&op))
      builder.clone(op, mapping);
  func::ReturnOp::create(builder, task.getLoc());
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if (results.contains(&op))
      op.erase();
  eraseDeadOps(body);
  symbols.insert(part);
  part->moveBefore(task);
  giveHolders(part, replicas);
}

/// Lets only the owner have the states that no other task than its own reads or
/// writes. All replicas have averages of weights, which each of them evaluates.
void UpdatePlacer::giveHolders(func::FuncOp task, ReplicasAttr owner) {
  auto accesses = [](func::FuncOp other, VariableOp variable) {
    auto isOf = [&](auto access) {
      return access.getVariable() == variable.getSymName();
    };
    return llvm::any_of(other.getOps<WriteOp>(), isOf) ||
           llvm::any_of(other.getOps<ReadOp>(), isOf);
  };
  for (auto write : task.getOps<WriteOp>()) {
    auto variable = symbols.lookup<VariableOp>(write.getVariable());
    if (!variable.isFor(Purpose::state))
      continue;
    bool isAverage = llvm::is_contained(
        kAverageStates, variable.getPurposeAttr().getName().getValue());
    bool isAccessedElsewhere =
        llvm::any_of(module.getOps<func::FuncOp>(), [&](func::FuncOp other) {
          return other != task && accesses(other, variable);
        });
    if (!isAverage && !isAccessedElsewhere)
      variable.setHoldersAttr(owner);
  }
}

void UpdatePlacer::remarkOn(const Updated &updated, int64_t owner) const {
  VariableOp parameter = updated.parameter;
  std::string text = "parameter '" + parameter.getOwnName() +
                     "': updated by replica " + std::to_string(owner) + " of " +
                     std::to_string(job.getReplicas(stage));
  remark::passed(
      parameter.getLoc(),
      remark::RemarkOpts::name("PlacedUpdate").category("hfta-place-updates"))
      << text;
}

namespace {
struct PlaceUpdatesPass : hfta::impl::HftaPlaceUpdatesBase<PlaceUpdatesPass> {
  using HftaPlaceUpdatesBase::HftaPlaceUpdatesBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<Job> job = Job::read(module);
    if (failed(job))
      return signalPassFailure();
    if (job->hasBudget())
      return markAllAnalysesPreserved();
    for (int64_t stage = 0; stage < job->getStageCount(); ++stage)
      if (job->getReplicas(stage) > 1)
        UpdatePlacer(module, *job, stage).place();
  }
};
} // namespace
