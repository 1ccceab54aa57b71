//===- JobPipeline.cpp - Stages, workers and orders of a job --------------===//

#include "Hfta/Dialect/Hfta/Job/JobCluster.h"
#include "Hfta/Planning/Pipelines/Order.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::hfta;

int64_t Job::getWorkers() const {
  int64_t workers = 0;
  for (int64_t stage = 0; stage < getStageCount(); ++stage)
    workers += getReplicas(stage);
  return workers;
}

int64_t Job::getStage(int64_t block) const {
  int64_t stages = getStageCount();
  if (block < 0 || stages == 1)
    return block < 0 ? -1 : 0;
  if (!stageBlocks.empty())
    return llvm::upper_bound(stageBlocks, block) - stageBlocks.begin() - 1;
  if (isVShaped())
    return block < stages ? block : 2 * stages - 1 - block;
  return block % stages;
}

PipelineOrder Job::getOrder() const {
  if (allForwardsFirst)
    return PipelineOrder::allForwardsFirst;
  // A single stage never waits for another one, so that any order would do.
  if (getStageCount() == 1)
    return order == kAllForwardsFirst ? PipelineOrder::allForwardsFirst
                                      : PipelineOrder::oneForwardOneBackward;
  if (!orderRows.empty())
    return PipelineOrder::listed;
  using planning::OrderKind;
  switch (planning::symbolizeOrderKind(order).value_or(OrderKind::automatic)) {
  case OrderKind::allForwardsFirst:
    return PipelineOrder::allForwardsFirst;
  case OrderKind::interleaved:
    return PipelineOrder::interleaved;
  case OrderKind::zeroBubble:
    return PipelineOrder::zeroBubble;
  case OrderKind::vShape:
    return PipelineOrder::vShape;
  case OrderKind::oneForwardOneBackward:
    return PipelineOrder::oneForwardOneBackward;
  case OrderKind::automatic:
  case OrderKind::list:
  case OrderKind::file:
    return chunks > 1 ? PipelineOrder::interleaved
                      : PipelineOrder::oneForwardOneBackward;
  }
  llvm_unreachable("all kinds are listed");
}

/// The text before and after the name of a file or folder.
static constexpr StringLiteral kNameBegin = "(\"", kNameEnd = "\")";

std::string Job::makeNamed(StringRef word, StringRef name) {
  return (word + kNameBegin + name + kNameEnd).str();
}

/// Returns NAME if the text is `word("NAME")`, otherwise an empty string.
static StringRef getNamed(StringRef text, StringRef word) {
  if (text.consume_front(word) && text.consume_front(kNameBegin) &&
      text.consume_back(kNameEnd))
    return text;
  return "";
}

StringRef Job::getOrderFile() const { return getNamed(order, "file"); }

static constexpr StringLiteral kDisk = "disk";

bool Job::spillsToDisk() const {
  return hasBudget() && (spill == kDisk || !getSpillFolder().empty());
}

StringRef Job::getSpillFolder() const { return getNamed(spill, kDisk); }

bool Job::isVShaped() const {
  if (getOrder() != PipelineOrder::listed)
    return getOrder() == PipelineOrder::vShape;
  // In a V-shaped pipeline, the first stage also has the last part of the
  // model.
  constexpr int64_t kParts = 2;
  return chunks == kParts && getStageCount() > 1 &&
         StringRef(orderRows.front())
             .contains(',' + std::to_string(kParts * getStageCount() - 1) +
                       'F');
}

bool Job::splitsBackward() const {
  if (getOrder() == PipelineOrder::listed)
    return llvm::any_of(orderRows, [](StringRef row) {
      return row.contains('I') || row.contains('W');
    });
  return getOrder() == PipelineOrder::zeroBubble ||
         getOrder() == PipelineOrder::vShape;
}

/// Returns the peak number of micro-batches in flight, between forward and
/// backward, in a row of actions.
static int64_t countInFlight(StringRef row) {
  int64_t inFlight = 0, most = 0;
  for (char letter : row) {
    inFlight += letter == 'F';
    most = std::max(most, inFlight);
    inFlight -= letter == 'B' || letter == 'W';
  }
  return most;
}

int64_t Job::getInFlight(int64_t stage) const {
  // The micro-batches of the first worker, which has the most.
  int64_t own = 0;
  for (int64_t number = 0; number < microBatches; ++number)
    own += number % getGroups(stage) % getReplicas(stage) == 0;
  if (!inFlight.empty())
    return std::min(inFlight[stage], own);
  int64_t stages = getStageCount();
  switch (getOrder()) {
  case PipelineOrder::allForwardsFirst:
    return own;
  case PipelineOrder::oneForwardOneBackward:
    // In 1F1B order, the last stage begins a backward after each of its
    // forwards; each stage before it is one micro-batch further ahead.
    return std::min(stages - stage, own);
  case PipelineOrder::interleaved:
    return std::min<int64_t>(
        llvm::divideCeil((stages - stage - 1) * 2 + (chunks - 1) * stages + 1,
                         chunks),
        own);
  case PipelineOrder::zeroBubble:
  case PipelineOrder::vShape:
    return std::min(stages, own);
  case PipelineOrder::listed:
    return llvm::divideCeil(countInFlight(orderRows[stage]), chunks);
  }
  llvm_unreachable("all orders are listed");
}

bool Job::recomputes(int64_t stage) const {
  if (recompute == "auto")
    return llvm::is_contained(recomputedStages, stage);
  return recompute == "all";
}

int64_t Job::getMostGroups() const {
  int64_t most = 1;
  for (int64_t stage = 0; stage < getStageCount(); ++stage)
    most = std::max(most, getGroups(stage));
  return most;
}

planning::Cluster hfta::makeCluster(const Job &job) {
  planning::Cluster cluster;
  cluster.devices = job.clusterDevices;
  cluster.memory = job.clusterMemory;
  cluster.link = static_cast<double>(job.clusterLink);
  cluster.network = static_cast<double>(job.clusterNetwork);
  cluster.pointToPoint = job.clusterPointToPoint == Job::kAuto
                             ? cluster.network
                             : static_cast<double>(job.clusterPointToPoint);
  cluster.latency = job.clusterLatency;
  // Published costs assume links whose two directions can't be used at once.
  bool takesTurns = job.clusterDuplex == "half" || job.planCosts == "published";
  cluster.duplex = takesTurns ? planning::Duplex::half : planning::Duplex::full;
  return cluster;
}

void hfta::measureCluster(const Job &job, const planning::MeasuredCosts &costs,
                          planning::Cluster &cluster) {
  planning::Cluster measured = cluster;
  measureLinks(measured, costs);
  const Job unsaid;
  if (job.clusterLink == unsaid.clusterLink)
    cluster.link = measured.link;
  if (job.clusterNetwork == unsaid.clusterNetwork)
    cluster.network = measured.network;
  if (job.clusterPointToPoint == unsaid.clusterPointToPoint &&
      job.clusterNetwork == unsaid.clusterNetwork)
    cluster.pointToPoint = measured.pointToPoint;
  if (job.clusterLatency == unsaid.clusterLatency)
    cluster.latency = measured.latency;
  cluster.slowdown = measured.slowdown;
}
