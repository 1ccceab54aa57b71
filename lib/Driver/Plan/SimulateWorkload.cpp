//===- SimulateWorkload.cpp - hftac --simulate ----------------------------===//

#include "Hfta/Driver/Plan/SimulateWorkload.h"
#include "Hfta/Planning/Models/MultiModelSimulation.h"
#include "Hfta/Support/Output.h"
#include "Input/Input.h"
#include "Plan/PlanReport.h"

#include "llvm/Support/Path.h"

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::planning;

static std::optional<MultiModelWorkload>
loadWorkload(const DriverOptions &options, llvm::raw_ostream &errors) {
  llvm::SourceMgr sources;
  unsigned id = readText(options.workload, sources, errors);
  if (id == 0)
    return std::nullopt;
  llvm::Expected<MultiModelWorkload> workload =
      readWorkload(sources.getMemoryBuffer(id)->getBuffer());
  if (workload)
    return std::move(*workload);
  errors << options.workload
         << ": error: " << llvm::toString(workload.takeError()) << '\n';
  return std::nullopt;
}

static ExitCode printComparison(const ScheduleComparison &comparison,
                                const DriverOptions &options,
                                llvm::raw_ostream &errors) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (options.json)
    writeComparison(comparison, os);
  else
    planning::printComparison(comparison, os);
  llvm::Error error = writeOutput("-", text);
  if (!error)
    return ExitCode::done;
  errors << "hftac: error: " << llvm::toString(std::move(error)) << '\n';
  return ExitCode::cannotWrite;
}

ExitCode hfta::simulateWorkload(const DriverOptions &options,
                                llvm::raw_ostream &errors) {
  if (!checkPlanOutputs(options, errors))
    return ExitCode::usage;
  std::optional<MultiModelWorkload> workload = loadWorkload(options, errors);
  if (!workload)
    return ExitCode::input;
  ScheduleComparison comparison = compareSchedules(*workload);
  if (!options.timeline.empty()) {
    std::string title =
        llvm::sys::path::filename(options.workload).str() + ", lrtf";
    ExitCode code = writeTimeline(
        getTimeline(*workload, comparison.lrtf, title), options, errors);
    if (code != ExitCode::done || options.timeline == "-")
      return code;
  }
  return printComparison(comparison, options, errors);
}
