//===- TaskCosts.cpp - Cost of the tasks of a planned module --------------===//

#include "TaskCosts.h"

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Dialect/Hfta/IR/Job.h"
#include "Hfta/Dialect/Hfta/IR/VariableNames.h"
#include "Hfta/Driver/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/JSON.h"

namespace mlir::hfta {
#define GEN_PASS_DEF_HFTADESCRIBEPLAN
#include "Hfta/Driver/Passes.h.inc"
} // namespace mlir::hfta

using namespace mlir;
using namespace mlir::hfta;

/// Flops of one run of a kernel.
static int64_t countFlops(func::FuncOp kernel) {
  int64_t flops = 0;
  kernel.walk([&](CostOpInterface op) { flops += op.getFlops(); });
  return flops;
}

static TaskCost getTaskCost(func::FuncOp task, const SymbolTable &symbols,
                            int64_t copies) {
  TaskCost cost;
  StringRef name = task.getSymName();
  name.consume_front(names::kTaskPrefix);
  cost.name = name.str();
  for (auto launch : task.getOps<LaunchOp>()) {
    auto kernel = symbols.lookup<func::FuncOp>(launch.getKernel());
    if (!kernel)
      continue;
    int64_t runs = launch.getPerCopy() ? copies : 1;
    ++cost.kernels;
    cost.flops += runs * countFlops(kernel);
    for (Type type : kernel.getArgumentTypes())
      cost.bytesRead += runs * getLogicalBytes(type);
    for (Type type : kernel.getResultTypes())
      cost.bytesWritten += runs * getLogicalBytes(type);
  }
  return cost;
}

std::vector<TaskCost> hfta::getTaskCosts(ModuleOp module, int64_t copies) {
  SymbolTable symbols(module);
  std::vector<TaskCost> costs;
  for (auto task : module.getOps<func::FuncOp>())
    if (task->hasAttr(HftaDialect::kTaskAttrName))
      costs.push_back(getTaskCost(task, symbols, copies));
  return costs;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

static llvm::json::Array makeJson(ArrayRef<TaskCost> costs) {
  llvm::json::Array tasks;
  for (const TaskCost &cost : costs)
    tasks.push_back(llvm::json::Object{{"name", cost.name},
                                       {"kernels", cost.kernels},
                                       {"flops", cost.flops},
                                       {"bytes_read", cost.bytesRead},
                                       {"bytes_written", cost.bytesWritten}});
  return tasks;
}

/// The object that the module already holds, with the tasks added; printed with
/// its keys in alphabetical order.
static std::string writeJson(StringRef known, ArrayRef<TaskCost> costs) {
  llvm::json::Object plan;
  if (llvm::Expected<llvm::json::Value> parsed = llvm::json::parse(known)) {
    if (llvm::json::Object *object = parsed->getAsObject())
      plan = std::move(*object);
  } else {
    llvm::consumeError(parsed.takeError());
  }
  plan["tasks"] = makeJson(costs);
  std::string text;
  llvm::raw_string_ostream(text) << llvm::json::Value(std::move(plan));
  return text;
}

namespace {
struct DescribePlanPass : hfta::impl::HftaDescribePlanBase<DescribePlanPass> {
  using HftaDescribePlanBase::HftaDescribePlanBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<Job> job = Job::read(module);
    if (failed(job))
      return signalPassFailure();
    auto known = module->getAttrOfType<StringAttr>(kPlanAttrName);
    std::string text = writeJson(known ? known.getValue() : "{}",
                                 getTaskCosts(module, job->copies));
    module->setAttr(kPlanAttrName, StringAttr::get(&getContext(), text));
    markAllAnalysesPreserved();
  }
};
} // namespace
