//===- Planning.cpp - Fuzz target: the planner's files --------------------===//
//
// Each input is read as every kind of file that the planner reads: a pipeline
// plan, orders for several pipeline shapes, a profile, measured costs, and a
// workload of several models.
//===----------------------------------------------------------------------===//

#include "Hfta/Planning/Common/MeasuredCosts.h"
#include "Hfta/Planning/Models/MultiModelSimulation.h"
#include "Hfta/Planning/Pipelines/Order.h"
#include "Hfta/Planning/Pipelines/PipelinePlan.h"
#include "Hfta/Planning/Pipelines/Profile.h"
#include "Options.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>

using namespace mlir::hfta::planning;

/// Reads a plan. If that succeeds, prints it and writes it twice: aborts unless
/// a written plan can be read and is written again to the same text.
static void readAsPlan(llvm::StringRef text) {
  std::string error;
  std::optional<PipelinePlan> plan = readPlan(text, error);
  if (!plan)
    return;
  printPlan(*plan, llvm::nulls());
  std::string first, second;
  llvm::raw_string_ostream firstStream(first), secondStream(second);
  writePlan(*plan, firstStream);
  plan = readPlan(first, error);
  if (!plan)
    abort();
  writePlan(*plan, secondStream);
  if (first != second)
    abort();
}

static PipelineShape makeShape(int64_t chunks,
                               llvm::ArrayRef<int64_t> replicas) {
  PipelineShape shape;
  shape.microBatches = 4;
  shape.chunks = chunks;
  shape.replicas.assign(replicas.begin(), replicas.end());
  return shape;
}

/// Reads an order for a pipeline of this shape, and writes and reads it again.
static void readAsOrder(llvm::StringRef text, const PipelineShape &shape) {
  llvm::Expected<Order> order = readOrder(text, "order.csv", shape);
  if (!order) {
    llvm::consumeError(order.takeError());
    return;
  }
  if (getInstances(*order).size() != static_cast<size_t>(shape.getStages()))
    abort();
  llvm::consumeError(readOrder(writeOrder(*order), "again", shape).takeError());
}

/// Reads a workload. If it isn't large, simulates it with each scheduler, and
/// aborts unless all of its units are computed.
static void readAsWorkload(llvm::StringRef text) {
  llvm::Expected<MultiModelWorkload> workload = readWorkload(text);
  if (!workload) {
    llvm::consumeError(workload.takeError());
    return;
  }
  int64_t units = 0;
  for (const ShardedModel &model : workload->models)
    units += model.getUnitCount();
  constexpr int64_t kMostSimulated = 1000;
  if (units > kMostSimulated)
    return;
  for (SchedulerKind kind : kSchedulerKinds) {
    MultiModelRun run = simulateModels(*workload, *makeScheduler(kind));
    if (static_cast<int64_t>(run.units.size()) != units)
      abort();
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::StringRef text(reinterpret_cast<const char *>(data), size);
  readAsPlan(text);
  for (const PipelineShape &shape :
       {makeShape(1, {1}), makeShape(1, {1, 1}), makeShape(1, {2, 1}),
        makeShape(2, {1, 1})})
    readAsOrder(text, shape);
  ProfileError error;
  (void)readProfile(text, /*samples=*/8, error);
  llvm::consumeError(readCosts(text).takeError());
  readAsWorkload(text);
  return 0;
}
