//===- TaskCosts.cpp - Costs of a planned module's tasks ------------------===//

#include "Hfta/Pipelines/TaskCosts.h"
#include "Hfta/Pipelines/ModelIdentity.h"

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Dialect/Hfta/Job/Job.h"
#include "Hfta/Pipelines/Passes.h"
#include "Hfta/Target/Target.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/JSON.h"

namespace mlir::hfta {
#define GEN_PASS_DEF_HFTADESCRIBEPLAN
#include "Hfta/Pipelines/Passes.h.inc"
} // namespace mlir::hfta

using namespace mlir;
using namespace mlir::hfta;

/// Returns the flops of one run of a kernel.
static int64_t countFlops(func::FuncOp kernel) {
  int64_t flops = 0;
  kernel.walk([&](CostOpInterface op) { flops += op.getFlops(); });
  return flops;
}

/// Returns a lower bound for the bytes of an argument that one run of its
/// kernel reads: the sum over the argument's uses, but no more than all of its
/// bytes.
static int64_t countBytesRead(BlockArgument argument) {
  int64_t all = getLogicalBytes(argument.getType()), bytes = 0;
  for (OpOperand &use : argument.getUses()) {
    auto cost = dyn_cast<CostOpInterface>(use.getOwner());
    bytes += cost ? cost.getBytesRead(use.getOperandNumber()) : all;
  }
  return std::min(bytes, all);
}

/// Returns a lower bound for the bytes of a result that one run of its kernel
/// writes.
static int64_t countBytesWritten(Value result) {
  auto cost = dyn_cast_or_null<CostOpInterface>(result.getDefiningOp());
  return cost ? cost.getBytesWritten(cast<OpResult>(result).getResultNumber())
              : getLogicalBytes(result.getType());
}

namespace {
/// Adds up the costs of a task's launches.
class TaskCounter {
public:
  TaskCounter(ModuleOp module, int64_t copies)
      : symbols(module), copies(copies),
        segments(SegmentAttr::getTable(module)) {
    if (const Target *target = Target::read(module))
      devices = target->getRates();
  }

  TaskCost count(func::FuncOp task) {
    cost = TaskCost();
    cost.deviceSeconds.resize(devices.size());
    cost.name =
        task->getAttrOfType<TaskAttr>(HftaDialect::kTaskAttrName).makeName();
    for (auto launch : task.getOps<LaunchOp>())
      if (auto kernel = symbols.lookup<func::FuncOp>(launch.getKernel()))
        addLaunch(launch, kernel);
    return cost;
  }

private:
  void addLaunch(LaunchOp launch, func::FuncOp kernel) {
    int64_t runs = launch.getPerCopy() ? copies : 1;
    int64_t flops = runs * countFlops(kernel);
    int64_t before = cost.bytesRead + cost.bytesWritten;
    ++cost.kernels;
    cost.flops += flops;
    addBytes(launch, kernel, runs);
    int64_t moved = cost.bytesRead + cost.bytesWritten - before;
    cost.launchFlops.push_back(flops);
    cost.launchBytes.push_back(moved);
    auto bytes = static_cast<double>(moved);
    for (auto [rates, seconds] : llvm::zip(devices, cost.deviceSeconds))
      seconds += std::max(bytes / rates.bytes, static_cast<double>(flops) /
                                                   getFlops(kernel, rates)) +
                 rates.launch;
  }

  /// Returns the flops per second of the units that compute a kernel's
  /// products.
  static double getFlops(func::FuncOp kernel, const DeviceRates &rates) {
    double flops = rates.flops;
    kernel.walk([&](Operation *op) {
      auto type = op->getAttrOfType<TypeAttr>(HftaDialect::kMultiplyAttrName);
      if (op->hasTrait<ProductTrait>() && type)
        flops = type.getValue().isTF32() ? rates.tf32 : rates.narrow;
    });
    return flops;
  }

  void addBytes(LaunchOp launch, func::FuncOp kernel, int64_t runs) {
    for (BlockArgument argument : kernel.getArguments()) {
      int64_t bytes = runs * countBytesRead(argument);
      cost.bytesRead += bytes;
      addByRole(launch, argument.getArgNumber(), bytes);
    }
    Operation *end = kernel.getBody().front().getTerminator();
    for (auto [number, result] :
         llvm::zip(launch.getWritten(), end->getOperands())) {
      int64_t bytes = runs * countBytesWritten(result);
      cost.bytesWritten += bytes;
      addByRole(launch, number, bytes);
    }
  }

  void addByRole(LaunchOp launch, int64_t number, int64_t bytes) {
    auto binding = cast<BindingAttr>(launch.getBindings()[number]);
    if (!segments || binding.getSegment() >= int64_t(segments.size()))
      return;
    Role role = cast<SegmentAttr>(segments[binding.getSegment()]).getRole();
    if (role == Role::parameter)
      cost.parameterBytes += bytes;
    else if (role == Role::input || role == Role::saved || role == Role::cut ||
             role == Role::workspace || role == Role::exchange)
      cost.activationBytes += bytes;
  }

  SymbolTable symbols;
  llvm::ArrayRef<DeviceRates> devices;
  int64_t copies;
  ArrayAttr segments;
  TaskCost cost;
};
} // namespace

std::vector<TaskCost> hfta::getTaskCosts(ModuleOp module, int64_t copies) {
  TaskCounter counter(module, copies);
  std::vector<TaskCost> costs;
  for (auto task : module.getOps<func::FuncOp>())
    if (task->hasAttr(HftaDialect::kTaskAttrName))
      costs.push_back(counter.count(task));
  return costs;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

static llvm::json::Array makeJson(ArrayRef<TaskCost> costs) {
  llvm::json::Array tasks;
  for (const TaskCost &cost : costs)
    tasks.push_back(llvm::json::Object{
        {"name", cost.name},
        {"kernels", cost.kernels},
        {"flops", cost.flops},
        {"bytes_read", cost.bytesRead},
        {"bytes_written", cost.bytesWritten},
        {"parameter_bytes", cost.parameterBytes},
        {"activation_bytes", cost.activationBytes},
        {"launch_flops", llvm::json::Array(cost.launchFlops)},
        {"launch_bytes", llvm::json::Array(cost.launchBytes)}});
  return tasks;
}

/// Returns the names of the job's five element types; none if values keep the
/// types that they have in their files.
static llvm::json::Object makeTypes(const Job &job) {
  llvm::json::Object types;
  if (job.keepsTypes)
    return types;
#define HFTA_PRECISION(member, bits, text)                                     \
  types[#member] = job.precision.member;
#include "Hfta/Dialect/Hfta/Job/Settings.def"
  return types;
}

/// Adds model, types and tasks to the JSON object that the module already has,
/// and returns the object as text, with its keys in alphabetical order.
static std::string writeJson(StringRef known, std::string model, const Job &job,
                             ArrayRef<TaskCost> costs) {
  llvm::json::Object plan;
  if (llvm::Expected<llvm::json::Value> parsed = llvm::json::parse(known)) {
    if (llvm::json::Object *object = parsed->getAsObject())
      plan = std::move(*object);
  } else {
    llvm::consumeError(parsed.takeError());
  }
  plan["model"] = std::move(model);
  plan["tasks"] = makeJson(costs);
  plan["types"] = makeTypes(job);
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
    std::string text =
        writeJson(known ? known.getValue() : "{}", digestIdentities(module),
                  *job, getTaskCosts(module, job->copies));
    module->setAttr(kPlanAttrName, StringAttr::get(&getContext(), text));
    markAllAnalysesPreserved();
  }
};
} // namespace
