//===- InferenceTasks.cpp - Evaluation and inference ----------------------===//
//
// Each is one function, and is cut into blocks where a training step is.
//===----------------------------------------------------------------------===//

#include "Blocks.h"
#include "TaskBuilder.h"
#include "TaskTags.h"

using namespace mlir;
using namespace mlir::hfta;

/// Adds the sum of `values`, taken where `mask` holds, to a counter.
static void addMasked(TaskBuilder &tasks, Value values, Value mask,
                      Purpose sum) {
  OpBuilder &builder = tasks.getBuilder();
  Type f64 = builder.getF64Type();
  auto type = cast<RankedTensorType>(values.getType());
  Value wide = tasks.castTo(values, f64);
  Value none = tasks.splat(type.getShape(), f64, 0.0);
  Value kept = SelectOp::create(builder, values.getLoc(), mask, wide, none);
  tasks.accumulate(tasks.sumAll(kept),
                   tasks.declare(sum, tasks.scalarType(f64, true)));
}

/// Builds a mask that is true for the elements of real samples, which padding
/// follows.
static Value buildMask(TaskBuilder &tasks, ArrayRef<int64_t> shape) {
  OpBuilder &builder = tasks.getBuilder();
  Value position =
      IotaOp::create(builder, tasks.getLoc(), shape, 0, builder.getI64Type());
  Value count =
      tasks.broadcastScalar(tasks.read(Purpose::valid_samples), shape);
  return CompareOp::create(builder, tasks.getLoc(), ComparePredicate::less,
                           position, count);
}

/// Builds one batch in inference mode, and sums over its real samples. Returns
/// the op after which the sums begin.
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
  auto type = cast<RankedTensorType>(values.losses.getType());
  Operation *last = &*std::prev(builder.getInsertionPoint());
  Value mask = buildMask(tasks, type.getShape());
  Value losses =
      MulOp::create(builder, objective.getLoc(), values.losses, values.weights);
  addMasked(tasks, losses, mask, Purpose::evaluation_loss);
  addMasked(tasks, values.divisors, mask, Purpose::evaluation_weight);
  if (values.metric) {
    // An evaluation divides both sums by the same one.
    Value metric = MulOp::create(builder, objective.getLoc(), values.metric,
                                 values.divisors);
    addMasked(tasks, metric, mask, Purpose::evaluation_metric);
  }
  return last;
}

/// Builds the function. All sums belong to the last block.
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
  auto forward = model.lookupSymbol<func::FuncOp>("forward");
  func::FuncOp function = tasks.startTask(parts::kInference, -1);
  SmallVector<Value> arguments;
  for (unsigned index = 0; index < forward.getNumArguments(); ++index) {
    VariableOp input = tasks.declare(
        PurposeAttr::get(tasks.getContext(), Purpose::input,
                         getPortName(forward, index, false)),
        cast<RankedTensorType>(forward.getArgumentTypes()[index]));
    // In a training program a port is called after its data field; the model's
    // own name is kept with it.
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
