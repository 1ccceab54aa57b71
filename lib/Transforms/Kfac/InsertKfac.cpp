//===- InsertKfac.cpp - Second-order steps, in front of any optimizer -----===//

#include "Hfta/Dialect/Hfta/IR/Expression.h"
#include "Hfta/Transforms/Passes.h"
#include "Kfac/Kfac.h"
#include "Kfac/KfacFromRows.h"
#include "Kfac/KfacPlacement.h"

#include "mlir/IR/Dominance.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Transforms/CSE.h"

#include <set>

namespace mlir::hfta {
#define GEN_PASS_DEF_HFTAINSERTKFAC
#include "Hfta/Transforms/Passes.h.inc"
} // namespace mlir::hfta

using namespace mlir;
using namespace mlir::hfta;

static std::string describe(const KfacUnit &unit) {
  auto getName = [](const TrainedLeaf &leaf) {
    return "'" + VariableOp(leaf.variable).getOwnName() + "'";
  };
  std::string text = "parameter " + getName(unit.weight);
  if (unit.bias)
    text += " with " + getName(*unit.bias);
  if (unit.weight.copy)
    text += " of copy " + std::to_string(*unit.weight.copy);
  llvm::raw_string_ostream stream(text);
  auto printFactor = [&](const KfacFactor &factor) {
    if (factor.blocks > 1)
      stream << factor.blocks << " x ";
    if (factor.isDiagonal)
      stream << "diagonal ";
    stream << "[" << factor.size << ", " << factor.size << "]";
  };
  switch (unit.rule) {
  case KfacRule::kronecker:
    stream << ": Kronecker factors of the input ";
    printFactor(unit.input);
    stream << " and of the output ";
    printFactor(unit.output);
    if (unit.input.owner)
      stream << ", the input's shared with '"
             << VariableOp(unit.input.owner->weight.variable).getOwnName()
             << "'";
    if (unit.keepsPositions)
      stream << "; each position is a row, as it isn't known which sample it "
                "belongs to";
    if (unit.isFromRows())
      stream << "; steps precondition its " << unit.axes->rows << " rows";
    break;
  case KfacRule::unit:
    stream << ": a " << unit.output.size << " x " << unit.output.size
           << " matrix for each of " << unit.features << " features";
    break;
  case KfacRule::plain:
    stream << " keeps its gradient: " << unit.reason;
    break;
  }
  return text;
}

static void remarkOn(const KfacUnit &unit) {
  VariableOp variable = unit.weight.variable;
  auto options = remark::RemarkOpts::name("Kfac").category("hfta-insert-kfac");
  if (unit.rule == KfacRule::plain)
    remark::missed(variable.getLoc(), options) << describe(unit);
  else
    remark::passed(variable.getLoc(), options) << describe(unit);
}

namespace {
struct InsertKfacPass : hfta::impl::HftaInsertKfacBase<InsertKfacPass> {
  using HftaInsertKfacBase::HftaInsertKfacBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<Job> job = Job::read(module);
    if (failed(job))
      return signalPassFailure();
    if (job->preconditioner.empty())
      return;
    if (failed(check(module, *job)))
      return signalPassFailure();
    if (failed(checkLayers(module)))
      return signalPassFailure();
    // Merge equal ops, because equal inputs and gradients of layers are
    // recognized by being the same value.
    IRRewriter rewriter(&getContext());
    DominanceInfo dominance(module);
    eliminateCommonSubExpressions(rewriter, dominance, module);
    TaskBuilder tasks(module, *job);
    std::vector<KfacUnit> units = findKfacUnits(tasks);
    if (llvm::all_of(units, [](const KfacUnit &unit) {
          return unit.rule == KfacRule::plain;
        })) {
      module.emitError("there is nothing to precondition: no trained parameter "
                       "belongs to a layer that kfac knows");
      return signalPassFailure();
    }
    SmallVector<VariableOp> rows = leaveRows(tasks, units);
    buildKfacMoments(tasks, units);
    buildRowsVersions(tasks, units, rows);
    if (failed(placeKfac(tasks, units)))
      return signalPassFailure();
    for (const KfacUnit &unit : units)
      remarkOn(unit);
    buildKfacTasks(tasks, units);
    scaleGradients(tasks, units);
  }

  /// Reports settings with which K-FAC is not possible, or not yet.
  static LogicalResult check(ModuleOp module, const Job &job) {
    auto refuse = [&](const Twine &what) {
      return module.emitError("'precondition kfac' can't be combined with ")
             << what << " yet";
    };
    // Preconditioned gradients may be much larger than gradients, and overflow.
    if (job.precision.gradients == "f16")
      return refuse("'gradients = f16'");
    auto hasZero = [](ArrayRef<double> values) {
      return values.empty() || llvm::is_contained(values, 0.0);
    };
    const Schedule &damping = job.kfacDampingSchedule;
    if ((damping.kind == "cosine" && hasZero(damping.minimum)) ||
        (damping.kind == "step" && hasZero(damping.gamma)))
      return module.emitError("the damping must stay above zero: give "
                              "'damping_schedule = ")
             << damping.kind
             << (damping.kind == "cosine" ? "' a 'minimum'" : "' a 'gamma'")
             << " above 0";
    return success();
  }

  /// Reports layers that several models have in common although the ops around
  /// them differ: the units of such layers might not be those that each copy
  /// would have alone.
  static LogicalResult checkLayers(ModuleOp module) {
    WalkResult result = module.walk([](LayerOp layer) {
      if (!layer.getCopy() || !isArrayed(layer.getOutputGradient()))
        return WalkResult::advance();
      layer.emitError(
          "'precondition kfac' can't be combined yet with models that differ "
          "in the ops around this layer; compile them with --no-fuse");
      return WalkResult::interrupt();
    });
    return failure(result.wasInterrupted());
  }

  /// Symbols of gradients, each with the copy that it is used for, or -1 for
  /// all copies.
  using Gradients = std::set<std::pair<StringRef, int64_t>>;

  /// Multiplies preconditioned gradients by ν (KfacTasks.h) wherever norm and
  /// update tasks read them.
  static void scaleGradients(TaskBuilder &tasks, ArrayRef<KfacUnit> units) {
    Gradients preconditioned;
    auto note = [&](const TrainedLeaf &leaf) {
      VariableOp gradient =
          tasks.getVariables().lookupOf(leaf.variable, Purpose::gradient);
      preconditioned.insert({gradient.getSymName(), leaf.copy.value_or(-1)});
    };
    for (const KfacUnit &unit : units) {
      if (unit.rule == KfacRule::plain)
        continue;
      note(unit.weight);
      if (unit.bias)
        note(*unit.bias);
    }
    for (auto function : tasks.getModule().getOps<func::FuncOp>()) {
      auto task = function->getAttrOfType<TaskAttr>(HftaDialect::kTaskAttrName);
      if (!task || !llvm::is_contained({parts::kNorm, parts::kUpdate},
                                       task.getPart().getValue()))
        continue;
      for (auto read :
           llvm::to_vector(function.getBody().front().getOps<ReadOp>()))
        if (Value factor = buildScale(tasks, preconditioned, read))
          scale(tasks, read, factor);
    }
  }

  /// Builds the factor of the gradient that `read` reads: ν for copies whose
  /// gradient is preconditioned, 1 for others. Returns null if there are no
  /// such copies.
  static Value buildScale(TaskBuilder &tasks, const Gradients &preconditioned,
                          ReadOp read) {
    OpBuilder &builder = tasks.getBuilder();
    builder.setInsertionPointAfter(read);
    std::optional<int64_t> copy = read.getCopy();
    if (!copy)
      copy = tasks.lookup(read.getVariable()).getCopy();
    auto has = [&](int64_t of) {
      return preconditioned.count({read.getVariable(), of}) > 0;
    };
    if (has(-1) || (copy && has(*copy)))
      return tasks.read(Purpose::kl_scale, copy);
    auto copies = llvm::seq<int64_t>(0, tasks.getJob().copies);
    if (copy || llvm::none_of(copies, has))
      return {};
    SmallVector<Value> factors;
    for (int64_t of : copies)
      factors.push_back(has(of) ? tasks.read(Purpose::kl_scale, of)
                                : tasks.splat({}, builder.getF64Type(), 1.0));
    return StackOp::create(
        builder, read.getLoc(),
        withCopies(factors.front().getType(), tasks.getJob().copies), factors);
  }

  static void scale(TaskBuilder &tasks, ReadOp read, Value factor) {
    Expression gradient(tasks.getBuilder(), read.getLoc(), read);
    Expression scaled = gradient * gradient.at(factor)
                                       .to(gradient.getElementType())
                                       .fill(gradient.getShape());
    read.getResult().replaceAllUsesExcept(scaled,
                                          Value(scaled).getDefiningOp());
  }
};
} // namespace
