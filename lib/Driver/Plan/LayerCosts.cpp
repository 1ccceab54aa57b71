//===- LayerCosts.cpp - Layers and costs of a job's model -----------------===//

#include "Plan/LayerCosts.h"
#include "Hfta/Pipelines/ModelIdentity.h"
#include "Hfta/Pipelines/TaskCosts.h"
#include "Plan/LowerCopy.h"

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Dialect/Hfta/Job/Job.h"
#include "Hfta/Pipelines/Passes.h"
#include "Hfta/Pipelines/Pipelines.h"
#include "Hfta/Planning/Common/ReferenceRates.h"
#include "Hfta/Support/TaskNames.h"
#include "Hfta/Target/Target.h"
#include "Hfta/Transforms/Passes.h"
#include "Hfta/Transforms/Pipeline/CutPoints.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <map>
#include <set>

using namespace mlir;
using namespace mlir::hfta;
using planning::Layer;
using planning::LayerModel;
using planning::MeasuredCosts;

//===----------------------------------------------------------------------===//
// Bytes
//===----------------------------------------------------------------------===//

namespace {

/// Determines, from the variables that tasks access, the bytes of values that
/// cross from layer to layer and of values that are saved.
class LayerReader {
public:
  LayerReader(ModuleOp module, double samples, std::vector<Layer> &layers)
      : symbols(module), samples(samples), layers(layers) {
    for (auto task : module.getOps<func::FuncOp>())
      if (auto tag = task->getAttrOfType<TaskAttr>(HftaDialect::kTaskAttrName))
        addTask(task, tag);
  }

  /// Sets the bytes of the layers. Returns the ratio of the optimizer's state
  /// to parameters.
  double read(ModuleOp module);

private:
  /// The blocks whose tasks access a variable.
  struct Uses {
    int64_t forwardWriter = -1; ///< block; -1 if no forward writes it
    int64_t firstForward = -1, first = -1, last = -1;
    bool readByOwnBackward = false;
  };

  void addTask(func::FuncOp task, TaskAttr tag);
  static double getBytes(VariableOp variable) {
    RankedTensorType type = variable.getTensorType();
    return static_cast<double>(getLogicalBytes(type)) *
           getCopies(type).value_or(1);
  }

  SymbolTable symbols;
  double samples;
  std::vector<Layer> &layers;
  DenseMap<Operation *, Uses> uses;
};

} // namespace

void LayerReader::addTask(func::FuncOp task, TaskAttr tag) {
  int64_t block = tag.getBlock();
  bool isForward = tag.getPart() == parts::kForward;
  if (!isForward && tag.getPart() != parts::kBackward &&
      tag.getPart() != parts::kBackwardWeight)
    return;
  if (isForward)
    for (auto write : task.getOps<WriteOp>())
      uses[symbols.lookup(write.getVariable())].forwardWriter = block;
  assert(block < static_cast<int64_t>(layers.size()) &&
         "blocks are what cuts make");
  for (auto read : task.getOps<ReadOp>()) {
    Uses &used = uses[symbols.lookup(read.getVariable())];
    used.last = std::max(used.last, block);
    used.first = used.first < 0 ? block : std::min(used.first, block);
    if (!isForward)
      used.readByOwnBackward |= block == used.forwardWriter;
    else if (used.firstForward < 0 || block < used.firstForward)
      used.firstForward = block;
  }
}

double LayerReader::read(ModuleOp module) {
  double parameters = 0, state = 0;
  for (auto variable : module.getOps<VariableOp>()) {
    double bytes = getBytes(variable);
    auto block = static_cast<int64_t>(variable.getBlock());
    if (variable.getRole() == Role::optimizer_state)
      state += bytes;
    else if (variable.getRole() == Role::curvature)
      layers[block].curvatureBytes += bytes;
    else if (variable.getRole() == Role::moment)
      layers[block].momentBytes += bytes;
    auto found = uses.find(variable);
    if (found == uses.end())
      continue;
    const Uses &used = found->second;
    if (variable.getRole() == Role::parameter && used.firstForward >= 0) {
      parameters += bytes;
      layers[used.firstForward].parameterBytes += bytes;
    }
    if (variable.isFor(Purpose::field) && used.first >= 0)
      layers[used.first].inputBytes += bytes / samples;
    bool isValue =
        variable.getRole() == Role::saved || variable.getRole() == Role::cut;
    if (!isValue || used.forwardWriter < 0)
      continue;
    if (used.readByOwnBackward)
      layers[used.forwardWriter].savedBytes += bytes / samples;
    for (int64_t layer = used.forwardWriter; layer < used.last; ++layer)
      layers[layer].crossingBytes += bytes / samples;
  }
  return parameters == 0 ? 0 : state / parameters;
}

//===----------------------------------------------------------------------===//
// Times
//===----------------------------------------------------------------------===//

/// Returns the rates of the module's devices: of the first one for which its
/// target knows them, else planning's reference rates.
static DeviceRates getRates(ModuleOp module) {
  const Target *target = Target::read(module);
  if (target && !target->getRates().empty())
    return target->getRates().front();
  return {"",
          planning::kBytesPerSecond,
          planning::kFlopsPerSecond,
          planning::kFlopsPerSecond,
          planning::kFlopsPerSecond,
          planning::kSecondsPerKernel};
}

/// Estimates times from documented rates. A micro-batch takes at least the time
/// to read the weights, however few samples it has.
static void estimateTimes(ModuleOp module, int64_t copies, double samples,
                          std::vector<Layer> &layers) {
  const DeviceRates rates = getRates(module);
  llvm::StringMap<TaskCost> costs;
  for (const TaskCost &cost : getTaskCosts(module, copies))
    costs[cost.name] = cost;
  for (auto [block, layer] : llvm::enumerate(layers)) {
    auto add = [&, block = block](llvm::StringRef part, double &least,
                                  double &each, double samples) {
      TaskCost cost = costs.lookup(TaskAttr::makeName(part, block));
      auto weights = static_cast<double>(cost.parameterBytes);
      double bytes =
          static_cast<double>(cost.bytesRead + cost.bytesWritten) - weights;
      least += static_cast<double>(cost.kernels) * rates.launch +
               weights / rates.bytes;
      each += std::max(static_cast<double>(cost.flops) / rates.flops,
                       bytes / rates.bytes) /
              samples;
    };
    add(parts::kForward, layer.leastForward, layer.forward, samples);
    add(parts::kBackward, layer.leastBackward, layer.backward, samples);
    add(parts::kBackwardWeight, layer.leastBackward, layer.backward, samples);
    add(parts::kPrecondition, layer.update, layer.update, 1);
    add(parts::kUpdate, layer.update, layer.update, 1);
  }
}

/// Quotes a cut for a message: "'a'", or "'b, c'" for a cut of two values, or
/// "none" if there is no cut with this number.
static std::string quoteCut(llvm::ArrayRef<std::string> names, size_t number) {
  return number < names.size() ? "'" + names[number] + "'" : "none";
}

llvm::Expected<LayerGrain>
hfta::findGrain(const MeasuredCosts &costs, const LayerModel &model,
                const std::vector<std::vector<std::string>> *given) {
  std::vector<std::string> expected, got;
  for (const Layer &layer : llvm::ArrayRef(model.layers).drop_back())
    expected.push_back(layer.name);
  for (const std::vector<std::string> &cut : costs.cuts)
    got.push_back(llvm::join(cut, ", "));
  if (got == expected)
    return LayerGrain::all;
  if (given && costs.cuts == *given)
    return LayerGrain::cuts;
  size_t number = 0;
  while (number < std::min(expected.size(), got.size()) &&
         expected[number] == got[number])
    ++number;
  return llvm::createStringError("cuts[" + llvm::Twine(number) +
                                 "]: expected " + quoteCut(expected, number) +
                                 ", as '--cuts=all' cuts the job's model, " +
                                 "got " + quoteCut(got, number));
}

/// Sets the times of a layer to a micro-batch's measured time. The part that
/// doesn't depend on the number of samples stays as estimated, unless it
/// exceeds the measured time.
static void setTime(double measured, double samples, double &least,
                    double &each) {
  least = std::min(least, measured);
  each = (measured - least) / samples;
}

/// Returns the sum of the measurements of a part's task and of its other
/// versions, which replace it in steps that compute moments or work with rows.
static planning::MeasuredTask getTask(const MeasuredCosts &costs,
                                      llvm::StringRef part, int64_t block) {
  planning::MeasuredTask all;
  llvm::StringRef second = parts::getMomentsPart(part);
  for (llvm::StringRef version :
       {part, second, parts::getRowsPart(part), parts::getRowsPart(second)}) {
    if (version.empty())
      continue;
    planning::MeasuredTask one =
        costs.tasks.lookup(TaskAttr::makeName(version, block));
    all.seconds += one.seconds;
    all.runs += one.runs;
  }
  return all;
}

/// Returns the number of workers that updated a layer; each of them updated all
/// of it. More runs of forward than there are micro-batches mean that copies
/// took turns, so that each worker had as many runs of the update as there were
/// turns.
static double countWorkers(const MeasuredCosts &costs, int64_t block) {
  auto getRuns = [&](llvm::StringRef part) {
    return getTask(costs, part, block).runs;
  };
  double turns =
      getRuns(parts::kForward) / static_cast<double>(costs.microBatches);
  return turns > 0 ? std::max(1.0, getRuns(parts::kUpdate) / turns) : 1;
}

llvm::Error hfta::measureLayers(LayerModel &model, const MeasuredCosts &costs) {
  auto count = static_cast<double>(costs.microBatches);
  double samples = static_cast<double>(costs.batch) / count;
  for (auto [block, layer] : llvm::enumerate(model.layers)) {
    auto getSeconds = [&, block = block](llvm::StringRef part) {
      return getTask(costs, part, block).seconds;
    };
    auto isThere = [&, block = block](llvm::StringRef part) {
      return costs.tasks.contains(TaskAttr::makeName(part, block));
    };
    if (!isThere(parts::kForward) && !isThere(parts::kForwardMoments))
      return llvm::createStringError(
          "tasks: expected one with the name '" +
          TaskAttr::makeName(parts::kForward, block) +
          "', for the layer that ends with '" + layer.name + "'");
    setTime((getSeconds(parts::kForward) + getSeconds(parts::kSharedMoments)) /
                count,
            samples, layer.leastForward, layer.forward);
    double inputs =
        getSeconds(parts::kBackward) + getSeconds(parts::kSampledMoments);
    double weights = getSeconds(parts::kBackwardWeight);
    setTime((inputs + weights) / count, samples, layer.leastBackward,
            layer.backward);
    if (weights > 0)
      layer.weightShare = weights / (inputs + weights);
    layer.update =
        (getSeconds(parts::kStatistics) + getSeconds(parts::kCurvature) +
         getSeconds(parts::kInvert) + getSeconds(parts::kPrecondition) +
         getSeconds(parts::kNorm) + getSeconds(parts::kUpdate)) /
        countWorkers(costs, block);
  }
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

/// Changes the job to a single stage with one worker.
static void makeOneStage(ModuleOp module, Job job) {
  job.cuts.clear();
  job.replicas.clear();
  job.inFlight.clear();
  job.orderRows.clear();
  job.workerPlaces.clear();
  job.stageBlocks.clear();
  job.chunks = 1;
  job.order = "auto";
  job.groups = Job::kAuto;
  job.recompute = "none";
  job.recomputedStages.clear();
  job.write(module);
}

/// Makes the layers between the given cuts. The last layer gets a name that no
/// cut has.
static std::vector<Layer>
makeLayers(llvm::ArrayRef<std::vector<std::string>> cuts) {
  std::vector<Layer> layers;
  std::set<std::string> names;
  for (const std::vector<std::string> &cut : cuts) {
    layers.push_back({llvm::join(cut, ", ")});
    names.insert(layers.back().name);
  }
  std::string last = "loss";
  while (names.count(last))
    last += "'";
  layers.push_back({last});
  return layers;
}

static OwningOpRef<ModuleOp> fuseCopy(ModuleOp module) {
  return lowerCopy(module, [](OpPassManager &passes) {
    buildFusedPipeline(passes, FusedPipelineOptions());
  });
}

/// Cuts a clone of the model at `cuts`, or at the job's own cuts if that is
/// empty. Returns the block of each ReadOp, in the module's order.
static FailureOr<SmallVector<int64_t>> findBlocksOfReads(ModuleOp fused,
                                                         llvm::StringRef cuts) {
  HftaPlanPipelineOptions options;
  if (!cuts.empty())
    options.cuts.push_back(cuts.str());
  OwningOpRef<ModuleOp> copy = lowerCopy(fused, [&](OpPassManager &passes) {
    passes.addPass(createHftaPlanPipeline(std::move(options)));
  });
  if (!copy)
    return failure();
  SmallVector<int64_t> blocks;
  copy->walk([&](ReadOp read) {
    auto block = read->getAttrOfType<IntegerAttr>(HftaDialect::kBlockAttrName);
    blocks.push_back(block ? block.getInt() : 0);
  });
  return blocks;
}

/// Returns, for each ReadOp in the module's order, whether it reads a layer's
/// weight.
static SmallVector<bool> findWeights(ModuleOp fused) {
  SmallVector<bool> areWeights;
  fused.walk([&](ReadOp read) { areWeights.push_back(isWeightRead(read)); });
  return areWeights;
}

FailureOr<std::vector<int64_t>> hfta::findStagesOfLayers(ModuleOp module) {
  OwningOpRef<ModuleOp> fused = fuseCopy(module);
  if (!fused)
    return failure();
  FailureOr<SmallVector<int64_t>> layers = findBlocksOfReads(*fused, "all");
  FailureOr<SmallVector<int64_t>> stages = findBlocksOfReads(*fused, "");
  if (failed(layers) || failed(stages))
    return failure();
  std::map<int64_t, int64_t> stageOf;
  for (auto [isWeight, layer, stage] :
       llvm::zip_equal(findWeights(*fused), *layers, *stages)) {
    if (!isWeight)
      continue;
    auto [known, isNew] = stageOf.try_emplace(layer, stage);
    if (!isNew && known->second != stage)
      known->second = kSplitLayer;
  }
  // A layer without weights, such as a loss, belongs to the stage of the layer
  // before it.
  int64_t count = layers->empty() ? 0 : *llvm::max_element(*layers) + 1;
  std::vector<int64_t> result;
  for (int64_t layer = 0; layer < count; ++layer) {
    int64_t before = result.empty() ? 0 : result.back();
    auto found = stageOf.find(layer);
    result.push_back(found == stageOf.end() ? before : found->second);
  }
  return result;
}

FailureOr<std::string> hfta::digestModel(ModuleOp module) {
  OwningOpRef<ModuleOp> copy = lowerCopy(module, [](OpPassManager &passes) {
    passes.addPass(createHftaDescribeModel());
  });
  if (!copy)
    return failure();
  return digestIdentities(*copy);
}

FailureOr<LayerModel> hfta::buildLayerModel(ModuleOp module, LayerGrain kind) {
  FailureOr<Job> job = Job::read(module);
  if (failed(job))
    return failure();
  OwningOpRef<ModuleOp> copy = fuseCopy(module);
  if (!copy)
    return failure();
  TrainPipelineOptions train;
  std::vector<std::vector<std::string>> cuts = job->cuts;
  if (kind == LayerGrain::all) {
    cuts.clear();
    for (const std::string &name : findCutPoints(*copy)) {
      cuts.push_back({name});
      train.cuts.push_back(name);
    }
    makeOneStage(*copy, *job);
  }
  LayerModel model;
  model.digest = digestIdentities(*copy);
  model.layers = makeLayers(cuts);
  if (failed(lowerQuietly(*copy, [&](OpPassManager &passes) {
        buildTrainPipeline(passes, train);
      })))
    return failure();
  auto samples = static_cast<double>(job->getMicroBatch());
  model.optimizerStates = LayerReader(*copy, samples, model.layers).read(*copy);
  if (failed(lowerQuietly(*copy, [&](OpPassManager &passes) {
        // A pipeline's micro-batches are added to gradients.
        buildPlannedPipeline(passes, *Target::read(*copy),
                             /*accumulates=*/true);
      })))
    return failure();
  estimateTimes(*copy, job->copies, samples, model.layers);
  return model;
}
