//===- JobModel.h - A job's model, as the planner sees it -------*- C++ -*-===//

#ifndef HFTA_LIB_DRIVER_PLAN_JOBMODEL_H
#define HFTA_LIB_DRIVER_PLAN_JOBMODEL_H

#include "Hfta/Driver/CommandLine/CommandLine.h"
#include "Hfta/Language/FrontEnd.h"
#include "Hfta/Planning/Common/LayerModel.h"
#include "Hfta/Planning/Common/MeasuredCosts.h"
#include "Hfta/Support/ExitCode.h"

namespace mlir::hfta {

/// The layers of a job's model. Their times were measured, if `--costs` is
/// given; else they are estimated from documented rates of processors.
class JobModel {
public:
  /// Keeps references to all arguments, which must outlive this object.
  JobModel(const DriverOptions &options, JobDiagnostics &diagnostics,
           llvm::raw_ostream &errors)
      : options(options), diagnostics(diagnostics), errors(errors) {}

  /// Determines the layers of a module that was just imported.
  ExitCode load(const Job &job, const PipelineRequest &pipeline,
                ModuleOp module);

  const planning::LayerModel &getLayers() const { return model; }
  /// Returns the last layer of each stage, except the last stage, if the job
  /// gives its stages; see PlanningProblem.
  const std::vector<int64_t> &getLastLayers() const { return lastLayers; }
  bool isMeasured() const { return costs.has_value(); }
  planning::Cluster getCluster(const Job &job,
                               const PipelineRequest &pipeline) const;

private:
  ExitCode measure(const Job &job, const PipelineRequest &pipeline,
                   ModuleOp module);
  void takeLayersAsStages();
  ExitCode findStages(const Job &job, const PipelineRequest &pipeline,
                      ModuleOp module);
  ExitCode failFile(llvm::Error error);

  const DriverOptions &options;
  JobDiagnostics &diagnostics;
  llvm::raw_ostream &errors;
  planning::LayerModel model;
  std::vector<int64_t> lastLayers;
  std::optional<planning::MeasuredCosts> costs;
};

} // namespace mlir::hfta

#endif // HFTA_LIB_DRIVER_PLAN_JOBMODEL_H
