//===- ClipTask.cpp - The factors by which gradients are clipped ----------===//

#include "Hfta/Dialect/Hfta/IR/ParameterKinds.h"
#include "Hfta/Dialect/Hfta/IR/Turns.h"
#include "Tasks/LossScale.h"
#include "Tasks/TaskBuilder.h"

using namespace mlir;
using namespace mlir::hfta;

/// Computes the factor of PyTorch's clip_grad_norm_: limit / (norm of the
/// gradients + 1e-6), at most 1. NaN stays NaN. An infinite limit means no
/// clipping, even if the norm overflows.
static Expression buildClip(TaskBuilder &tasks, const Expression &squares,
                            const Expression &limit) {
  Expression norm = squares.apply<SqrtOp>();
  if (!tasks.getJob().lossScale.empty())
    norm = norm / squares.at(readLossScale(tasks, norm.getElementType()));
  Expression scale = limit / (norm + 1e-6);
  scale = scale.compare(ComparePredicate::greater, 1.0).select(1.0, scale);
  constexpr double kNone = std::numeric_limits<double>::infinity();
  return limit.compare(ComparePredicate::equal, kNone).select(1.0, scale);
}

/// Adds up the squares of a turn's gradients for which `isCounted` holds, in
/// the order of the parameters. Turn -1 stands for all gradients.
static Expression addSquares(TaskBuilder &tasks, int64_t turn,
                             function_ref<bool(VariableOp)> isCounted) {
  OpBuilder &builder = tasks.getBuilder();
  Location loc = tasks.getLoc();
  Value sum;
  for (auto variable : tasks.getModule().getOps<VariableOp>()) {
    VariableOp norm = tasks.getVariables().lookupOf(variable, Purpose::norm);
    bool isOfTurn =
        turn < 0 || getTurn(variable) == tasks.getJob().turns[turn].name;
    if (!norm || !isOfTurn || !isCounted(variable))
      continue;
    Value square = tasks.read(norm);
    sum = sum ? AddOp::create(builder, loc, sum, square) : square;
  }
  if (!sum) // all parameters are frozen
    sum = tasks.splat({}, builder.getF64Type(), 0);
  return {builder, loc, sum};
}

/// Builds the factors of groups that limit the norm of their members'
/// gradients, each with the variable in which it is kept.
static SmallVector<std::pair<VariableOp, Expression>>
buildGroupClips(TaskBuilder &tasks, int64_t turn) {
  SmallVector<std::pair<VariableOp, Expression>> clips;
  const Job &job = tasks.getJob();
  for (const ParameterGroup &group : job.groupsOfParameters) {
    if (!llvm::is_contained(group.numbers, ParameterGroup::kClipNorm))
      continue;
    Expression squares = addSquares(tasks, turn, [&](VariableOp variable) {
      return findGroupWith(job, variable, ParameterGroup::kClipNorm) == &group;
    });
    VariableOp limit = tasks.getVariables().lookup(
        Purpose::hyper_parameter, group.makeName(ParameterGroup::kClipNorm));
    clips.push_back(
        {tasks.getVariables().lookup(Purpose::clip_scale, group.name),
         buildClip(
             tasks, squares,
             squares.at(tasks.read(limit)).to(squares.getElementType()))});
  }
  return clips;
}

/// Builds the clip task: the factor of each group that limits norms, and that
/// of all other parameters.
void hfta::buildClipTask(TaskBuilder &tasks, int64_t turn) {
  tasks.startTask(parts::kClip, turn);
  const Job &job = tasks.getJob();
  SmallVector<std::pair<VariableOp, Expression>> clips =
      buildGroupClips(tasks, turn);
  VariableOp variable = tasks.getVariables().lookup(Purpose::clip_scale);
  if (variable) {
    Expression squares = addSquares(tasks, turn, [&](VariableOp parameter) {
      return !findGroupWith(job, parameter, ParameterGroup::kClipNorm);
    });
    Expression scale =
        job.clipNorm.empty()
            ? squares.splat(1.0)
            : buildClip(tasks, squares,
                        squares.at(tasks.read(Purpose::clip_norm)));
    if (!job.lossScale.empty()) {
      Expression all =
          clips.empty()
              ? squares
              : addSquares(tasks, turn, [](VariableOp) { return true; });
      // Factors of groups depend on the loss scale before it changes.
      scale =
          buildLossScale(tasks, all, scale, [&](const LossScaling &scaling) {
            for (const auto &[written, clip] : clips)
              tasks.write(scaling.apply(clip), written);
            clips.clear();
          });
    }
    clips.push_back({variable, scale});
  }
  for (const auto &[written, clip] : clips)
    tasks.write(clip, written);
}
