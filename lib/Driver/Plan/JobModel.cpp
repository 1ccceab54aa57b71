//===- JobModel.cpp - A job's model, as the planner sees it ---------------===//

#include "Plan/JobModel.h"
#include "Input/Input.h"
#include "Plan/CostsFile.h"
#include "Plan/LayerCosts.h"
#include "Plan/Planner.h"

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::planning;

ExitCode JobModel::failFile(llvm::Error error) {
  return failCosts(options.costs, std::move(error), errors);
}

/// Makes each layer a stage of its own.
void JobModel::takeLayersAsStages() {
  for (size_t last = 0; last + 1 < model.layers.size(); ++last)
    lastLayers.push_back(static_cast<int64_t>(last));
}

/// Finds the last layer of each stage that the job gives.
ExitCode JobModel::findStages(const Job &job, const PipelineRequest &pipeline,
                              ModuleOp module) {
  FailureOr<std::vector<int64_t>> stages = findStagesOfLayers(module);
  if (failed(stages))
    return ExitCode::input;
  auto refuse = [&](const llvm::Twine &message) {
    diagnostics.error(pipeline.range, message,
                      "measure a program with these cuts");
    return ExitCode::input;
  };
  lastLayers.assign(job.cuts.size(), -1);
  for (auto [layer, stage] : llvm::enumerate(*stages)) {
    if (stage == kSplitLayer)
      return refuse("a cut lies within the layer that ends with '" +
                    model.layers[layer].name +
                    "', which was measured as a whole");
    for (size_t later = stage; later < lastLayers.size(); ++later)
      lastLayers[later] = static_cast<int64_t>(layer);
  }
  int64_t before = -1;
  for (int64_t last : lastLayers) {
    if (last == before || last + 1 == static_cast<int64_t>(stages->size()))
      return refuse(
          "a stage contains no whole layer of those that were measured");
    before = last;
  }
  return ExitCode::done;
}

/// Replaces estimated times by measured ones. If the measured program had the
/// job's own stages, the stages become the layers, with their measured times.
ExitCode JobModel::measure(const Job &job, const PipelineRequest &pipeline,
                           ModuleOp module) {
  costs = readCostsFile(options, errors);
  if (!costs)
    return ExitCode::input;
  if (llvm::Error error = checkCosts(*costs, model.digest, job.copies))
    return failFile(std::move(error));
  llvm::Expected<LayerGrain> grain =
      findGrain(*costs, model, pipeline.plansStages ? nullptr : &job.cuts);
  if (!grain)
    return failFile(grain.takeError());
  if (*grain == LayerGrain::cuts) {
    FailureOr<LayerModel> stages = buildLayerModel(module, LayerGrain::cuts);
    if (failed(stages))
      return ExitCode::input;
    model = std::move(*stages);
    takeLayersAsStages();
    // These tasks were measured while messages were in flight, so their times
    // already include the slowdown by messages.
    for (MeasuredLink &link : costs->links)
      link.slowdown = 1;
  } else if (!pipeline.plansStages) {
    if (ExitCode code = findStages(job, pipeline, module);
        code != ExitCode::done)
      return code;
  }
  if (llvm::Error error = measureLayers(model, *costs))
    return failFile(std::move(error));
  bool takesTime = llvm::any_of(model.layers, [](const Layer &layer) {
    return layer.forward + layer.leastForward + layer.backward +
               layer.leastBackward >
           0;
  });
  if (!takesTime)
    return failFile(llvm::createStringError(
        "tasks: expected forwards and backwards that take "
        "time"));
  return ExitCode::done;
}

ExitCode JobModel::load(const Job &job, const PipelineRequest &pipeline,
                        ModuleOp module) {
  bool isGiven =
      !pipeline.plansStages && options.costs.empty() && !job.cuts.empty();
  FailureOr<LayerModel> layers =
      buildLayerModel(module, isGiven ? LayerGrain::cuts : LayerGrain::all);
  if (failed(layers))
    return ExitCode::input;
  model = std::move(*layers);
  if (isGiven)
    takeLayersAsStages();
  return options.costs.empty() ? ExitCode::done
                               : measure(job, pipeline, module);
}

/// Returns the cluster of the job's clause; without that clause, one machine
/// for all stages if the job gives stages.
Cluster JobModel::getCluster(const Job &job,
                             const PipelineRequest &pipeline) const {
  Cluster cluster = makeCluster(job);
  if (!pipeline.plansStages && cluster.devices.empty())
    cluster.devices = {job.getWorkers()};
  if (costs)
    measureCluster(job, *costs, cluster);
  return cluster;
}
