//===- CompiledTask.cpp - One op compiled with its gradient ---------------===//

#include "CompiledTask.h"
#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Dialect/Hfta/IR/Job.h"
#include "Hfta/Driver/Pipelines.h"
#include "Hfta/Transforms/ReverseMode.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;
using namespace mlir::hfta;

/// A fixed number in [0.5, 1.5) for each element of the loss' weights.
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
/// Builds the module that holds the one task.
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
    task->setAttr(HftaDialect::kTaskAttrName,
                  TaskAttr::get(module.getContext(), TaskKind::infer, -1));
    builder.setInsertionPointToStart(task.addEntryBlock());
    Value loss = buildLoss();
    SmallVector<Value> gradients;
    if (failed(buildReverseMode(builder, loss, wanted, gradients,
                                [](Operation *, Block::iterator) {})))
      return failure();
    WriteOp::create(builder, loc, loss, "loss", IntegerAttr());
    for (auto [name, gradient] : llvm::zip(names, gradients))
      if (gradient)
        WriteOp::create(builder, loc, gradient, name, IntegerAttr());
    func::ReturnOp::create(builder, loc);
    function.erase();
    return success();
  }

private:
  void declare(StringRef name, RankedTensorType type, Role role) {
    VariableOp::create(builder, module.getLoc(), name, type, role, Attribute(),
                       false, -1, 1, BindingAttr(), IntegerAttr());
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
    Value result;
    for (Operation &op : function.getBody().front()) {
      if (isa<func::ReturnOp>(op)) {
        result = mapping.lookup(op.getOperand(0));
        break;
      }
      SmallVector<Value> operands;
      for (Value operand : op.getOperands())
        operands.push_back(mapping.lookup(operand));
      Operation *fused =
          cast<FusableOpInterface>(op).buildFused(builder, operands);
      mapping.map(op.getResults(), fused->getResults());
    }
    auto type = getLogicalType(result.getType());
    Value weights = ConstantOp::create(builder, loc, makeWeights(type));
    Value product = MulOp::create(builder, loc, result, weights);
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

static LogicalResult lower(ModuleOp module) {
  PassManager pm(module.getContext());
  buildPlannedPipeline(pm, PlannedPipelineOptions());
  buildLinalgPipeline(pm, LinalgPipelineOptions());
  LLVMPipelineOptions options;
  options.vectorBytes = 32;
  buildLLVMPipeline(pm, options);
  return pm.run(module);
}

std::unique_ptr<CompiledTask> CompiledTask::compile(MLIRContext &context,
                                                    const OpCase &opCase,
                                                    ArrayRef<bool> arrayed,
                                                    int64_t copies) {
  std::unique_ptr<CompiledTask> task(new CompiledTask);
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(opCase.function, &context);
  if (!module)
    return nullptr;
  auto function = *module->getOps<func::FuncOp>().begin();
  task->operands = function.getNumArguments();
  if (failed(TaskModule(*module, function, arrayed, copies).build()) ||
      failed(lower(*module)))
    return nullptr;
  task->program = JitProgram::create(*module, /*threads=*/2);
  return task->program ? std::move(task) : nullptr;
}
