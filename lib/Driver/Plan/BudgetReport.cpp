//===- BudgetReport.cpp - A job's step within its memory budget -----------===//

#include "Plan/BudgetReport.h"

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Support/TaskNames.h"
#include "Hfta/Transforms/Spill/MemoryNeeds.h"
#include "Plan/StageMemory.h"
#include "Plan/StepEstimate.h"
#include "hfta/trainer.h"

#include "llvm/Support/FormatVariadic.h"

#include <map>
#include <set>

using namespace mlir;
using namespace mlir::hfta;
using planning::StoreRates;

FailureOr<BudgetReport> BudgetReport::make(ModuleOp planned, const Job &job) {
  FailureOr<StepEstimate> estimate = estimateStep(planned, job);
  if (failed(estimate))
    return failure();
  BudgetReport report(std::move(estimate->scheduled), job,
                      estimate->costs.store, estimate->isMeasured);
  report.steps = std::move(estimate->steps);
  return report;
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

static int64_t countAll(SegmentAttr segment) {
  return segment.getBytes() * segment.getInstances();
}

static void printMemoryRow(raw_ostream &os, StringRef name,
                           ArrayRef<int64_t> bytes) {
  os << llvm::formatv("  {0,-18}", name);
  for (int64_t ofStage : bytes)
    os << llvm::formatv("{0,16}", ofStage);
  os << "\n";
}

SmallVector<int64_t> BudgetReport::listStages() const {
  if (job.getStageCount() == 1)
    return {-1};
  return llvm::to_vector(llvm::seq<int64_t>(0, job.getStageCount()));
}

/// Prints the memory of a worker, with a column for each stage: segments that
/// are always there, by role, and then those that come and go.
void BudgetReport::printMemory(raw_ostream &os) {
  ModuleOp module = *scheduled;
  SmallVector<int64_t> stages = listStages();
  std::map<Role, SmallVector<int64_t>> resident;
  SmallVector<int64_t> buffers, arena, peak,
      budget(stages.size(), job.memoryDevice);
  os << llvm::formatv("{0,-20}", "memory (bytes)");
  for (auto [column, stage] : llvm::enumerate(stages)) {
    std::string name = stage < 0 ? "array" : "stage " + std::to_string(stage);
    os << llvm::formatv("{0,16}", name);
    int64_t always =
        countResidentBytes(module, job, getTurnCopies(module, job), stage);
    int64_t sum = 0;
    for (int64_t number : findWorkerSegments(module, job, stage)) {
      auto segment = cast<SegmentAttr>(SegmentAttr::getTable(module)[number]);
      Role role = segment.getRole();
      if (!segment.isResident() || !isResident(role) ||
          role == Role::workspace || role == Role::received)
        continue;
      resident.try_emplace(role, stages.size(), 0).first->second[column] +=
          countAll(segment);
      sum += countAll(segment);
    }
    buffers.push_back(always - sum);
    arena.push_back(countArenaBytes(module, job, stage));
    peak.push_back(always + arena.back());
  }
  os << "\n";
  for (const auto &[role, bytes] : resident)
    printMemoryRow(os, stringifyRole(role), bytes);
  // The buffers hold batches of data, scratch memory and workspaces of tasks
  // and kernels, and data from other ranks.
  printMemoryRow(os, "buffers", buffers);
  printMemoryRow(os, "arena", arena);
  printMemoryRow(os, "peak", peak);
  printMemoryRow(os, "budget", budget);
}

/// Returns the segments that only tasks of this part write.
static std::set<int64_t> findWritten(ModuleOp module, StringRef part) {
  std::set<int64_t> written, byOthers;
  for (auto task : module.getOps<TaskOp>()) {
    bool isOfPart = StringRef(task.getTaskName()).split('.').first == part;
    (isOfPart ? written : byOthers)
        .insert(task.getWrites().begin(), task.getWrites().end());
  }
  for (int64_t number : byOthers)
    written.erase(number);
  return written;
}

std::vector<BudgetReport::BlockBytes> BudgetReport::findBlocks() {
  ModuleOp module = *scheduled;
  std::vector<BlockBytes> blocks;
  std::set<int64_t> again = findWritten(module, parts::kRecompute);
  std::set<int64_t> left = findWritten(module, parts::kForward);
  int64_t copies = countStepCopies();
  for (auto [index, segment] : llvm::enumerate(
           SegmentAttr::getTable(module).getAsRange<SegmentAttr>())) {
    auto number = static_cast<int64_t>(index);
    if (segment.getBlock() < 0)
      continue;
    blocks.resize(std::max<size_t>(blocks.size(), segment.getBlock() + 1));
    BlockBytes &block = blocks[segment.getBlock()];
    int64_t slabs = segment.getCopyBytes() > 0 ? copies : 1;
    int64_t ofTurn = segment.getUnitBytes() * slabs * segment.getInstances();
    Role role = segment.getRole();
    if (role == Role::parameter) {
      block.parameters += countAll(segment);
      block.isResident &= segment.isResident();
    } else if (role == Role::optimizer_state || role == Role::curvature) {
      block.state += countAll(segment);
      block.keepsState &= segment.isResident();
    } else if (role != Role::saved && role != Role::cut) {
      continue;
    } else if (again.count(number)) {
      block.recomputed += ofTurn;
    } else if (left.count(number)) {
      (segment.getResidency() == Residency::spilled ? block.spilled
                                                    : block.kept) += ofTurn;
    }
  }
  return blocks;
}

/// Returns a word for how much of a block's parameters and optimizer state
/// stays in memory.
static StringRef nameResidency(bool isResident, bool keepsState, bool isHeld) {
  if (isResident)
    return keepsState ? "resident" : "parameters";
  return isHeld ? "held" : "streamed";
}

void BudgetReport::printBlocks(raw_ostream &os) {
  MemoryPlanAttr plan = MemoryPlanAttr::get(*scheduled);
  os << llvm::formatv("\n{0,-8}{1,-12}{2,16}{3,16}{4,18}{5,16}{6,16}\n",
                      "block", "memory", "parameters", "state", "forward keeps",
                      "spills", "recomputes");
  for (auto [number, block] : llvm::enumerate(findBlocks())) {
    bool isHeld = plan && plan.getBlock(static_cast<int64_t>(number)) ==
                              BlockMemory::held;
    os << llvm::formatv(
        "  {0,-6}{1,-12}{2,16}{3,16}{4,18}{5,16}{6,16}\n", number,
        nameResidency(block.isResident, block.keepsState, isHeld),
        block.parameters, block.state, block.kept, block.spilled,
        block.recomputed);
  }
}

/// Returns the number of copies that go through a step's blocks together.
int64_t BudgetReport::countStepCopies() const {
  int64_t copies = job.copies;
  ModuleOp(*scheduled).walk([&](FetchOp fetch) {
    auto schedule = fetch->getParentOfType<ScheduleOp>();
    if (schedule.getKind() == schedules::kStep)
      copies = countCopiesAtOnce(fetch, job);
  });
  return copies;
}

/// Returns the number of copies in a turn, which lasts for one or several
/// steps. `ofStep` is the number for turns within one step.
static int64_t findCopiesAtATime(ModuleOp module, const Job &job,
                                 int64_t ofStep) {
  auto begin = SymbolTable(module).lookup<ScheduleOp>(schedules::kBeginTurn);
  if (!begin)
    return ofStep;
  auto turns = cast<RepeatOp>(begin.getBody().front().front());
  return turns.getCopies().value_or(job.copies);
}

int64_t BudgetReport::countGroups() const {
  if (job.getStageCount() > 1 || job.getWorkers() > 1)
    return 1;
  return llvm::divideCeil(
      job.copies, findCopiesAtATime(*scheduled, job, countStepCopies()));
}

void BudgetReport::printStep(raw_ostream &os) {
  const planning::SpillRun &step = steps.front();
  int64_t copies = findCopiesAtATime(*scheduled, job, countStepCopies());
  int64_t turns = llvm::divideCeil(job.copies, copies);
  os << llvm::formatv("\nstep, by {0} costs\n",
                      isMeasured ? "measured" : "estimated");
  os << llvm::formatv("  {0,-18}{1} of {2}\n", "turns of copies", turns,
                      copies);
  if (SymbolTable(*scheduled).lookup(schedules::kTurnStep))
    os << llvm::formatv("  {0,-18}{1}\n", "steps of a turn",
                        HFTA_DEFAULT_LOG_EVERY);
  os << llvm::formatv("  {0,-18}{1} bytes, {2:f6} s\n", "read", step.readBytes,
                      step.readSeconds);
  os << llvm::formatv("  {0,-18}{1} bytes, {2:f6} s\n", "written",
                      step.writtenBytes, step.writeSeconds);
  os << llvm::formatv("  {0,-18}{1:f6} s\n", "computed", step.computeSeconds);
  os << llvm::formatv("  {0,-18}{1:f6} s\n", "at least",
                      step.getLeastSeconds(store));
  os << llvm::formatv("  {0,-18}{1:f6} s\n", "predicted", step.seconds);
}

/// Prints the step of each stage, simulated as if data from other stages were
/// always there in time.
void BudgetReport::printStages(raw_ostream &os) {
  os << llvm::formatv("\nstep of each stage by itself, by {0} costs\n",
                      isMeasured ? "measured" : "estimated");
  os << llvm::formatv("{0,-8}{1,10}{2,8}{3,16}{4,16}{5,14}{6,14}\n", "stage",
                      "replicas", "blocks", "bytes read", "bytes written",
                      "computed (s)", "step (s)");
  auto blocks = static_cast<int64_t>(findBlocks().size());
  for (int64_t stage : listStages()) {
    int64_t end =
        stage + 1 < job.getStageCount() ? job.getFirstBlock(stage + 1) : blocks;
    const planning::SpillRun &step = steps[stage];
    os << llvm::formatv("  {0,-6}{1,10}{2,8}{3,16}{4,16}{5,14:f6}{6,14:f6}\n",
                        stage, job.getReplicas(stage),
                        end - job.getFirstBlock(stage), step.readBytes,
                        step.writtenBytes, step.computeSeconds, step.seconds);
  }
}

void BudgetReport::print(raw_ostream &os) {
  printMemory(os);
  printBlocks(os);
  if (job.getStageCount() == 1)
    printStep(os);
  else
    printStages(os);
}

double BudgetReport::getStepSeconds() const {
  return hfta::getStepSeconds(steps);
}

planning::Timeline BudgetReport::draw() const {
  if (job.getStageCount() == 1)
    return planning::getTimeline(steps.front(), job.name);
  planning::Timeline drawn;
  drawn.title = job.name;
  for (int64_t stage : listStages())
    planning::appendRows(drawn, planning::getTimeline(steps[stage], job.name),
                         "stage " + std::to_string(stage) + ", ");
  return drawn;
}
