//===- KfacTasks.cpp - From moments to preconditioned gradients -----------===//

#include "Kfac/KfacTasks.h"

#include "Kfac/Kfac.h"
#include "Kfac/KfacParts.h"
#include "Tasks/LossWeight.h"
#include "llvm/ADT/MapVector.h"

#include <set>

using namespace mlir;
using namespace mlir::hfta;

/// The events that tasks count for the log: statistics that aren't finite and
/// are skipped, inversions that are retried with more damping, and old inverses
/// that are kept because all tries failed.
static constexpr StringLiteral kCounts[] = {"skipped", "retried", "kept"};

//===----------------------------------------------------------------------===//
// Variables
//===----------------------------------------------------------------------===//

VariableOp KfacTasks::declareState(const KfacUnit &unit, StringRef name,
                                   ArrayRef<int64_t> shape, Type elementType,
                                   ReplicasAttr holders) {
  VariableOp of = unit.weight.variable;
  auto plain = RankedTensorType::get(shape, elementType);
  VariableOp declared = tasks.declareOf(
      of, Purpose::curvature, name,
      of.getCopy() ? plain : withCopies(plain, tasks.getJob().copies),
      unit.getBlock());
  declared.setHoldersAttr(holders);
  return declared;
}

void KfacTasks::findSent() {
  for (const KfacUnit &unit : units)
    if (unit.input.owner && getStage(*unit.input.owner) != getStage(unit))
      sent.insert(unit.input.owner);
}

void KfacTasks::declareFactor(KfacUnit &unit, KfacFactor &factor,
                              StringRef name) {
  SmallVector<int64_t> shape = factor.getShape();
  std::string mean = (name + "factor").str();
  bool isSent = !factor.isOfOutput && sent.contains(&unit);
  // With placement `local`, the mean is only on the replicas with the inverse,
  // unless it is sent to other stages.
  ReplicasAttr holders =
      factor.group >= 0 && !isSent ? unit.holders : ReplicasAttr();
  if (factor.owner) {
    factor.mean = factor.owner->input.mean;
    factor.weight = factor.owner->input.weight;
  } else {
    factor.mean = declareState(unit, mean, shape, type, holders);
    factor.weight = declareState(unit, mean + "_weight", {}, wide, holders);
  }
  if (unit.rule != KfacRule::kronecker)
    return;
  if (isEigen() && factor.isDiagonal)
    return;
  if (!isEigen()) {
    factor.inverse =
        declareState(unit, (name + "inverse").str(), shape, type, unit.holders);
  } else if (factor.owner) {
    factor.basis = factor.owner->input.basis;
    factor.eigenvalues = factor.owner->input.eigenvalues;
  } else {
    auto declare = [&](StringRef what, ArrayRef<int64_t> all) {
      return declareState(unit, (name + what).str(), KfacFactor::keep(all),
                          type, isSent ? ReplicasAttr() : unit.holders);
    };
    factor.basis = declare("basis", {factor.blocks, factor.size, factor.size});
    factor.eigenvalues = declare("eigenvalues", {factor.blocks, factor.size});
  }
}

void KfacTasks::declareVariables() {
  findSent();
  for (KfacUnit &unit : units) {
    if (unit.rule == KfacRule::plain)
      continue;
    bool isKronecker = unit.rule == KfacRule::kronecker;
    if (isKronecker)
      declareFactor(unit, unit.input, "input_");
    declareFactor(unit, unit.output, isKronecker ? "output_" : "");
    // Inner products have a value for each copy, even if the weight is a single
    // copy's: those of other copies stay 0.
    tasks
        .declareOf(unit.weight.variable, Purpose::inner_product, {},
                   tasks.scalarType(wide, true), unit.getBlock())
        .removeCopyAttr();
  }
  tasks.declare(Purpose::kl_scale, tasks.scalarType(wide, true));
  for (StringRef name : kCounts)
    declareCount(name);
}

VariableOp KfacTasks::declareCount(StringRef name) {
  return tasks.declare(
      PurposeAttr::get(tasks.getContext(), Purpose::curvature_count, name),
      tasks.scalarType(wide, true));
}

/// Returns the counter `name` to which the tasks of `block` add. In a job of
/// several stages each block has its own counter; the last stage adds these up.
VariableOp KfacTasks::getCounter(StringRef name, int64_t block) {
  std::string own = name.str();
  if (tasks.getJob().getStageCount() > 1)
    own += "." + std::to_string(block);
  VariableOp counter =
      tasks.getVariables().lookup(Purpose::curvature_count, own);
  if (counter)
    return counter;
  counter = declareCount(own);
  counter.setBlock(block);
  counters[name.str()].push_back(counter);
  return counter;
}

/// Adds to the current task's count `name` of events, for the copy, or the
/// copies, of the current unit.
void KfacTasks::count(StringRef name, const Expression &number) {
  Expression &sum = counts[{name.str(), copy.value_or(-1)}];
  sum = sum.isNull() ? number : sum + number;
}

/// Returns the variable for the count `name` of the current task, which only
/// some replicas run; declares it if need be.
VariableOp KfacTasks::declareCountOf(StringRef name) {
  std::string symbol = names::getCompilerSymbol("curvature_count/" + name +
                                                "/" + task.makeName());
  if (VariableOp known = tasks.lookup(symbol))
    return known;
  VariableOp declared =
      tasks.declareCarried(symbol, tasks.scalarType(wide, true), Role::output);
  declared.setBlock(task.getBlock());
  countsOfSome.emplace_back(name, declared);
  return declared;
}

/// Ends the current task by adding its counts to the counters that the host
/// reports. If only some replicas run the task, writes the counts to variables
/// of their own, which are sent to all replicas to be added up (buildCount).
void KfacTasks::writeCounts() {
  DenseSet<Operation *> begun;
  for (auto &[key, sum] : counts) {
    // Counts for all copies (-1) come before those for single copies.
    auto of = key.second < 0 ? std::nullopt : std::optional(key.second);
    VariableOp counter = task.getReplicas()
                             ? declareCountOf(key.first)
                             : getCounter(key.first, task.getBlock());
    if (task.getReplicas() && begun.insert(counter).second)
      tasks.write(number(0.0), counter);
    tasks.accumulate(sum, counter, of);
  }
  counts.clear();
}

/// In a job of several stages, builds the sums of the counters of all blocks.
void KfacTasks::addCounts() {
  for (auto &[name, ofBlocks] : counters) {
    Expression sum = number(0.0);
    for (VariableOp counter : ofBlocks)
      sum = sum + read(counter);
    write(sum, tasks.getVariables().lookup(Purpose::curvature_count, name));
  }
}

//===----------------------------------------------------------------------===//
// Tasks
//===----------------------------------------------------------------------===//

void KfacTasks::startTask(StringRef part, int64_t block,
                          ReplicasAttr replicas) {
  task = TaskAttr::get(tasks.getContext(), builder.getStringAttr(part), block,
                       replicas);
  tasks.startTask(part, block, replicas);
}

namespace {
/// Divides the work of a part into tasks: by block, and by the replicas that
/// run it, in the order in which these are first named. In each block, tasks
/// for some replicas come before the one for all replicas, so that they are
/// done sooner.
template <typename Work>
class Dealt {
public:
  void add(int64_t block, ReplicasAttr replicas, Work work) {
    auto &lists = replicas ? ofSome[block] : ofAll[block];
    lists[replicas].push_back(work);
  }
  /// Calls `visit` for each task, with its block, its replicas and a list of
  /// its work.
  template <typename Visit>
  void visit(Visit visit) {
    std::set<int64_t> blocks;
    for (auto &[block, lists] : ofSome)
      blocks.insert(block);
    for (auto &[block, lists] : ofAll)
      blocks.insert(block);
    for (int64_t block : blocks)
      for (auto *lists : {&ofSome[block], &ofAll[block]})
        for (auto &[replicas, works] : *lists)
          visit(block, replicas, works);
  }

private:
  using Lists = llvm::MapVector<ReplicasAttr, SmallVector<Work>>;
  std::map<int64_t, Lists> ofSome, ofAll;
};
} // namespace

void KfacTasks::buildPart(
    StringRef part, llvm::function_ref<ReplicasAttr(KfacUnit &)> getRunner,
    llvm::function_ref<void(KfacUnit &)> each) {
  Dealt<KfacUnit *> dealt;
  for (KfacUnit &unit : units)
    if (unit.rule != KfacRule::plain)
      dealt.add(unit.getBlock(), getRunner(unit), &unit);
  dealt.visit(
      [&](int64_t block, ReplicasAttr replicas, ArrayRef<KfacUnit *> ofTask) {
        startTask(part, block, replicas);
        for (KfacUnit *unit : ofTask) {
          copy = unit->weight.copy;
          each(*unit);
        }
        writeCounts();
      });
}

/// Builds the invert tasks. Both factors of a unit are in one task if the same
/// replicas invert them.
void KfacTasks::buildInversions() {
  struct Inversion {
    KfacUnit *unit;
    bool ofInput, ofOutput;
  };
  Dealt<Inversion> dealt;
  for (KfacUnit &unit : units) {
    if (unit.rule != KfacRule::kronecker)
      continue;
    auto getRunner = [&](const KfacFactor &factor) {
      return factor.inverter ? factor.inverter : unit.holders;
    };
    ReplicasAttr input = getRunner(unit.input), output = getRunner(unit.output);
    if (input == output) {
      dealt.add(unit.getBlock(), input, {&unit, true, true});
      continue;
    }
    if (isInverted(unit.input))
      dealt.add(unit.getBlock(), input, {&unit, true, false});
    dealt.add(unit.getBlock(), output, {&unit, false, true});
  }
  dealt.visit(
      [&](int64_t block, ReplicasAttr replicas, ArrayRef<Inversion> ofTask) {
        startTask(parts::kInvert, block, replicas);
        for (const Inversion &inversion : ofTask) {
          copy = inversion.unit->weight.copy;
          invert(*inversion.unit, inversion.ofInput, inversion.ofOutput);
        }
        writeCounts();
      });
}

/// Builds tasks of `part`, which all replicas run: they add up the counts of
/// tasks that only some replicas run. In a job of several stages there is one
/// task for each block, otherwise one for all.
void KfacTasks::buildCount(StringRef part) {
  bool hasStages = tasks.getJob().getStageCount() > 1;
  std::map<int64_t, SmallVector<std::pair<std::string, VariableOp>>> ofBlocks;
  for (auto &[name, counted] : countsOfSome)
    ofBlocks[hasStages ? static_cast<int64_t>(counted.getBlock()) : -1]
        .emplace_back(name, counted);
  countsOfSome.clear();
  copy = std::nullopt;
  for (auto &[block, counts] : ofBlocks) {
    startTask(part, block, ReplicasAttr());
    for (auto &[name, counted] : counts)
      count(name, read(counted));
    writeCounts();
  }
}

/// Builds the task that computes ν. Inner products are added up in the order of
/// the parameters.
void KfacTasks::buildScale() {
  startTask(parts::kScale, -1, ReplicasAttr());
  copy = std::nullopt;
  addCounts();
  Expression sum = number(0.0);
  DenseSet<Operation *> added;
  for (const KfacUnit &unit : units) {
    if (unit.rule == KfacRule::plain)
      continue;
    VariableOp product = tasks.getVariables().lookupOf(unit.weight.variable,
                                                       Purpose::inner_product);
    if (added.insert(product).second)
      sum = sum + read(product);
  }
  // Gradients are those of the sum of losses. To get the inner product for the
  // mean loss, divide twice, as V and Grad are both proportional to the loss.
  if (VariableOp terms = tasks.getVariables().lookup(Purpose::loss_weight)) {
    Expression divisor = getGradientDivisor(read(terms).to(wide));
    sum = sum / (divisor * divisor);
  }
  Expression limit = readParameter("kl_clip").to(wide);
  Expression rate = read(tasks.getVariables().lookup(Purpose::learning_rate));
  Expression change = rate * rate * sum.apply<AbsOp>();
  Expression scale = (limit / change).apply<SqrtOp>();
  scale = scale.compare(ComparePredicate::greater, 1.0).select(1.0, scale);
  scale = change.compare(ComparePredicate::equal, 0.0).select(1.0, scale);
  scale = limit.compare(ComparePredicate::equal, 0.0).select(1.0, scale);
  write(scale, tasks.getVariables().lookup(Purpose::kl_scale));
}

void KfacTasks::build() {
  declareVariables();
  buildPart(
      parts::kCurvature,
      [](KfacUnit &unit) {
        return unit.output.group >= 0 ? unit.holders : ReplicasAttr();
      },
      [&](KfacUnit &unit) {
        if (unit.rule == KfacRule::kronecker)
          updateMean(unit, unit.input);
        updateMean(unit, unit.output);
      });
  buildCount(parts::kCountFactors);
  buildInversions();
  buildCount(parts::kCountInverses);
  buildPart(
      parts::kPrecondition, [](KfacUnit &unit) { return unit.holders; },
      [&](KfacUnit &unit) { precondition(unit); });
  if (llvm::any_of(units,
                   [](const KfacUnit &unit) { return unit.isFromRows(); }))
    buildPart(
        parts::kPreconditionRows, [](KfacUnit &unit) { return unit.holders; },
        [&](KfacUnit &unit) { precondition(unit); });
  buildScale();
}

void hfta::buildKfacTasks(TaskBuilder &tasks, MutableArrayRef<KfacUnit> units) {
  KfacTasks(tasks, units).build();
}
