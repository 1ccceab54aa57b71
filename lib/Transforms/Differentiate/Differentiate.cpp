//===- Differentiate.cpp - From the array's model to a training step ------===//

#include "Hfta/Dialect/Hfta/IR/HftaGradientOps.h"
#include "Hfta/Dialect/Hfta/IR/Norms.h"
#include "Hfta/Transforms/Passes.h"
#include "Tasks/Blocks.h"
#include "Tasks/LossScale.h"
#include "Tasks/TaskBuilder.h"

#include "mlir/IR/Matchers.h"

namespace mlir::hfta {
#define GEN_PASS_DEF_HFTADIFFERENTIATE
#include "Hfta/Transforms/Passes.h.inc"
} // namespace mlir::hfta

using namespace mlir;
using namespace mlir::hfta;

/// Returns the initial value of a scalar variable that has one value per copy.
template <typename T>
static DenseElementsAttr getPerCopy(RankedTensorType scalar,
                                    ArrayRef<T> values) {
  auto type = RankedTensorType::get({static_cast<int64_t>(values.size())},
                                    scalar.getElementType());
  return DenseElementsAttr::get(type, values);
}

/// Declares the variables of run-time scalars: counters and seeds, which the
/// trainer sets, hyper-parameters, and scalars of clipping and loss scaling.
static void declareScalars(TaskBuilder &tasks) {
  const Job &job = tasks.getJob();
  OpBuilder &builder = tasks.getBuilder();
  Type i64 = builder.getI64Type(), f64 = builder.getF64Type();
  // Models that draw random numbers have already declared some of these.
  auto getScalar = [&](Purpose purpose, Type elementType, bool arrayed,
                       StringRef name = {}) {
    VariableOp known = tasks.getVariables().lookup(purpose, name);
    return known ? known
                 : tasks.declare(
                       PurposeAttr::get(tasks.getContext(), purpose, name),
                       tasks.scalarType(elementType, arrayed));
  };
  getScalar(Purpose::step, i64, false);
  // These scalars have an instance for each micro-batch.
  for (Purpose purpose : {Purpose::micro_batch, Purpose::valid_samples})
    getScalar(purpose, i64, false).setInstances(job.microBatches);
  std::vector<int64_t> seedValues = job.seeds;
  seedValues.resize(job.copies);
  Attribute seeds =
      getPerCopy(tasks.scalarType(i64, true), ArrayRef(seedValues));
  getScalar(Purpose::seed, i64, true).setInitialAttr(seeds);
  for (const HyperParameter &parameter : job.hyperParameters) {
    VariableOp variable =
        getScalar(Purpose::hyper_parameter, f64, true, parameter.name);
    RankedTensorType type = variable.getTensorType();
    std::vector<float> narrow(parameter.values.begin(), parameter.values.end());
    variable.setInitialAttr(type.getElementType().isF32()
                                ? getPerCopy(type, ArrayRef(narrow))
                                : getPerCopy(type, ArrayRef(parameter.values)));
  }
  if (!job.training)
    return;
  if (!job.preconditioner.empty())
    getScalar(Purpose::accumulations, i64, false);
  tasks.declare(Purpose::learning_rate, tasks.scalarType(f64, true),
                getPerCopy(tasks.scalarType(f64, true),
                           ArrayRef(job.findHyperParameter("lr")->values)));
  if (!job.clipNorm.empty())
    tasks.declare(
        Purpose::clip_norm, tasks.scalarType(f64, true),
        getPerCopy(tasks.scalarType(f64, true), ArrayRef(job.clipNorm)));
  if (!job.clipNorm.empty() || !job.lossScale.empty())
    tasks.declare(Purpose::clip_scale, tasks.scalarType(f64, true));
  for (const ParameterGroup &group : job.groupsOfParameters)
    if (llvm::is_contained(group.numbers, ParameterGroup::kClipNorm))
      tasks.declare(
          PurposeAttr::get(tasks.getContext(), Purpose::clip_scale, group.name),
          tasks.scalarType(f64, true));
  if (!job.lossScale.empty())
    declareLossScale(tasks);
}

/// Replaces reads of `first_sample`, the position of a micro-batch's first
/// sample in the batch, by the micro-batch's number times its size.
static void replaceFirstSample(TaskBuilder &tasks, ModelOp model) {
  OpBuilder &builder = tasks.getBuilder();
  VariableOp firstSample = VariableIndex(model).lookup(Purpose::first_sample);
  VariableOp microBatch = tasks.getVariables().lookup(Purpose::micro_batch);
  SmallVector<ReadOp> reads;
  model.walk([&](ReadOp read) {
    if (firstSample && read.getVariable() == firstSample.getSymName())
      reads.push_back(read);
  });
  for (ReadOp read : reads) {
    builder.setInsertionPoint(read);
    Value number = ReadOp::create(builder, read.getLoc(), read.getType(),
                                  microBatch.getSymName(), IntegerAttr());
    Value size =
        tasks.splat({}, builder.getI64Type(), tasks.getJob().getMicroBatch());
    Value first = MulOp::create(builder, read.getLoc(), number, size);
    read.replaceAllUsesWith(first);
    read.erase();
  }
}

/// Replaces averages of parameters by reads of variables for them, which are
/// declared here and updated with the parameters. Emits an error and fails if
/// one isn't that of a parameter.
static LogicalResult replaceAverages(TaskBuilder &tasks, ModelOp model) {
  SmallVector<AveragedOp> averages;
  model.walk([&](AveragedOp op) { averages.push_back(op); });
  for (AveragedOp op : averages) {
    ReadOp read = findRead(op.getInput());
    if (!read)
      return op.emitError("the average must be that of a variable's value");
    VariableOp variable = tasks.lookup(read.getVariable());
    Value average = op.getInput();
    if (variable.getTrained()) {
      tasks.getBuilder().setInsertionPoint(op);
      Value own = tasks.read(declareAverage(tasks, variable), read.getCopy());
      // The average has another value in each turn, as the variable has.
      if (Attribute turn = read->getAttr(HftaDialect::kBlockAttrName))
        own.getDefiningOp()->setAttr(HftaDialect::kBlockAttrName, turn);
      average = tasks.castTo(own, getElementTypeOrSelf(op.getType()));
    }
    op.replaceAllUsesWith(average);
    op.erase();
  }
  return success();
}

/// Whether a scalar is known to be zero for all copies. The numbers that a
/// search varies are those of its first trials only.
static bool isZero(Value scalar, TaskBuilder &tasks) {
  while (auto cast = scalar.getDefiningOp<CastOp>())
    scalar = cast.getInput();
  if (matchPattern(scalar, m_AnyZeroFloat()))
    return true;
  auto read = scalar.getDefiningOp<ReadOp>();
  if (!read)
    return false;
  VariableOp variable = tasks.lookup(read.getVariable());
  if (!variable.isFor(Purpose::hyper_parameter))
    return false;
  StringRef name = variable.getPurposeAttr().getName().getValue();
  const Job &job = tasks.getJob();
  const HyperParameter *parameter = job.findHyperParameter(name);
  return parameter && !job.isSearched(name) &&
         llvm::all_of(parameter->values,
                      [](double value) { return value == 0; });
}

/// Removes ops that have no effect in training. An example is a dropout that
/// keeps every element: drawing its random numbers would cost more than the
/// rest of it.
static void removeIdleOps(ModelOp model, TaskBuilder &tasks) {
  auto isZeroForAll = [&](Value scalar) { return isZero(scalar, tasks); };
  model.walk([&](ModalOpInterface modal) {
    SmallVector<Value> values = modal.getIdleResults(isZeroForAll);
    if (values.empty())
      return;
    modal->replaceAllUsesWith(values);
    modal->erase();
  });
}

/// Checks what the steps of a loss of several terms rely on.
static LogicalResult checkLossTerms(ModuleOp module, const Job &job,
                                    ModelOp model) {
  FailureOr<std::vector<LossTerm>> terms = readLossTerms(module);
  if (failed(terms) || terms->empty())
    return terms;
  for (const LossTerm &term : *terms)
    if (!term.weight.empty() && !job.findHyperParameter(term.weight))
      return module.emitError("a term of the loss needs the hyper-parameter '")
             << term.weight << "'";
  if (!job.preconditioner.empty())
    return module.emitError("kfac needs a loss of one term");
  auto objective = model.lookupSymbol<func::FuncOp>("objective");
  if (objective && objective.getNumResults() < 3 * terms->size())
    return objective.emitError("each term of the loss needs three results");
  return success();
}

/// Checks that @objective returns the values of all metrics.
static LogicalResult checkMetrics(const Job &job, ModelOp model) {
  auto objective = model.lookupSymbol<func::FuncOp>("objective");
  size_t wanted = 0;
  for (const JobMetric &metric : job.metrics)
    wanted += metric.isMean() ? 1 : 2;
  if (!objective || objective.getNumResults() >= 2 + wanted)
    return success();
  return objective.emitError("the metrics need ")
         << wanted << " results besides losses and weights";
}

namespace {
struct DifferentiatePass
    : hfta::impl::HftaDifferentiateBase<DifferentiatePass> {
  using HftaDifferentiateBase::HftaDifferentiateBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<Job> job = Job::read(module);
    if (failed(job))
      return signalPassFailure();
    SmallVector<ModelOp> models(module.getOps<ModelOp>());
    if (models.size() != 1 || !models.front().lookupSymbol("forward")) {
      module.emitError("expected one fused hfta.model with @forward, found ")
          << models.size() << " models; run hfta-fuse-models first";
      return signalPassFailure();
    }
    if (job->training && !job->findHyperParameter("lr")) {
      module.emitError("a training job needs the hyper-parameter 'lr'");
      return signalPassFailure();
    }
    FailureOr<int64_t> blocks = countBlocks(models.front());
    if (failed(blocks))
      return signalPassFailure();
    if (failed(checkLossTerms(module, *job, models.front())) ||
        failed(checkMetrics(*job, models.front())) ||
        failed(build(module, *job, models.front(), *blocks)))
      return signalPassFailure();
  }

  LogicalResult build(ModuleOp module, const Job &job, ModelOp model,
                      int64_t blocks) {
    TaskBuilder tasks(module, job);
    SmallVector<VariableOp> variables(model.getBody().getOps<VariableOp>());
    for (VariableOp variable : llvm::reverse(variables))
      if (!variable.isFor(Purpose::first_sample))
        tasks.adopt(variable);
    declareScalars(tasks);
    replaceFirstSample(tasks, model);
    if (failed(replaceAverages(tasks, model)))
      return failure();
    if (job.training) {
      removeIdleOps(model, tasks);
      if (failed(buildTrainingStep(tasks, model, blocks)))
        return failure();
    }
    buildInference(tasks, model, blocks);
    model.erase();
    module.walk([](SqrtOp op) { op->removeAttr(kNormAttrName); });
    return success();
  }
};
} // namespace
