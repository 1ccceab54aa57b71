//===- KfacTasks.cpp - From moments to preconditioned gradients -----------===//
//
// Per layer and step, with A the mean of a aᵀ over the rows a of a layer's
// input and G that of g gᵀ over those of its output gradient, times the terms
// of the loss, both running means, and λ the damping:
//
//   π = √(mean diagonal of A / mean diagonal of G)
//   V = (G + √λ/π I)⁻¹ Grad (A + √λ·π I)⁻¹
//   ν = min(1, √(κ / (lr² |Σ ⟨V, Grad⟩|)))
//
// and the optimizer gets ν V. Sources: Martens and Grosse, ICML 2015 (factors,
// π); Grosse and Martens, "A Kronecker-factored approximate Fisher matrix for
// convolution layers", ICML 2016; Ba, Grosse and Martens, "Distributed
// second-order optimization using Kronecker-factored approximations", ICLR 2017
// (ν).
//===----------------------------------------------------------------------===//

#include "Hfta/Dialect/Hfta/IR/Expression.h"
#include "Hfta/Transforms/Precision.h"
#include "Kfac.h"
#include "KfacBlocks.h"
#include "KfacParts.h"
#include "llvm/ADT/MapVector.h"

#include <map>
#include <set>

using namespace mlir;
using namespace mlir::hfta;

namespace {

class KfacTasks {
public:
  KfacTasks(TaskBuilder &tasks, MutableArrayRef<KfacUnit> units)
      : tasks(tasks), builder(tasks.getBuilder()), units(units),
        type(tasks.getFloatType(tasks.getJob().getInversionType())),
        wide(builder.getF64Type()) {}

  void build();

private:
  // Variables.
  VariableOp declareState(const KfacUnit &unit, StringRef name,
                          ArrayRef<int64_t> shape, Type elementType,
                          ReplicasAttr holders);
  void declareFactor(KfacUnit &unit, KfacFactor &factor, StringRef name);
  void declareVariables();
  VariableOp declareCountOf(StringRef name);

  // Formulas, for the copies of the unit at hand.
  Expression wrap(Value value) const {
    return {builder, tasks.getLoc(), value};
  }
  Expression read(VariableOp variable) const {
    return wrap(tasks.read(variable, copy));
  }
  Expression number(double value) const {
    return wrap(tasks.splat({}, wide, value));
  }
  Expression readParameter(StringRef name) const {
    return read(tasks.getVariables().lookup(Purpose::hyper_parameter, name));
  }
  void write(const Expression &value, VariableOp variable) {
    tasks.write(value, variable, copy);
  }
  Expression getDiagonal(const Expression &packed,
                         const KfacFactor &factor) const;
  Expression getMeanDiagonal(const KfacFactor &factor) const;
  VariableOp declareCount(StringRef name);
  VariableOp getCounter(StringRef name, int64_t block);
  void count(StringRef name, const Expression &number);
  void writeCounts();
  void addCounts();
  Expression readMoments(const KfacFactor &factor) const;
  void clearMoments(const KfacUnit &unit, const KfacFactor &factor);

  bool isEigen() const { return tasks.getJob().kfacMethod == Job::kEigen; }
  void updateMean(const KfacUnit &unit, const KfacFactor &factor);
  Expression getBasis(const KfacFactor &factor) const;
  Expression getEigenvalues(const KfacFactor &factor) const;
  void decompose(const KfacFactor &factor);
  void invert(const KfacUnit &unit, bool alsoInput, bool alsoOutput);
  void invertFactor(const KfacFactor &factor, const Expression &damping);
  Expression getGradient(const TrainedLeaf &leaf) const {
    return read(
        tasks.getVariables().lookupOf(leaf.variable, Purpose::gradient));
  }
  void writeGradient(const Expression &value, const TrainedLeaf &leaf);
  Expression getMatrix(const KfacUnit &unit) const;
  void setMatrix(const KfacUnit &unit, const Expression &matrix);
  Expression divideInBases(const KfacUnit &unit,
                           const Expression &gradient) const;
  Expression multiplyByInverses(const KfacUnit &unit,
                                const Expression &gradient) const;
  Expression getInnerProduct(const Expression &first,
                             const Expression &second) const;
  void precondition(const KfacUnit &unit);
  void preconditionFeatures(const KfacUnit &unit);
  void startTask(StringRef part, int64_t block, ReplicasAttr replicas);
  void buildPart(StringRef part,
                 llvm::function_ref<ReplicasAttr(KfacUnit &)> getRunner,
                 llvm::function_ref<void(KfacUnit &)> each);
  void buildInversions();
  void buildCount(StringRef part);
  void buildScale();

  TaskBuilder &tasks;
  OpBuilder &builder;
  MutableArrayRef<KfacUnit> units;
  FloatType type; ///< of factors and inverses
  Type wide;
  std::optional<int64_t> copy;
  /// Of the task at hand, by name and copy.
  std::map<std::pair<std::string, int64_t>, Expression> counts;
  /// Of blocks that count by themselves, by name.
  std::map<std::string, SmallVector<VariableOp>> counters;
  TaskAttr task; ///< the one at hand
  /// What tasks of some replicas have counted, for all to add up: by name.
  SmallVector<std::pair<std::string, VariableOp>> countsOfSome;
};

/// What is counted, for the host to tell.
constexpr StringLiteral kCounts[] = {"skipped", "retried", "kept"};

} // namespace

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

void KfacTasks::declareFactor(KfacUnit &unit, KfacFactor &factor,
                              StringRef name) {
  SmallVector<int64_t> shape = factor.getShape();
  std::string mean = (name + "factor").str();
  // Of one group's rows there are means where there are inverses.
  ReplicasAttr holders = factor.group >= 0 ? unit.holders : ReplicasAttr();
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
                          type, unit.holders);
    };
    factor.basis = declare("basis", {factor.blocks, factor.size, factor.size});
    factor.eigenvalues = declare("eigenvalues", {factor.blocks, factor.size});
  }
}

void KfacTasks::declareVariables() {
  for (KfacUnit &unit : units) {
    if (unit.rule == KfacRule::plain)
      continue;
    bool isKronecker = unit.rule == KfacRule::kronecker;
    if (isKronecker)
      declareFactor(unit, unit.input, "input_");
    declareFactor(unit, unit.output, isKronecker ? "output_" : "");
    // One value a copy, also where copies have variables of their own: others
    // have 0.
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

/// Where a block's tasks count. Stages have counts of their own, which the last
/// one adds up.
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

/// Adds to how often something has happened in a task.
void KfacTasks::count(StringRef name, const Expression &number) {
  Expression &sum = counts[{name.str(), copy.value_or(-1)}];
  sum = sum.isNull() ? number : sum + number;
}

/// What the task at hand, of some replicas, has counted.
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

/// To what the step's other tasks have counted, for the host to tell; what some
/// replicas count, all add up when they have been told.
void KfacTasks::writeCounts() {
  for (auto &[key, sum] : counts) {
    auto of = key.second < 0 ? std::nullopt : std::optional(key.second);
    if (task.getReplicas())
      tasks.write(sum, declareCountOf(key.first), of);
    else
      tasks.accumulate(sum, getCounter(key.first, task.getBlock()), of);
  }
  counts.clear();
}

/// Of all blocks, where these count by themselves.
void KfacTasks::addCounts() {
  for (auto &[name, ofBlocks] : counters) {
    Expression sum = number(0.0);
    for (VariableOp counter : ofBlocks)
      sum = sum + read(counter);
    write(sum, tasks.getVariables().lookup(Purpose::curvature_count, name));
  }
}

//===----------------------------------------------------------------------===//
// Running means
//===----------------------------------------------------------------------===//

/// All blocks' diagonals of what is packed, in f64.
Expression KfacTasks::getDiagonal(const Expression &packed,
                                  const KfacFactor &factor) const {
  int64_t size = factor.size;
  if (size == 1 || factor.isDiagonal)
    return packed.to(wide);
  SmallVector<int64_t> places;
  for (int64_t row = 0; row < size; ++row)
    places.push_back(row * (row + 3) / 2);
  Value indices = ConstantOp::create(
      builder, tasks.getLoc(),
      DenseElementsAttr::get(
          RankedTensorType::get({size}, builder.getI64Type()),
          ArrayRef<int64_t>(places)));
  return packed.reshape(factor.getPackedShape())
      .apply<GatherOp>(indices, /*axis=*/1)
      .to(wide);
}

Expression KfacTasks::getMeanDiagonal(const KfacFactor &factor) const {
  Expression diagonal = getDiagonal(read(factor.mean), factor);
  return wrap(tasks.sumAll(diagonal)) /
         static_cast<double>(factor.blocks / factor.pieces * factor.columns);
}

static Expression isFinite(const Expression &value) {
  return value.apply<AbsOp>().compare(ComparePredicate::less,
                                      std::numeric_limits<double>::infinity());
}

/// The sum over all uses, in their order.
Expression KfacTasks::readMoments(const KfacFactor &factor) const {
  auto readUse = [&](VariableOp moment) {
    return wrap(
        tasks.read(moment, factor.isMomentShared ? std::nullopt : copy));
  };
  Expression sum = readUse(factor.moments.front());
  for (VariableOp moment : llvm::drop_begin(factor.moments))
    sum = sum + readUse(moment);
  return sum;
}

/// Those that are the copy's own and the stage's own: schedules clear what
/// copies or stages have in common.
void KfacTasks::clearMoments(const KfacUnit &unit, const KfacFactor &factor) {
  const Job &job = tasks.getJob();
  auto getStage = [&](VariableOp variable) {
    return job.getStage(static_cast<int64_t>(variable.getBlock()));
  };
  for (VariableOp moment : factor.moments)
    if (!factor.isMomentShared &&
        getStage(moment) == getStage(unit.weight.variable))
      write(wrap(tasks.splat(factor.getPackedShape(),
                             moment.getTensorType().getElementType(), 0.0)),
            moment);
}

/// w ← d w + 1; F ← F + (new − F) / w. What isn't finite shows on the diagonal,
/// where every column's square stands; then both stay as they are.
void KfacTasks::updateMean(const KfacUnit &unit, const KfacFactor &factor) {
  if (factor.owner)
    return;
  Expression scale = number(factor.scale);
  const VariableIndex &variables = tasks.getVariables();
  if (factor.isOfOutput) {
    if (VariableOp terms = variables.lookup(Purpose::loss_terms))
      scale = read(terms).to(wide);
    if (VariableOp terms = variables.lookup(Purpose::loss_weight))
      scale = 1.0 / read(terms).to(wide);
  }
  if (factor.group >= 0)
    scale = scale * factor.rowsOfGroup;
  SmallVector<int64_t> shape = factor.getShape();
  Expression fresh =
      readMoments(factor).reshape(shape).to(type) * scale.to(type).fill(shape);
  Expression isGood = isFinite(wrap(tasks.sumAll(getDiagonal(fresh, factor))));
  Expression weight = read(factor.weight), mean = read(factor.mean);
  Expression grown = weight * readParameter("decay").to(wide) + 1.0;
  Expression next = mean + (fresh - mean) / grown.to(type).fill(shape);
  write(isGood.fill(shape).select(next, mean), factor.mean);
  write(isGood.select(grown, weight), factor.weight);
  count("skipped", isGood.select(0.0, number(1.0)));
  clearMoments(unit, factor);
}

//===----------------------------------------------------------------------===//
// Inverses
//===----------------------------------------------------------------------===//

void KfacTasks::invertFactor(const KfacFactor &factor,
                             const Expression &damping) {
  if (factor.isDiagonal) {
    Expression damped =
        read(factor.mean) + damping.to(type).fill({factor.size});
    return write(1.0 / damped, factor.inverse);
  }
  SmallVector<int64_t> shape = factor.getPackedShape();
  auto inversion = SpdInverseOp::create(builder, tasks.getLoc(),
                                        read(factor.mean).reshape(shape),
                                        damping.to(type).fill({factor.blocks}),
                                        read(factor.inverse).reshape(shape));
  write(wrap(inversion.getInverse()).reshape(factor.getShape()),
        factor.inverse);
  Expression tries = wrap(inversion.getTries());
  auto countWhere = [&](StringRef name, ComparePredicate predicate,
                        double bound) {
    Expression holds = tries.compare(predicate, bound);
    Expression ones =
        holds.select(wrap(tasks.splat({factor.blocks}, wide, 1.0)), 0.0);
    count(name, ones.sum({0}));
  };
  countWhere("retried", ComparePredicate::greater, 0);
  countWhere("kept", ComparePredicate::equal, 4);
}

/// A column an eigenvector, [blocks, size, size], and those of all blocks of a
/// matrix, [matrices, padded columns].
Expression KfacTasks::getBasis(const KfacFactor &factor) const {
  return read(factor.basis).reshape({factor.blocks, factor.size, factor.size});
}
Expression KfacTasks::getEigenvalues(const KfacFactor &factor) const {
  return read(factor.eigenvalues)
      .reshape({factor.blocks / factor.pieces, factor.getPaddedColumns()});
}

void KfacTasks::decompose(const KfacFactor &factor) {
  if (factor.owner || factor.isDiagonal)
    return;
  auto eigen = SymmetricEigenOp::create(
      builder, tasks.getLoc(),
      read(factor.mean).reshape(factor.getPackedShape()), getBasis(factor));
  auto keep = [&](Value value, VariableOp variable) {
    write(wrap(value).reshape(variable.getTensorType().getShape()), variable);
  };
  keep(eigen.getBasis(), factor.basis);
  keep(eigen.getValues(), factor.eigenvalues);
}

void KfacTasks::invert(const KfacUnit &unit, bool alsoInput, bool alsoOutput) {
  if (isEigen()) {
    if (alsoInput)
      decompose(unit.input);
    if (alsoOutput)
      decompose(unit.output);
    return;
  }
  Expression root = readParameter("damping").to(wide).apply<SqrtOp>();
  auto invertBoth = [&](const Expression &ofInput, const Expression &ofOutput) {
    if (alsoInput)
      invertFactor(unit.input, ofInput);
    if (alsoOutput)
      invertFactor(unit.output, ofOutput);
  };
  if (!tasks.getJob().kfacPi)
    return invertBoth(root, root);
  Expression input = getMeanDiagonal(unit.input);
  Expression output = getMeanDiagonal(unit.output);
  Expression pi = (input / output).apply<SqrtOp>();
  // Zero, infinity and NaN are no ratio.
  Expression isRatio = isFinite(pi + 1.0 / pi);
  pi = isRatio.select(pi, 1.0);
  invertBoth(root * pi, root / pi);
}

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

/// [blocks, outputs, inputs], the bias' column last.
Expression KfacTasks::getMatrix(const KfacUnit &unit) const {
  const LayerAxes &axes = *unit.axes;
  Value gradient =
      unit.path->goBack(builder, getGradient(unit.weight).to(type));
  Expression weight = wrap(gradient).reshape(axes.weightShape);
  if (!llvm::equal(axes.permutation,
                   llvm::seq<int64_t>(0, axes.permutation.size())))
    weight = weight.apply<TransposeOp>(ArrayRef<int64_t>(axes.permutation));
  weight = weight.reshape({axes.blocks, axes.outputs, axes.inputs});
  if (!unit.bias)
    return weight;
  Expression bias =
      getGradient(*unit.bias).to(type).reshape({axes.blocks, axes.outputs, 1});
  return wrap(ConcatOp::create(builder, tasks.getLoc(),
                               ValueRange{weight, bias}, /*axis=*/2));
}

void KfacTasks::writeGradient(const Expression &value,
                              const TrainedLeaf &leaf) {
  VariableOp gradient =
      tasks.getVariables().lookupOf(leaf.variable, Purpose::gradient);
  RankedTensorType stored = gradient.getTensorType();
  write(value.reshape(stored.getShape()).to(stored.getElementType()), gradient);
}

/// The other way round.
void KfacTasks::setMatrix(const KfacUnit &unit, const Expression &matrix) {
  const LayerAxes &axes = *unit.axes;
  auto slice = [&](int64_t from, int64_t size) {
    if (!unit.bias)
      return matrix;
    // A slice of the gradient's own shape is computed in its place.
    if (axes.blocks == 1)
      return matrix.reshape({axes.outputs, unit.getInputColumns()})
          .apply<SliceOp>(ArrayRef<int64_t>{0, from},
                          ArrayRef<int64_t>{axes.outputs, size},
                          ArrayRef<int64_t>{1, 1});
    return matrix.apply<SliceOp>(
        ArrayRef<int64_t>{0, 0, from},
        ArrayRef<int64_t>{axes.blocks, axes.outputs, size},
        ArrayRef<int64_t>{1, 1, 1});
  };
  Expression weight = slice(0, axes.inputs);
  SmallVector<int64_t> permuted, inverse(axes.permutation.size());
  for (auto [to, from] : llvm::enumerate(axes.permutation)) {
    permuted.push_back(axes.weightShape[from]);
    inverse[from] = static_cast<int64_t>(to);
  }
  weight = weight.reshape(permuted);
  if (!llvm::equal(inverse, llvm::seq<int64_t>(0, inverse.size())))
    weight = weight.apply<TransposeOp>(ArrayRef<int64_t>(inverse));
  // As the op has its weight, then as the parameter is.
  ArrayRef<int64_t> shape =
      cast<RankedTensorType>(
          LayerOp(unit.layers.front()).getWeightGradient().getType())
          .getShape();
  writeGradient(wrap(unit.path->goForth(builder, weight.reshape(shape))),
                unit.weight);
  if (unit.bias)
    writeGradient(slice(axes.inputs, 1), *unit.bias);
}

/// Qg [(Qgᵀ Grad Qa) / (dg daᵀ + λ)] Qaᵀ.
Expression KfacTasks::divideInBases(const KfacUnit &unit,
                                    const Expression &gradient) const {
  // A diagonal's eigenvectors are the axes.
  bool isTurned = !unit.input.isDiagonal;
  Expression output = getBasis(unit.output);
  Expression turned = multiplyOutputs(unit.output, output, gradient,
                                      /*isTransposed=*/true);
  if (isTurned)
    turned = multiplyInputs(turned, unit.input, getBasis(unit.input));
  ArrayRef<int64_t> shape = gradient.getShape();
  Expression values = isTurned
                          ? getEigenvalues(unit.input)
                          : read(unit.input.mean).reshape({1, unit.input.size});
  Expression products = getEigenvalues(unit.output).repeat(shape, {2}) *
                        values.repeat(shape, {1});
  Expression damping = readParameter("damping").to(type).fill(shape);
  Expression result =
      multiplyOutputs(unit.output, output, turned / (products + damping));
  return isTurned ? multiplyInputs(result, unit.input, getBasis(unit.input),
                                   /*isTransposed=*/true)
                  : result;
}

Expression KfacTasks::multiplyByInverses(const KfacUnit &unit,
                                         const Expression &gradient) const {
  auto getInverse = [&](const KfacFactor &factor) {
    return read(factor.inverse)
        .reshape(factor.getPackedShape())
        .apply<UnpackSymmetricOp>();
  };
  Expression result =
      multiplyOutputs(unit.output, getInverse(unit.output), gradient);
  if (!unit.input.isDiagonal)
    return multiplyInputs(result, unit.input, getInverse(unit.input));
  Expression columns = read(unit.input.inverse).reshape({1, unit.input.size});
  return result * columns.repeat(gradient.getShape(), {1});
}

Expression KfacTasks::getInnerProduct(const Expression &first,
                                      const Expression &second) const {
  Expression products = first.to(wide) * second.to(wide);
  return wrap(tasks.sumAll(products));
}

void KfacTasks::precondition(const KfacUnit &unit) {
  VariableOp product = tasks.getVariables().lookupOf(unit.weight.variable,
                                                     Purpose::inner_product);
  if (unit.rule == KfacRule::unit)
    return preconditionFeatures(unit);
  if (unit.rule != KfacRule::kronecker)
    return;
  Expression gradient = getMatrix(unit), padded = padMatrix(unit, gradient);
  Expression result =
      cropMatrix(unit, isEigen() ? divideInBases(unit, padded)
                                 : multiplyByInverses(unit, padded));
  write(getInnerProduct(result, gradient), product);
  setMatrix(unit, result);
}

/// Numbers are divided by their mean square, damped; scale and shift of a
/// feature multiplied with the inverse of [a + λ, b; b, c + λ].
void KfacTasks::preconditionFeatures(const KfacUnit &unit) {
  VariableOp product = tasks.getVariables().lookupOf(unit.weight.variable,
                                                     Purpose::inner_product);
  SmallVector<int64_t> shape = {unit.features};
  Expression mean =
      read(unit.output.mean).reshape(unit.output.getPackedShape());
  Expression damping = readParameter("damping").to(type).fill(shape);
  auto column = [&](int64_t number) {
    if (!unit.bias)
      return mean.reshape(shape);
    return mean
        .apply<SliceOp>(ArrayRef<int64_t>{0, number},
                        ArrayRef<int64_t>{unit.features, 1},
                        ArrayRef<int64_t>{1, 1})
        .reshape(shape);
  };
  Expression scale = getGradient(unit.weight).to(type).reshape(shape);
  Expression a = column(0) + damping;
  if (!unit.bias) {
    Expression result = scale / a;
    write(getInnerProduct(result, scale), product);
    return writeGradient(result, unit.weight);
  }
  Expression shift = getGradient(*unit.bias).to(type).reshape(shape);
  Expression b = column(1), c = column(2) + damping;
  Expression determinant = a * c - b * b;
  Expression newScale = (c * scale - b * shift) / determinant;
  Expression newShift = (a * shift - b * scale) / determinant;
  write(getInnerProduct(newScale, scale) + getInnerProduct(newShift, shift),
        product);
  writeGradient(newScale, unit.weight);
  writeGradient(newShift, *unit.bias);
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
/// Tasks of a part: by block, then by the replicas that run them, as they are
/// met first; those that all run come last, so that others are done sooner.
template <typename Work>
class Dealt {
public:
  void add(int64_t block, ReplicasAttr replicas, Work work) {
    auto &lists = replicas ? ofSome[block] : ofAll[block];
    lists[replicas].push_back(work);
  }
  /// Gives block, replicas and work.
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

/// Both factors of a unit in one task where the same replicas invert them.
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

/// Adds up what tasks of some replicas have counted, which all have been told.
void KfacTasks::buildCount(StringRef part) {
  if (countsOfSome.empty())
    return;
  startTask(part, -1, ReplicasAttr());
  copy = std::nullopt;
  for (auto &[name, counted] : countsOfSome)
    count(name, read(counted));
  writeCounts();
  countsOfSome.clear();
}

/// ν, from products that are added in the order of the parameters.
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
  // Gradients of sums: their mean's is the product through the weights' square.
  if (VariableOp terms = tasks.getVariables().lookup(Purpose::loss_weight)) {
    Expression weight = read(terms).to(wide);
    sum = sum / (weight * weight);
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
  buildScale();
}

void hfta::buildKfacTasks(TaskBuilder &tasks, MutableArrayRef<KfacUnit> units) {
  KfacTasks(tasks, units).build();
}
