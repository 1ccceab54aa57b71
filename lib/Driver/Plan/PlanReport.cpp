//===- PlanReport.cpp - Writes plans and draws them -----------------------===//

#include "Plan/PlanReport.h"

#include "Hfta/Support/Output.h"
#include "Input/Input.h"

#include "llvm/Support/FileSystem.h"

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::planning;

/// Reads the trace of a recorded run as a timeline. Returns nothing after an
/// error, which was written to `errors`.
static std::optional<Timeline> loadTrace(llvm::StringRef path,
                                         llvm::raw_ostream &errors) {
  llvm::SourceMgr sources;
  unsigned id = readText(path, sources, errors);
  if (id == 0)
    return std::nullopt;
  llvm::Expected<Timeline> trace =
      readTrace(sources.getMemoryBuffer(id)->getBuffer(), path);
  if (trace)
    return std::move(*trace);
  errors << "hftac: error: " << llvm::toString(trace.takeError()) << '\n';
  return std::nullopt;
}

ExitCode hfta::writeTimeline(const Timeline &timeline,
                             const DriverOptions &options,
                             llvm::raw_ostream &errors) {
  std::optional<Timeline> drawn = timeline;
  if (!options.trace.empty()) {
    drawn = loadTrace(options.trace, errors);
    if (!drawn)
      return ExitCode::input;
    drawn = layBeside(timeline, *drawn);
  }
  std::string svg;
  llvm::raw_string_ostream os(svg);
  writeSvg(*drawn, os);
  llvm::Error error = writeOutput(options.timeline, svg);
  if (!error)
    return ExitCode::done;
  errors << "hftac: error: " << llvm::toString(std::move(error)) << '\n';
  return ExitCode::cannotWrite;
}

static ExitCode writePlan(const PipelinePlan &plan,
                          const DriverOptions &options,
                          llvm::raw_ostream &errors) {
  std::string table, json;
  llvm::raw_string_ostream tableStream(table), jsonStream(json);
  printPlan(plan, tableStream);
  planning::writePlan(plan, jsonStream);
  llvm::Error error = llvm::Error::success();
  if (!options.output.empty())
    error = writeOutput(options.output, json);
  if (!error && options.output != "-" && options.timeline != "-")
    error = writeOutput("-", table);
  if (!error)
    return ExitCode::done;
  errors << "hftac: error: " << llvm::toString(std::move(error)) << '\n';
  return ExitCode::cannotWrite;
}

/// Returns whether two outputs are the same file, or both are the standard
/// output.
static bool isSameFile(llvm::StringRef one, llvm::StringRef other) {
  if (one.empty() || one == "-" || other == "-")
    return !one.empty() && one == other;
  return one == other || llvm::sys::fs::equivalent(one, other);
}

bool hfta::checkPlanOutputs(const DriverOptions &options,
                            llvm::raw_ostream &errors) {
  const std::pair<llvm::StringRef, llvm::StringRef> inputs[] = {
      {options.profile, "profile"},
      {options.costs, "costs"},
      {options.workload, "workload"},
      {options.trace, "trace"}};
  for (llvm::StringRef output : {options.output, options.timeline})
    for (auto [input, what] : inputs)
      if (isSameFile(input, output)) {
        errors << "hftac: error: the output '" << output
               << "' would replace the " << what << '\n';
        return false;
      }
  if (!isSameFile(options.output, options.timeline))
    return true;
  errors << "hftac: error: the plan and its timeline would both be '"
         << options.timeline << "'\n";
  return false;
}

ExitCode hfta::reportPlan(const SimulatedPlan &result,
                          const DriverOptions &options,
                          llvm::raw_ostream &errors) {
  if (!options.timeline.empty() && !result.step) {
    errors
        << "hftac: error: option '--timeline': the plan has too many devices "
           "or micro-batches to be simulated\n";
    return ExitCode::unsupported;
  }
  if (!options.timeline.empty())
    if (ExitCode code = writeTimeline(getTimeline(result.plan, *result.step),
                                      options, errors);
        code != ExitCode::done)
      return code;
  return writePlan(result.plan, options, errors);
}

void hfta::reportStages(const PipelinePlan &plan, llvm::StringRef label,
                        llvm::raw_ostream &os) {
  size_t workers = 0;
  for (const PlannedStage &stage : plan.stages)
    workers += stage.devices.size();
  auto count = [&](size_t number, llvm::StringRef what) {
    os << number << ' ' << what << (number == 1 ? "" : "s");
  };
  os << "hftac: " << label << "plans ";
  count(plan.stages.size(), "stage");
  os << " of ";
  count(workers, "worker");
  os << ", " << plan.microBatches << " micro-batch"
     << (plan.microBatches == 1 ? "" : "es");
  if (plan.stages.size() > 1)
    os << ", order " << plan.order;
  os << " ('--plan-pipeline' prints the plan)\n";
}
