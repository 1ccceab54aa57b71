//===- KfacModeler.cpp - The planner's model of K-FAC ---------------------===//

#include "Kfac/KfacModeler.h"

#include "Hfta/Planning/Common/ReferenceRates.h"

using namespace mlir;
using namespace mlir::hfta;
using planning::kBytesPerSecond;
using planning::kFlopsPerSecond;
using planning::kNoFactor;

/// Returns the number of copies for which one unit preconditions the parameter.
int64_t KfacModeler::getCopiesOf(const TrainedLeaf &leaf) const {
  VariableOp variable = leaf.variable;
  return leaf.copy || variable.getCopy() ? 1 : job.copies;
}

/// Returns the number of elements of the unit's gradient, for all of its
/// copies.
int64_t KfacModeler::countElements(const KfacUnit &unit) const {
  auto count = [](const TrainedLeaf &leaf) {
    return VariableOp(leaf.variable).getTensorType().getNumElements();
  };
  return (count(unit.weight) + (unit.bias ? count(*unit.bias) : 0)) *
         getCopiesOf(unit.weight);
}

/// Returns the number of rows that one replica computes in a step.
double KfacModeler::getRows(const KfacUnit &unit) const {
  int64_t replicas = job.getReplicas(share.stage.value_or(0));
  return 1 / unit.input.scale / static_cast<double>(replicas);
}

/// Whether these ranks invert, or decompose, the unit's input factor. If its
/// mean is computed for another share, they receive its eigenvectors, but
/// compute inverses themselves.
bool KfacModeler::hasInput(const KfacUnit &unit) const {
  return !share.isReceived(unit.input) || job.kfacMethod != Job::kEigen;
}

void KfacModeler::addBlocks() {
  planned.model.blocks.resize(share.blocks.size());
  for (const KfacUnit *each : share.units) {
    const KfacUnit &unit = *each;
    planning::KfacBlock &block =
        planned.model.blocks[share.getPlace(unit.getBlock())];
    int64_t elements = countElements(unit);
    block.gradientElements += elements;
    // The bytes that an optimizer reads and writes per element.
    constexpr double kTouched = 4 * sizeof(float);
    planned.model.update +=
        kTouched * static_cast<double>(elements) / kBytesPerSecond;
    if (unit.rule == KfacRule::kronecker) {
      double forward =
          2 * getRows(unit) * static_cast<double>(elements) / kFlopsPerSecond;
      block.forward += forward;
      block.backward += 2 * forward;
    } else if (unit.rule == KfacRule::unit) {
      // The moments of rule `unit` are sent with the gradients.
      block.gradientElements += unit.features * unit.output.size *
                                (unit.output.size + 1) / 2 *
                                getCopiesOf(unit.weight);
    }
  }
}

/// Adds a factor of a layer to the model, with the times that its moment and
/// its mean take, and returns its index.
int64_t KfacModeler::addFactor(const KfacUnit &unit, KfacFactor &factor,
                               bool isInput) {
  planning::KfacModel &model = planned.model;
  int64_t copies = getCopiesOf(unit.weight);
  planning::KfacFactor added;
  // A diagonal factor is modeled as matrices of one row.
  added.matrices = {factor.isDiagonal ? 1 : factor.size,
                    copies * (factor.isDiagonal ? factor.size : factor.blocks)};
  added.block = share.getPlace(unit.getBlock());
  added.isInput = isInput;
  added.isReceived = share.isReceived(factor);
  double columns = static_cast<double>(factor.isDiagonal ? 1 : factor.size);
  added.sharedBy = factor.isMomentShared ? copies : 1;
  if (!added.isReceived)
    added.moment = getRows(unit) * columns * (columns + 1) *
                   static_cast<double>(factor.blocks * copies) /
                   static_cast<double>(added.sharedBy) / kFlopsPerSecond;
  // Moment and mean are both read and written for each element.
  constexpr double kTouched = 4 * sizeof(float);
  if (!added.isReceived)
    added.mean = kTouched * static_cast<double>(added.matrices.getElements()) /
                 kBytesPerSecond;
  model.factors.push_back(added);
  VariableOp weight = unit.weight.variable;
  planned.factorNames.push_back((isInput ? "input_factor/" : "output_factor/") +
                                weight.getOwnName());
  return static_cast<int64_t>(model.factors.size()) - 1;
}

/// Adds a unit for another copy of the layer `number`, which is compiled alone.
void KfacModeler::addCopy(KfacUnit &unit, int64_t number, double precondition) {
  planning::KfacModel &model = planned.model;
  planning::KfacLayer &layer = model.layers[number];
  layer.gradientElements += countElements(unit);
  layer.precondition += precondition;
  auto addMatrices = [&](int64_t of, const KfacFactor &factor) {
    model.factors[of].matrices.count +=
        factor.isDiagonal ? factor.size : factor.blocks;
  };
  unit.output.number = layer.factors.output;
  addMatrices(unit.output.number, unit.output);
  if (!hasInput(unit))
    return;
  const KfacUnit *owner = share.getOwner(unit);
  if (layer.factors.input == kNoFactor) {
    layer.factors.input =
        owner ? owner->input.number : addFactor(unit, unit.input, true);
    unit.input.number = layer.factors.input;
    return;
  }
  unit.input.number = layer.factors.input;
  bool isOwn = planned.factorNames[unit.input.number] ==
               "input_factor/" + VariableOp(unit.weight.variable).getOwnName();
  sharesDiffer |= isOwn != !owner;
  if (!owner)
    return addMatrices(unit.input.number, unit.input);
  // In this copy, the two layers share an input, so both factors must be in one
  // column. A layer with both factors, but without work, makes planners assign
  // them so.
  if (owner->input.number != unit.input.number) {
    sharesDiffer = true;
    model.layers.push_back({{unit.input.number, owner->input.number}, 0, 0});
    planned.layerNames.emplace_back();
  }
}

bool KfacModeler::areCopiesAlike() const {
  DenseMap<Operation *, int64_t> copies;
  for (const KfacUnit *unit : share.units)
    if (unit->rule == KfacRule::kronecker)
      copies[VariableOp(unit->weight.variable)] += getCopiesOf(unit->weight);
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
  const KfacUnit *owner = share.getOwner(unit);
  if (hasInput(unit))
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
  planned.stage = share.stage;
  addBlocks();
  for (KfacUnit *unit : share.units)
    if (unit->rule == KfacRule::kronecker)
      addUnit(*unit);
  auto getPeriod = [&](StringRef name) {
    const HyperParameter *steps = job.findHyperParameter(name);
    return static_cast<int64_t>(*llvm::min_element(steps->values));
  };
  planned.model.factorEvery = getPeriod("factor_every");
  planned.model.inverseEvery =
      std::max(planned.model.factorEvery, getPeriod("inverse_every"));
  planned.model.microBatches = llvm::divideCeil(
      job.microBatches, job.getReplicas(share.stage.value_or(0)));
  planned.model.numbersPerElement = getNumbersPerElement(job);
  return std::move(planned);
}
