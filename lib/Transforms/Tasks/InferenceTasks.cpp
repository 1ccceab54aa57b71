//===- InferenceTasks.cpp - Evaluation and inference ----------------------===//
//
// Builds evaluation and inference, each as one function that isn't divided into
// tasks yet. Its ops are tagged with the same blocks as those of a training
// step.
//===----------------------------------------------------------------------===//

#include "Hfta/Dialect/Hfta/IR/Turns.h"
#include "Tasks/Blocks.h"
#include "Tasks/TaskBuilder.h"
#include "Tasks/TaskTags.h"

#include "Hfta/Transforms/Precision/Precision.h"

using namespace mlir;
using namespace mlir::hfta;

/// Builds the sum of the `values` for which `mask` is true, in f64, and adds it
/// to a new variable for the purpose `sum`, of a term of the loss if that has
/// several.
static void addMasked(TaskBuilder &tasks, Value values, Value mask, Purpose sum,
                      StringRef term = {}) {
  OpBuilder &builder = tasks.getBuilder();
  Type f64 = builder.getF64Type();
  auto type = cast<RankedTensorType>(values.getType());
  Value wide = tasks.castTo(values, f64);
  Value none = tasks.splat(type.getShape(), f64, 0.0);
  Value kept = SelectOp::create(builder, values.getLoc(), mask, wide, none);
  tasks.accumulate(
      tasks.sumAll(kept),
      tasks.declare(PurposeAttr::get(tasks.getContext(), sum, term),
                    tasks.scalarType(f64, true)));
}

/// Writes the rows of a micro-batch, which has one for each of its samples, to
/// their places in a new variable with the rows of all micro-batches. As each
/// micro-batch adds its rows to zeros, any division of a batch into
/// micro-batches and groups leaves the same rows.
static void addRows(TaskBuilder &tasks, Value rows, FloatType type,
                    StringRef name) {
  OpBuilder &builder = tasks.getBuilder();
  const Job &job = tasks.getJob();
  Location loc = rows.getLoc();
  SmallVector<int64_t> shape(cast<RankedTensorType>(rows.getType()).getShape());
  Value placed = tasks.castTo(rows, type);
  if (job.microBatches > 1) {
    auto dimensions = llvm::to_vector(llvm::seq<int64_t>(1, shape.size() + 1));
    shape.insert(shape.begin(), job.microBatches);
    placed = BroadcastOp::create(builder, loc, placed, shape, dimensions);
    Value place = IotaOp::create(builder, loc, shape, 0, builder.getI64Type());
    Value own = tasks.broadcastScalar(tasks.read(Purpose::micro_batch), shape);
    Value isOwn =
        CompareOp::create(builder, loc, ComparePredicate::equal, place, own);
    placed = SelectOp::create(builder, loc, isOwn, placed,
                              tasks.splat(shape, type, 0.0));
  }
  auto purpose =
      PurposeAttr::get(tasks.getContext(), Purpose::evaluation_metric, name);
  tasks.accumulate(
      placed,
      tasks.declare(
          purpose, withCopies(RankedTensorType::get(shape, type), job.copies)));
}

/// Builds the sum of each sample's elements, in f64.
static Value sumSamples(TaskBuilder &tasks, Value values) {
  OpBuilder &builder = tasks.getBuilder();
  Value wide = tasks.castTo(values, builder.getF64Type());
  int64_t rank = cast<RankedTensorType>(wide.getType()).getRank();
  if (rank == 1)
    return wide;
  return ReduceOp::create(builder, values.getLoc(), ReduceKind::sum, wide,
                          llvm::to_vector(llvm::seq<int64_t>(1, rank)),
                          TypeAttr());
}

/// Builds the values that a metric needs of a micro-batch's elements. `weights`
/// are the elements' weights in the loss.
static void addMetric(TaskBuilder &tasks, const JobMetric &metric,
                      const Objective::Metric &values, Value weights) {
  OpBuilder &builder = tasks.getBuilder();
  FloatType f64 = builder.getF64Type();
  auto add = [&](MetricColumn column, Value rows, FloatType type) {
    std::string name = getMetricColumnName(metric, column);
    if (!tasks.getVariables().lookup(Purpose::evaluation_metric, name))
      addRows(tasks, rows, type, name);
  };
  if (metric.isMean()) {
    Value weighted =
        MulOp::create(builder, values.labels.getLoc(), values.labels, weights);
    add(MetricColumn::labels, sumSamples(tasks, weighted), f64);
    add(MetricColumn::weights, sumSamples(tasks, weights), f64);
    return;
  }
  // Numbers of classes are exact in f32.
  auto getType = [&](Value value) {
    auto own = dyn_cast<FloatType>(getElementTypeOrSelf(value.getType()));
    return own ? atLeastF32(own) : builder.getF32Type();
  };
  add(MetricColumn::labels, values.labels, getType(values.labels));
  add(MetricColumn::guesses, values.guesses, getType(values.guesses));
  add(MetricColumn::weights, weights, getType(weights));
}

/// Builds a mask that is true for elements of real samples, and false for those
/// of the padding that follows them in an incomplete batch.
static Value buildMask(TaskBuilder &tasks, ArrayRef<int64_t> shape) {
  OpBuilder &builder = tasks.getBuilder();
  Value position =
      IotaOp::create(builder, tasks.getLoc(), shape, 0, builder.getI64Type());
  Value count =
      tasks.broadcastScalar(tasks.read(Purpose::valid_samples), shape);
  return CompareOp::create(builder, tasks.getLoc(), ComparePredicate::less,
                           position, count);
}

/// Builds the forward pass of one batch in inference mode, its objective, and
/// the sums over its real samples. Returns the last op before the sums.
static Operation *buildEvaluation(TaskBuilder &tasks, ModelOp model) {
  auto prepare = model.lookupSymbol<func::FuncOp>("prepare");
  auto forward = model.lookupSymbol<func::FuncOp>("forward");
  auto objective = model.lookupSymbol<func::FuncOp>("objective");
  OpBuilder &builder = tasks.getBuilder();
  SmallVector<Value> raw;
  for (unsigned index = 0; index < prepare.getNumArguments(); ++index)
    raw.push_back(tasks.read(tasks.getVariables().lookup(
        Purpose::field, getPortName(prepare, index, false))));
  SmallVector<Value> fields = tasks.inlineFunction(prepare, raw, false);
  SmallVector<Value> arguments;
  for (unsigned index = 0; index < forward.getNumArguments(); ++index)
    for (auto [field, value] : llvm::enumerate(fields))
      if (getPortName(prepare, field, true) ==
          getPortName(forward, index, false))
        arguments.push_back(value);
  SmallVector<Value> outputs = tasks.inlineFunction(forward, arguments, false);
  llvm::append_range(outputs, fields);
  Objective values = tasks.inlineObjective(objective, outputs, false);
  Operation *last = &*std::prev(builder.getInsertionPoint());
  const std::vector<LossTerm> &described = tasks.getLossTerms();
  for (auto [index, term] : llvm::enumerate(values.terms)) {
    StringRef name =
        described.empty() ? StringRef() : StringRef(described[index].name);
    auto type = cast<RankedTensorType>(term.losses.getType());
    Value mask = buildMask(tasks, type.getShape());
    Value losses =
        MulOp::create(builder, objective.getLoc(), term.losses, term.weights);
    addMasked(tasks, losses, mask, Purpose::evaluation_loss, name);
    addMasked(tasks, term.divisors, mask, Purpose::evaluation_weight, name);
  }
  // Metrics have the weights by which the mean of the first term divides.
  for (auto [metric, own] :
       llvm::zip_equal(tasks.getJob().metrics, values.metrics))
    addMetric(tasks, metric, own, values.terms.front().divisors);
  return last;
}

/// Builds the evaluation's function, and tags its ops. All sums are in the last
/// block.
static void buildEvaluationFunction(TaskBuilder &tasks, ModelOp model,
                                    int64_t blocks) {
  func::FuncOp function = tasks.startTask(parts::kEvaluation, -1);
  Block &pass = function.getBody().front();
  Operation *last = buildEvaluation(tasks, model);
  DenseSet<Operation *> sums;
  for (Operation *op = last->getNextNode(); op; op = op->getNextNode())
    sums.insert(op);
  eraseDeadOps(pass);
  TaskTags tags;
  assignBlocks(tasks, pass, TaskPart::evaluate, tags);
  for (Operation &op : pass)
    if (sums.contains(&op))
      tags[&op].block = blocks - 1;
  noteTags(pass, tags);
}

static void buildInferenceFunction(TaskBuilder &tasks, ModelOp model) {
  func::FuncOp forward = getServed(model);
  func::FuncOp function = tasks.startTask(parts::kInference, -1);
  SmallVector<Value> arguments;
  for (unsigned index = 0; index < forward.getNumArguments(); ++index) {
    VariableOp input = tasks.declare(
        PurposeAttr::get(tasks.getContext(), Purpose::input,
                         getPortName(forward, index, false)),
        cast<RankedTensorType>(forward.getArgumentTypes()[index]));
    // A training program calls an input after its data field. `hfta.file_name`
    // keeps the name that it has in the model's file.
    if (Attribute name = forward.getArgAttr(index, "hfta.file_name"))
      input->setAttr("hfta.file_name", name);
    arguments.push_back(tasks.read(input));
  }
  bool asWritten = !tasks.getJob().training;
  SmallVector<Value> outputs;
  if (asWritten)
    outputs = tasks.inlineAsWritten(forward, arguments);
  else
    outputs = tasks.inlineFunction(forward, arguments, false);
  for (auto [index, value] : llvm::enumerate(outputs)) {
    auto purpose = PurposeAttr::get(tasks.getContext(), Purpose::output,
                                    getPortName(forward, index, true));
    std::string symbol = purpose.makeSymbol();
    auto copy = forward.getResultAttrOfType<IntegerAttr>(
        index, HftaDialect::kCopyAttrName);
    if (copy)
      symbol = VariableOp::getSymbolOfCopy(symbol, copy.getInt());
    VariableOp output =
        tasks.declare(purpose, symbol, cast<RankedTensorType>(value.getType()));
    output.setCopyAttr(copy);
    tasks.write(value, output);
  }
  TaskTags tags;
  assignBlocks(tasks, function.getBody().front(), TaskPart::infer, tags);
  noteTags(function.getBody().front(), tags);
}

void hfta::buildInference(TaskBuilder &tasks, ModelOp model, int64_t blocks) {
  if (tasks.getJob().training)
    buildEvaluationFunction(tasks, model, blocks);
  buildInferenceFunction(tasks, model);
}
