//===- SearchReport.cpp - What a job's search will do ---------------------===//

#include "Plan/SearchReport.h"

#include "Hfta/Dialect/Hfta/IR/HftaInterfaces.h"
#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Dialect/Hfta/Job/JobSearch.h"
#include "hfta/search_outline.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::hfta;

/// Returns the bytes of what makes up the state of a trial: parameters,
/// statistics, and states of the optimizer and of K-FAC.
static int64_t getStateBytes(ModuleOp module) {
  int64_t bytes = 0;
  for (auto variable : module.getOps<VariableOp>()) {
    Role role = variable.getRole();
    bool isState = role == Role::parameter || role == Role::statistics ||
                   role == Role::optimizer_state || role == Role::curvature;
    if (isState && isArrayed(variable.getType()))
      bytes += getLogicalBytes(variable.getTensorType());
  }
  return bytes;
}

/// Writes the levels of the rule, without those in the middle if there are
/// many.
static void printLevels(const hfta_search *search, int64_t rungs,
                        llvm::raw_ostream &os) {
  constexpr int64_t kMost = 6, kFirst = 3;
  for (int64_t rung = 0; rung < rungs; ++rung) {
    if (rungs > kMost && rung == kFirst) {
      os << ", ...";
      rung = rungs - 1;
    }
    os << (rung == 0 ? " " : ", ") << hfta_search_level(search, rung);
  }
  os << " epochs";
}

static void printBytes(int64_t bytes, llvm::raw_ostream &os) {
  constexpr double kKilo = 1e3, kMega = 1e6, kGiga = 1e9;
  auto value = static_cast<double>(bytes);
  if (value >= kGiga)
    os << llvm::format("%.1f GB", value / kGiga);
  else if (value >= kMega)
    os << llvm::format("%.1f MB", value / kMega);
  else
    os << llvm::format("%.1f KB", value / kKilo);
}

static void printSlots(const Job &job, llvm::raw_ostream &os) {
  os << job.copies << (job.copies == 1 ? " slot" : " slots");
}

/// Reports what one of several arrays of a search has.
static void reportArray(const Job &job, int64_t stateBytes,
                        llvm::StringRef label, llvm::raw_ostream &os) {
  os << "hftac: " << label << "array " << job.search.array << ": ";
  printSlots(job, os);
  os << ", states of ";
  printBytes(stateBytes, os);
  os << '\n';
}

/// Reports how many trials there are, and how long they are trained.
static LogicalResult reportTrials(ModuleOp module, const Job &job,
                                  llvm::StringRef label,
                                  llvm::raw_ostream &os) {
  SearchTable table(job);
  hfta_error error;
  if (hfta_search_check(table, &error) != HFTA_OK)
    return module.emitError("in the job's search: ") << error.message;
  hfta_search_size size;
  hfta_search_measure(table, &size);
  os << "hftac: " << label << "search: " << table->trials << " trials by "
     << job.search.sampler.kind;
  if (job.validationFolds > 0)
    os << ", each for " << job.validationFolds << " folds";
  if (table->rule.kind != HFTA_RULE_NONE) {
    os << ", " << job.search.rule.kind << " at";
    printLevels(table, size.rungs, os);
    if (size.brackets > 1)
      os << " in " << size.brackets << " brackets";
  }
  os << ": " << size.least_units;
  if (size.most_units != size.least_units)
    os << " to " << size.most_units;
  os << " trial-epochs";
  if (size.least_units != size.full_units)
    os << " of " << size.full_units;
  os << ", ";
  if (job.search.arrays > 1)
    os << job.search.arrays << " arrays in turns";
  else
    printSlots(job, os);
  if (size.held > 0)
    os << ", at most " << size.held
       << (size.held == 1 ? " held state" : " held states");
  if (size.held > 0 && job.search.arrays == 1) {
    os << " of ";
    printBytes(getStateBytes(module), os);
  }
  os << '\n';
  return success();
}

LogicalResult hfta::reportSearch(ModuleOp module, llvm::StringRef label,
                                 llvm::raw_ostream &os) {
  FailureOr<Job> job = Job::read(module);
  if (failed(job))
    return failure();
  if (!job->hasSearch())
    return success();
  bool isPacked = job->search.arrays > 1;
  if (job->search.array == 0 &&
      failed(reportTrials(module, *job,
                          isPacked ? job->name + ": " : label.str(), os)))
    return failure();
  if (isPacked)
    reportArray(*job, getStateBytes(module), label, os);
  return success();
}
