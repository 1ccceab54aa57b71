//===- Plan.cpp - Prints memory and costs of a module ---------------------===//

#include "Hfta/Driver/Plan/Plan.h"
#include "Hfta/Pipelines/Pipelines.h"
#include "Hfta/Pipelines/TaskCosts.h"
#include "Plan/BudgetReport.h"
#include "Plan/LowerCopy.h"
#include "Plan/StageMemory.h"

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Dialect/Hfta/Job/Job.h"
#include "Hfta/Planning/Kfac/KfacSimulation.h"
#include "Hfta/Target/Target.h"
#include "Hfta/Transforms/Kfac/PlannedKfac.h"

#include "llvm/Support/FormatVariadic.h"

#include <map>

using namespace mlir;
using namespace mlir::hfta;

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static void printMemoryRow(raw_ostream &os, StringRef name, int64_t bytes,
                           int64_t copies) {
  os << llvm::formatv("  {0,-18}{1,16}{2,16}\n", name, bytes,
                      llvm::divideCeil(bytes, copies));
}

static LogicalResult printMemory(ModuleOp module, const Job &job,
                                 raw_ostream &os) {
  auto segments = SegmentAttr::getTable(module);
  if (!segments)
    return module.emitError("module has no '")
           << HftaDialect::kSegmentsAttrName << "': memory isn't planned";
  std::map<Role, int64_t> bytes;
  int64_t peak = 0;
  for (auto segment : segments.getAsRange<SegmentAttr>()) {
    int64_t size = segment.getBytes() * segment.getInstances();
    bytes[segment.getRole()] += size;
    if (isResident(segment.getRole()))
      peak += size;
  }
  os << llvm::formatv("{0,-20}{1,16}{2,16}\n", "memory (bytes)", "array",
                      "copy's share");
  for (const auto &[role, size] : bytes)
    if (isResident(role))
      printMemoryRow(os, stringifyRole(role), size, job.copies);
  printMemoryRow(os, "peak", peak, job.copies);
  if (int64_t constants = bytes[Role::constant])
    os << "constants in the binary: " << constants << " bytes\n";
  return success();
}

/// Prints the work and the memory of each stage's workers. For this the module
/// is lowered to schedules, which show which segments workers access.
static LogicalResult printStages(ModuleOp module, const Job &job,
                                 raw_ostream &os) {
  int64_t count = job.getStageCount();
  if (count == 1)
    return success();
  OwningOpRef<ModuleOp> scheduled =
      lowerCopy(module, [](OpPassManager &passes) {
        buildScheduledPipeline(passes, ScheduledPipelineOptions());
      });
  if (!scheduled)
    return failure();
  SmallVector<int64_t> bytes = getWorkerBytes(*scheduled, job);
  os << llvm::formatv("\n{0,-20}{1,10}{2,10}{3,12}{4,20}\n", "stages",
                      "replicas", "groups", "in flight", "peak of a worker");
  for (int64_t stage = 0; stage < count; ++stage)
    os << llvm::formatv("  {0,-18}{1,10}{2,10}{3,12}{4,20}\n", stage,
                        job.getReplicas(stage), job.getGroups(stage),
                        job.getInFlight(stage), bytes[stage]);
  return success();
}

/// Prints a lower bound for the time of each task on the target's well-known
/// devices.
static void printTimes(llvm::ArrayRef<TaskCost> costs,
                       llvm::ArrayRef<DeviceRates> devices, raw_ostream &os) {
  os << llvm::formatv("\n{0,-28}{1,10}", "least us, by GPU", "kernels");
  for (const DeviceRates &rates : devices)
    os << llvm::formatv("{0,18}", rates.name);
  os << '\n';
  for (const TaskCost &cost : costs) {
    os << llvm::formatv("  {0,-26}{1,10}", cost.name, cost.kernels);
    for (double seconds : cost.deviceSeconds)
      os << llvm::formatv("{0,18:f1}", seconds * 1e6);
    os << '\n';
  }
}

static void printCosts(ModuleOp module, int64_t copies, raw_ostream &os) {
  os << llvm::formatv("\n{0,-28}{1,10}{2,18}{3,16}{4,16}{5,18}{6,18}\n",
                      "cost (array)", "kernels", "flops", "bytes read",
                      "bytes written", "parameter bytes", "activation bytes");
  std::vector<TaskCost> costs = getTaskCosts(module, copies);
  for (const TaskCost &cost : costs)
    os << llvm::formatv("  {0,-26}{1,10}{2,18}{3,16}{4,16}{5,18}{6,18}\n",
                        cost.name, cost.kernels, cost.flops, cost.bytesRead,
                        cost.bytesWritten, cost.parameterBytes,
                        cost.activationBytes);
  if (const Target *target = Target::read(module);
      target && !target->getRates().empty())
    printTimes(costs, target->getRates(), os);
}

/// Prints how replicas share the work of a preconditioner, and how long this
/// takes.
static LogicalResult printPreconditioner(ModuleOp module, raw_ostream &os) {
  FailureOr<std::vector<PlannedKfac>> plans = PlannedKfac::readAll(module);
  if (failed(plans))
    return failure();
  for (const PlannedKfac &planned : *plans) {
    os << "\npreconditioner";
    if (planned.stage)
      os << " of stage " << *planned.stage;
    os << ", by " << (planned.isMeasured ? "measured" : "estimated")
       << " costs: ";
    planning::printKfacPlan(planned.model, planned.rates.getCosts(),
                            planned.plan, os);
  }
  return success();
}

FailureOr<std::optional<planning::Timeline>>
hfta::drawPreconditioner(ModuleOp module) {
  FailureOr<Job> job = Job::read(module);
  FailureOr<std::vector<PlannedKfac>> plans = PlannedKfac::readAll(module);
  if (failed(job) || failed(plans))
    return failure();
  if (plans->empty())
    return std::optional<planning::Timeline>();
  planning::Timeline drawn;
  drawn.title = job->name;
  for (const PlannedKfac &planned : *plans) {
    int64_t ranks = planned.plan.grid.getRankCount();
    std::string stage;
    if (planned.stage)
      stage = "stage " + std::to_string(*planned.stage) + ", ";
    planning::appendRows(
        drawn,
        planning::getTimeline(
            simulateStep(planned.model, planned.rates.getCosts(), planned.plan,
                         planning::KfacStep::inverses),
            ranks, job->name),
        stage);
  }
  return std::optional(std::move(drawn));
}

LogicalResult hfta::printPlan(ModuleOp module, BudgetReport *budget,
                              raw_ostream &os) {
  FailureOr<Job> job = Job::read(module);
  if (failed(job))
    return failure();
  os << "'" << job->name << "': " << job->copies << " copies, batch "
     << job->batch << " in " << job->microBatches << " part"
     << (job->microBatches == 1 ? "" : "s") << "\n\n";
  if (budget)
    budget->print(os);
  else if (failed(printMemory(module, *job, os)))
    return failure();
  if (!budget && failed(printStages(module, *job, os)))
    return failure();
  printCosts(module, job->copies, os);
  return printPreconditioner(module, os);
}
