//===- Jobs.cpp - The jobs of a file --------------------------------------===//

#include "Input/Jobs.h"

#include "Hfta/Dialect/Hfta/Job/Suggestions.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::hfta;

static std::vector<llvm::StringRef> getNames(const ast::JobFile &file) {
  std::vector<llvm::StringRef> names;
  for (const auto &train : file.trains)
    names.emplace_back(train.declaration.name.name);
  return names;
}

static ExitCode keepOne(const DriverOptions &options, ast::JobFile &file,
                        llvm::raw_ostream &errors) {
  std::vector<llvm::StringRef> names = getNames(file);
  if (!llvm::is_contained(names, options.job)) {
    errors << "hftac: error: option '--job': '" << options.inputs.front()
           << "' has no job '" << options.job
           << "'\nhint: " << suggest(options.job, names, "jobs are") << '\n';
    return ExitCode::usage;
  }
  llvm::erase_if(file.trains, [&](const auto &train) {
    return train.declaration.name.name != options.job;
  });
  return ExitCode::done;
}

/// Returns the beginning of an error message about an option that is for one
/// module only; empty if no such option is given.
static std::string findSingle(const DriverOptions &options) {
  if (options.planPipeline)
    return "'--plan-pipeline' plans one job";
  if (!options.timeline.empty())
    return "'--timeline' draws one job's step";
  if (!options.plan && options.emit != &phases::executable)
    return ("'--emit=" + options.emit->name + "' takes one job").str();
  if (!options.cuts.empty())
    return "'--cuts' cuts one job's model";
  if (!options.costs.empty())
    return "'--costs' gives the times of one job's tasks";
  return "";
}

/// As findSingle, for options that are for one job.
static std::string findLonely(const DriverOptions &options) {
  if (!options.jobFlags.empty())
    return "'--" + options.jobFlags.front().name + "' sets a clause of one job";
  if (!options.constants.empty())
    return "'--constant' binds an input of one job's model";
  return findSingle(options);
}

ExitCode hfta::chooseJobs(const DriverOptions &options, ast::JobFile &file,
                          llvm::raw_ostream &errors) {
  if (!options.job.empty())
    return keepOne(options, file, errors);
  if (file.trains.size() < 2)
    return ExitCode::done;
  bool isLibrary = !options.plan && !options.planPipeline &&
                   options.emit == &phases::library;
  std::string lonely =
      isLibrary ? "a library has one job" : findLonely(options);
  if (lonely.empty())
    return ExitCode::done;
  errors << "hftac: error: " << lonely << ", and '" << options.inputs.front()
         << "' has several\nhint: '--job=NAME' takes one of '"
         << llvm::join(getNames(file), "', '") << "'\n";
  return isLibrary ? ExitCode::unsupported : ExitCode::usage;
}

ExitCode hfta::checkArrays(const DriverOptions &options,
                           const std::vector<JobModule> &jobs,
                           llvm::raw_ostream &errors) {
  auto packed =
      llvm::find_if(jobs, [](const JobModule &job) { return job.arrays > 1; });
  std::string single = packed == jobs.end() ? "" : findSingle(options);
  if (single.empty())
    return ExitCode::done;
  errors << "hftac: error: " << single << ", but the search of '"
         << packed->name << "' has " << packed->arrays
         << " arrays\nhint: choices of what a program holds as constants need "
            "an array each: give one value instead\n";
  return ExitCode::usage;
}
