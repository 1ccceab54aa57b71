//===- StepLoss.cpp - The loss of a training step -------------------------===//

#include "Differentiate/StepLoss.h"
#include "Tasks/LossScale.h"
#include "Tasks/LossTerms.h"
#include "Tasks/LossWeight.h"

using namespace mlir;
using namespace mlir::hfta;

/// Returns whether the value is a constant of ones, or a broadcast, cast or
/// stack of such values.
static bool isAllOnes(Value value) {
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<StackOp, BroadcastOp, CastOp>(op))
    return llvm::all_of(op->getOperands(), isAllOnes);
  auto constant = value.getDefiningOp<ConstantOp>();
  if (!constant)
    return false;
  auto elements = dyn_cast<DenseElementsAttr>(constant.getValue());
  return elements && elements.isSplat() &&
         isa<FloatType>(elements.getElementType()) &&
         elements.getSplatValue<APFloat>().convertToDouble() == 1.0;
}

/// Returns the divisor of the losses, which is applied here or, if it depends
/// on all micro-batches, after the last one.
LossDivisor StepLoss::getDivisor(Value divisors) const {
  if (isAllOnes(divisors))
    return LossDivisor::terms;
  return tasks.getJob().microBatches == 1 ? LossDivisor::weights
                                          : LossDivisor::undivided;
}

/// Builds this micro-batch's share of the mean loss, or of the sum of losses.
Value StepLoss::buildShare(Value losses, const Objective::Term &values,
                           StepTerm &term) {
  Location loc = losses.getLoc();
  if (term.divisor == LossDivisor::terms) {
    Value scale = tasks.splat({}, getElementTypeOrSelf(losses.getType()),
                              1.0 / static_cast<double>(term.count));
    return MulOp::create(builder, loc, tasks.sumAll(losses), scale);
  }
  Value sum = tasks.sumAll(MulOp::create(builder, loc, losses, values.weights));
  if (!term.weightSum)
    term.weightSum = tasks.sumAll(values.divisors);
  return term.divisor == LossDivisor::undivided
             ? sum
             : DivOp::create(builder, loc, sum, term.weightSum).getResult();
}

/// Adds this micro-batch's value to a step's result for a term.
void StepLoss::accumulate(Purpose purpose, const StepTerm &term, Value value) {
  Type type = getElementTypeOrSelf(value.getType());
  Operation *last = &*std::prev(builder.getInsertionPoint());
  tasks.accumulate(value, tasks.declare(PurposeAttr::get(tasks.getContext(),
                                                         purpose, term.name),
                                        tasks.scalarType(type, true)));
  noteSums(last, sums);
}

/// Notes the ops after `last`.
void StepLoss::noteSums(Operation *last, DenseSet<Operation *> &noted) {
  for (auto op = std::next(last->getIterator());
       op != builder.getInsertionPoint(); ++op)
    noted.insert(&*op);
}

/// Stores the sum of weights for tasks that need it.
void StepLoss::keepWeightSum(const StepTerm &term) {
  if (term.divisor == LossDivisor::undivided)
    accumulate(Purpose::loss_weight, term, term.weightSum);
  // A preconditioner needs the sum to recover the gradients of single losses.
  if (term.divisor == LossDivisor::weights &&
      !tasks.getJob().preconditioner.empty())
    accumulate(Purpose::loss_terms, term, term.weightSum);
}

void StepLoss::build(const Objective &objective) {
  const std::vector<LossTerm> &described = tasks.getLossTerms();
  for (auto [index, values] : llvm::enumerate(objective.terms)) {
    StepTerm &term = terms.emplace_back();
    if (!described.empty())
      term.name = described[index].name;
    term.divisor = getDivisor(values.divisors);
    term.count =
        cast<RankedTensorType>(values.losses.getType()).getNumElements() *
        tasks.getJob().microBatches;
    term.share = buildShare(values.losses, values, term);
    keepWeightSum(term);
    accumulate(Purpose::loss, term, term.share);
  }
  if (!described.empty())
    buildTotal();
  if (objective.drawnLosses)
    sampled = buildShare(objective.drawnLosses, objective.terms.front(),
                         terms.front());
}

/// Reads the weight of a term; null if it has none.
Value StepLoss::readWeight(int64_t term, Type type) {
  Value weight = readTermWeight(tasks, term);
  return weight ? tasks.castTo(weight, type) : weight;
}

/// Builds the sum of all terms, if none is still to be divided.
void StepLoss::buildTotal() {
  if (llvm::any_of(terms, [](const StepTerm &term) {
        return term.divisor == LossDivisor::undivided;
      }))
    return;
  Operation *last = &*std::prev(builder.getInsertionPoint());
  SmallVector<PartOfTerms> parts;
  for (auto [index, term] : llvm::enumerate(terms)) {
    auto number = static_cast<int64_t>(index);
    Value share = term.share;
    if (Value weight =
            readWeight(number, getElementTypeOrSelf(share.getType())))
      share = MulOp::create(builder, share.getLoc(), share, weight);
    parts.push_back({{number}, share});
  }
  Type type = getElementTypeOrSelf(terms.front().share.getType());
  accumulateParts(tasks, parts,
                  tasks.declare(Purpose::loss, tasks.scalarType(type, true)));
  noteSums(last, total);
  sums.insert(total.begin(), total.end());
}

Value StepLoss::getDifferentiated(Value mean) const {
  auto division = mean.getDefiningOp<DivOp>();
  bool isDivided = division && llvm::any_of(terms, [&](const StepTerm &term) {
                     return division.getRhs() == term.weightSum;
                   });
  return isDivided ? division.getLhs() : mean;
}

Value StepLoss::buildSeed(Value mean, int64_t term, bool isScaled) {
  bool isDivided = getDifferentiated(mean) != mean;
  Type type = getElementTypeOrSelf(mean.getType());
  Value weight = readWeight(term, type);
  if (!isScaled && !isDivided && !weight)
    return {};
  Expression seed(builder, mean.getLoc(),
                  isScaled ? readLossScale(tasks, type)
                           : tasks.splat({}, type, 1.0));
  if (weight)
    seed = seed * seed.at(weight);
  if (isDivided)
    seed = seed / getGradientDivisor(seed.at(terms[term].weightSum));
  return seed;
}
