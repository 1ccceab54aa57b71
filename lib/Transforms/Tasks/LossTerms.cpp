//===- LossTerms.cpp - Sums of weighted terms -----------------------------===//

#include "Tasks/LossTerms.h"
#include "Hfta/Transforms/Precision/Precision.h"

using namespace mlir;
using namespace mlir::hfta;

/// The terms whose gradients a variable holds, as indices.
static constexpr StringLiteral kTermsAttrName = "hfta.loss_terms";

Value hfta::readTermWeight(TaskBuilder &tasks, int64_t term,
                           std::optional<int64_t> copy) {
  const std::vector<LossTerm> &terms = tasks.getLossTerms();
  StringRef weight =
      terms.empty() ? StringRef() : StringRef(terms[term].weight);
  if (weight.empty())
    return nullptr;
  return tasks.read(
      tasks.getVariables().lookup(Purpose::hyper_parameter, weight), copy);
}

Value hfta::buildCounts(TaskBuilder &tasks, ArrayRef<int64_t> terms,
                        std::optional<int64_t> copy) {
  Value any;
  for (int64_t term : terms) {
    Value weight = readTermWeight(tasks, term, copy);
    if (!weight)
      return nullptr;
    Value counts = Expression(tasks.getBuilder(), tasks.getLoc(), weight)
                       .compare(ComparePredicate::not_equal, 0.0);
    any = any ? OrOp::create(tasks.getBuilder(), tasks.getLoc(), any, counts)
                    .getResult()
              : counts;
  }
  return any;
}

Value hfta::addParts(TaskBuilder &tasks, Value begin,
                     ArrayRef<PartOfTerms> parts, std::optional<int64_t> copy) {
  OpBuilder &builder = tasks.getBuilder();
  Expression sum =
      begin ? Expression(builder, begin.getLoc(), begin) : Expression();
  for (const PartOfTerms &part : parts) {
    Expression value(builder, part.value.getLoc(), part.value);
    Expression next = sum.isNull() ? value : sum + value;
    Value counts = buildCounts(tasks, part.terms, copy);
    if (counts) {
      Expression before = sum.isNull() ? value.splat(0.0) : sum;
      next = value.at(counts).fill(value.getShape()).select(next, before);
    }
    sum = next;
  }
  return sum;
}

void hfta::accumulateParts(TaskBuilder &tasks, ArrayRef<PartOfTerms> parts,
                           VariableOp variable, std::optional<int64_t> copy) {
  if (parts.size() == 1 && !readTermWeight(tasks, parts[0].terms[0], copy))
    return tasks.accumulate(parts[0].value, variable, copy);
  Value old = tasks.read(variable, copy);
  Type stored = variable.getTensorType().getElementType();
  auto type = cast<FloatType>(stored);
  for (const PartOfTerms &part : parts)
    type = getWider(
        type, cast<FloatType>(getElementTypeOrSelf(part.value.getType())));
  SmallVector<PartOfTerms> wide(parts);
  for (PartOfTerms &part : wide)
    part.value = tasks.castTo(part.value, type);
  Value sum = addParts(tasks, tasks.castTo(old, type), wide, copy);
  tasks.write(tasks.castTo(sum, stored), variable, copy);
}

static ArrayRef<int64_t> getAllTerms(VariableOp gradient) {
  auto terms = gradient->getAttrOfType<DenseI64ArrayAttr>(kTermsAttrName);
  return terms ? terms.asArrayRef() : ArrayRef<int64_t>();
}

void hfta::noteTerms(VariableOp gradient, ArrayRef<int64_t> terms) {
  SmallVector<int64_t> all(getAllTerms(gradient));
  for (int64_t term : terms)
    if (!llvm::is_contained(all, term))
      all.push_back(term);
  gradient->setAttr(kTermsAttrName,
                    DenseI64ArrayAttr::get(gradient.getContext(), all));
}

SmallVector<int64_t> hfta::getTerms(TaskBuilder &tasks, VariableOp gradient,
                                    int64_t block) {
  SmallVector<int64_t> terms(getAllTerms(gradient));
  if (tasks.getJob().takesTurns())
    llvm::erase_if(terms, [&](int64_t term) {
      return tasks.getLossTerms()[term].turn != block;
    });
  return terms;
}

SmallVector<VariableOp> hfta::getGradients(TaskBuilder &tasks,
                                           VariableOp variable, int64_t block) {
  const VariableIndex &variables = tasks.getVariables();
  SmallVector<VariableOp> gradients = {
      variables.lookupOf(variable, Purpose::gradient)};
  for (const LossTerm &term : tasks.getLossTerms())
    if (VariableOp gradient =
            variables.lookupOf(variable, Purpose::gradient, term.name))
      gradients.push_back(gradient);
  if (tasks.getJob().takesTurns())
    llvm::erase_if(gradients, [&](VariableOp gradient) {
      return getTerms(tasks, gradient, block).empty();
    });
  return gradients;
}
