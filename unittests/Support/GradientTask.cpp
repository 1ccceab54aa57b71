//===- GradientTask.cpp - Gradients of a function, as a task --------------===//

#include "GradientTask.h"

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Dialect/Hfta/Job/Job.h"
#include "Hfta/Support/TaskNames.h"
#include "Hfta/Transforms/Differentiate/ReverseMode.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::hfta;

/// Returns the weights of the loss: a fixed number in [0.5, 1.5) per element.
static DenseElementsAttr makeWeights(RankedTensorType type) {
  std::vector<double> values;
  for (int64_t index = 0; index < type.getNumElements(); ++index)
    values.push_back(0.5 + (index * 2654435761u % 1000) / 1000.0);
  return DenseElementsAttr::get(type, ArrayRef(values));
}

static std::string getOperandName(unsigned index) {
  return "operand" + std::to_string(index);
}

namespace {
/// Builds a module whose only task computes the loss and its gradients.
class TaskModule {
public:
  TaskModule(ModuleOp module, func::FuncOp function, ArrayRef<bool> arrayed,
             int64_t copies)
      : module(module), function(function), arrayed(arrayed), copies(copies),
        builder(module.getContext()) {}

  LogicalResult build() {
    Job job;
    job.name = "check";
    job.copies = copies;
    job.training = false;
    job.write(module);
    Location loc = module.getLoc();
    builder.setInsertionPointToStart(module.getBody());
    declareVariables();
    auto task = func::FuncOp::create(builder, loc, "task/infer",
                                     builder.getFunctionType({}, {}));
    task->setAttr(
        HftaDialect::kTaskAttrName,
        TaskAttr::get(module.getContext(),
                      StringAttr::get(module.getContext(), parts::kInfer), -1));
    builder.setInsertionPointToStart(task.addEntryBlock());
    Value loss = buildLoss();
    SmallVector<Value> gradients;
    if (failed(buildReverseMode(builder, loss, wanted, gradients,
                                [](const OpBackward &) {})))
      return failure();
    WriteOp::create(builder, loc, loss, "loss", IntegerAttr());
    for (auto [name, gradient] : llvm::zip(names, gradients))
      if (gradient)
        WriteOp::create(builder, loc, gradient, name, IntegerAttr());
    func::ReturnOp::create(builder, loc);
    // Erases the function, or the whole model that contains it.
    if (auto model = function->getParentOfType<ModelOp>())
      model.erase();
    else
      function.erase();
    return success();
  }

private:
  void declare(StringRef name, RankedTensorType type, Role role) {
    VariableOp::create(builder, module.getLoc(), name, type, role);
  }

  void declareVariables() {
    Type f64 = builder.getF64Type();
    for (auto [index, type] : llvm::enumerate(function.getArgumentTypes())) {
      std::optional<int64_t> count;
      if (arrayed[index])
        count = copies;
      declare(getOperandName(index), withCopies(type, count), Role::parameter);
      if (isa<FloatType>(getElementTypeOrSelf(type)))
        declare("gradient/" + getOperandName(index), withCopies(type, copies),
                Role::gradient);
    }
    declare("loss", withCopies(RankedTensorType::get({}, f64), copies),
            Role::output);
  }

  Value buildLoss() {
    Location loc = module.getLoc();
    IRMapping mapping;
    for (auto [index, argument] : llvm::enumerate(function.getArguments())) {
      std::optional<int64_t> count;
      if (arrayed[index])
        count = copies;
      Value read =
          ReadOp::create(builder, loc, withCopies(argument.getType(), count),
                         getOperandName(index), IntegerAttr());
      mapping.map(argument, read);
      if (isa<FloatType>(getElementTypeOrSelf(argument.getType()))) {
        wanted.push_back(read);
        names.push_back("gradient/" + getOperandName(index));
      }
    }
    for (Operation &op : function.getBody().front().without_terminator()) {
      SmallVector<Value> operands;
      for (Value operand : op.getOperands())
        operands.push_back(mapping.lookup(operand));
      Operation *fused =
          cast<FusableOpInterface>(op).buildFused(builder, operands);
      mapping.map(op.getResults(), fused->getResults());
    }
    Value loss;
    for (Value result : function.getBody().front().back().getOperands()) {
      if (!isa<FloatType>(getElementTypeOrSelf(result.getType())))
        continue;
      Value term = buildWeightedSum(mapping.lookup(result));
      loss = loss ? AddOp::create(builder, loc, loss, term) : term;
    }
    return loss;
  }

  Value buildWeightedSum(Value value) {
    Location loc = module.getLoc();
    auto type = getLogicalType(value.getType());
    Value weights = ConstantOp::create(builder, loc, makeWeights(type));
    Value product = MulOp::create(builder, loc, value, weights);
    SmallVector<int64_t> axes =
        llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
    return ReduceOp::create(builder, loc, ReduceKind::sum, product, axes,
                            TypeAttr());
  }

  ModuleOp module;
  func::FuncOp function;
  ArrayRef<bool> arrayed;
  int64_t copies;
  OpBuilder builder;
  SmallVector<Value> wanted;
  SmallVector<std::string> names;
};
} // namespace

std::unique_ptr<GradientTask> GradientTask::compile(ModuleOp module,
                                                    func::FuncOp function,
                                                    ArrayRef<bool> arrayed,
                                                    int64_t copies) {
  std::unique_ptr<GradientTask> task(new GradientTask);
  task->copies = copies;
  task->operands = function.getNumArguments();
  if (failed(TaskModule(module, function, arrayed, copies).build()) ||
      failed(lowerTasks(module)))
    return nullptr;
  task->program = JitProgram::create(module, /*threads=*/2);
  return task->program ? std::move(task) : nullptr;
}

//===----------------------------------------------------------------------===//
// Finite differences
//===----------------------------------------------------------------------===//

const hfta_tensor &GradientTask::getOperand(unsigned index) const {
  return *program->find(getOperandName(index));
}

double GradientTask::computeLoss(int64_t copy) {
  program->run("infer");
  return *static_cast<double *>(program->at(*program->find("loss"), copy));
}

void GradientTask::measureOperand(
    unsigned operand, int64_t copy, double step, int64_t most,
    llvm::function_ref<void(const GradientElement &)> callback) {
  const hfta_tensor &tensor = getOperand(operand);
  int64_t count = tensor.bytes / sizeof(double);
  int64_t stride = std::max<int64_t>(count / most, 1);
  double base = computeLoss(copy);
  const hfta_tensor &gradient =
      *program->find("gradient/" + getOperandName(operand));
  auto *entries = static_cast<double *>(program->at(gradient, copy));
  std::vector<double> computed(entries, entries + count);
  auto *values = static_cast<double *>(program->at(tensor, copy));
  for (int64_t index = copy % stride; index < count; index += stride) {
    double old = values[index];
    values[index] = old + step;
    double above = computeLoss(copy);
    values[index] = old - step;
    double below = computeLoss(copy);
    values[index] = old;
    callback({operand, copy, index, computed[index], (above - base) / step,
              (base - below) / step});
  }
}

void GradientTask::measure(
    double step, int64_t most,
    llvm::function_ref<void(const GradientElement &)> callback) {
  for (unsigned operand = 0; operand < operands; ++operand)
    for (int64_t copy = 0;
         copy < copies && getOperand(operand).type == HFTA_F64; ++copy)
      measureOperand(operand, copy, step, most, callback);
}
