//===- KfacTasks.cpp - From moments to preconditioned gradients -----------===//

#include "KfacTasks.h"

#include "Kfac.h"
#include "KfacParts.h"
#include "LossWeight.h"
#include "llvm/ADT/MapVector.h"

#include <set>

using namespace mlir;
using namespace mlir::hfta;

/// The events that are counted, for the host to report.
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
  // Where a factor is formed of one group's rows, its mean is where the
  // inverses are.
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
    // There is one value per copy, even where each copy has variables of its
    // own: the others are 0.
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
/// several stages each block has its own, which the last stage adds up.
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

/// Adds to the number of times that something has happened in a task.
void KfacTasks::count(StringRef name, const Expression &number) {
  Expression &sum = counts[{name.str(), copy.value_or(-1)}];
  sum = sum.isNull() ? number : sum + number;
}

/// Declares the counts of the current task, which some replicas run.
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

/// Adds to the counts of the step's other tasks, for the host to report. Counts
/// of some replicas are sent to all, which then add them up.
void KfacTasks::writeCounts() {
  DenseSet<Operation *> begun;
  for (auto &[key, sum] : counts) {
    // Counts of all copies come first.
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

/// Adds up the counters of all blocks, where these have their own.
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
/// Builds tasks of a part: by block, then by the replicas that run them, in the
/// order in which they occur; those that all run come last, so that others are
/// done sooner.
template <typename Work>
class Dealt {
public:
  void add(int64_t block, ReplicasAttr replicas, Work work) {
    auto &lists = replicas ? ofSome[block] : ofAll[block];
    lists[replicas].push_back(work);
  }
  /// Calls with block, replicas and work.
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

/// Builds inversions: both factors of a unit in one task where the same
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

/// Adds up the counts of tasks of some replicas, after they were sent to all;
/// where there are several stages, those of one block.
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

/// Computes ν, from products that are added in the order of the parameters.
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
  // Gradients are of a sum: the product with the mean's gradient is theirs
  // divided by the squared sum of weights.
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
