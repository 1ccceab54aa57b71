//===- InsertKfac.cpp - Second-order steps, in front of any optimizer -----===//

#include "Hfta/Dialect/Hfta/IR/Expression.h"
#include "Hfta/Transforms/Passes.h"
#include "Kfac.h"

#include "mlir/IR/Dominance.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Transforms/CSE.h"

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
    // Equal inputs are found as one value.
    IRRewriter rewriter(&getContext());
    DominanceInfo dominance(module);
    eliminateCommonSubExpressions(rewriter, dominance, module);
    TaskBuilder tasks(module, *job);
    std::vector<KfacUnit> units = findKfacUnits(tasks);
    if (llvm::all_of(units, [](const KfacUnit &unit) {
          return unit.rule == KfacRule::plain;
        })) {
      module.emitError("there is nothing to precondition: no trained parameter "
                       "is a layer's");
      return signalPassFailure();
    }
    buildKfacMoments(tasks, units);
    for (const KfacUnit &unit : units)
      remarkOn(unit);
    buildKfacTasks(tasks, units);
    scaleGradients(tasks, units);
  }

  /// What isn't built yet.
  static LogicalResult check(ModuleOp module, const Job &job) {
    auto refuse = [&](const Twine &what) {
      return module.emitError("'precondition kfac' can't be combined with ")
             << what << " yet";
    };
    if (job.getStageCount() > 1)
      return refuse("a pipeline of several stages");
    if (job.kfacFisher != "empirical")
      return refuse("'fisher = sampled'");
    // Every worker inverts all factors.
    if (job.kfacPlacement != "auto")
      return refuse("'placement = " + job.kfacPlacement + "'");
    return success();
  }

  /// Norms and updates read ν V.
  static void scaleGradients(TaskBuilder &tasks, ArrayRef<KfacUnit> units) {
    DenseSet<StringRef> preconditioned;
    auto note = [&](const TrainedLeaf &leaf) {
      preconditioned.insert(tasks.getVariables()
                                .lookupOf(leaf.variable, Purpose::gradient)
                                .getSymName());
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
        if (preconditioned.contains(read.getVariable()))
          scale(tasks, read);
    }
  }

  static void scale(TaskBuilder &tasks, ReadOp read) {
    OpBuilder &builder = tasks.getBuilder();
    builder.setInsertionPointAfter(read);
    std::optional<int64_t> copy = read.getCopy();
    Expression gradient(builder, read.getLoc(), read);
    if (!copy)
      copy = tasks.lookup(read.getVariable()).getCopy();
    Expression factor = gradient.at(tasks.read(Purpose::kl_scale, copy))
                            .to(gradient.getElementType())
                            .fill(gradient.getShape());
    Expression scaled = gradient * factor;
    read.getResult().replaceAllUsesExcept(scaled,
                                          Value(scaled).getDefiningOp());
  }
};
} // namespace
