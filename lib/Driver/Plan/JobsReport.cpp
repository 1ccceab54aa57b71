//===- JobsReport.cpp - Estimated time of jobs at seats -------------------===//

#include "Plan/JobsReport.h"

#include "Hfta/Dialect/Hfta/Job/Settings.h"
#include "Hfta/Language/Files.h"
#include "hfta/data.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::hfta;

/// Returns the number of samples of a field's files; nothing if the header of
/// one of them doesn't give it.
static std::optional<int64_t> countSamples(const DataSource &source,
                                           StringRef folder) {
  int64_t count = 0;
  for (const std::string &name : source.getPaths()) {
    std::string path = getPathFrom(folder, name);
    hfta_data_request request = {};
    request.path = path.c_str();
    request.format =
        static_cast<hfta_data_format>(*getDataFormatCode(source.format));
    request.array = source.array.c_str();
    hfta_data_info info;
    hfta_error error;
    if (hfta_data_probe(&request, &info, &error) != HFTA_OK)
      return std::nullopt;
    count += info.count;
  }
  return count;
}

/// Returns the number of steps in an epoch, according to the first field whose
/// files' headers give the number of samples; 0 if none does.
static int64_t findEpoch(const Job &job, StringRef folder) {
  for (const DataField &field : job.data)
    if (std::optional<int64_t> count = countSamples(field.train, folder))
      return *count / job.batch;
  return 0;
}

/// Returns the number of steps of a job; -1 if it isn't known.
static int64_t findSteps(const Job &job, StringRef folder) {
  if (job.steps > 0)
    return job.steps;
  if (job.epochs <= 0)
    return -1;
  int64_t epoch = findEpoch(job, folder);
  return epoch == 0 || job.epochs > INT64_MAX / epoch ? -1 : job.epochs * epoch;
}

void JobsReport::add(const Job &job, double stepSeconds, int64_t groups,
                     StringRef folder) {
  hfta_expected_job expected;
  expected.steps = findSteps(job, folder);
  expected.step_seconds = stepSeconds;
  expected.spills = job.hasBudget();
  expected.groups = groups;
  rows.push_back({job.name, job.copies, job.batch, expected});
}

/// Returns the numbers of seats to report: powers of two, until each job has a
/// seat, but at most 8.
static SmallVector<int64_t> chooseSeats(size_t jobs) {
  SmallVector<int64_t> counts = {1};
  while (counts.back() < 8 && counts.back() < static_cast<int64_t>(jobs))
    counts.push_back(2 * counts.back());
  return counts;
}

void JobsReport::printJobs(raw_ostream &os) const {
  size_t width = 3;
  for (const Row &row : rows)
    width = std::max(width, row.name.size());
  auto printName = [&](StringRef name) {
    os.indent(2) << name;
    os.indent(width - name.size());
  };
  os << "jobs, by estimated costs\n";
  printName("job");
  os << "  copies   batch     steps    step (s)     all (s)\n";
  for (const Row &row : rows) {
    const hfta_expected_job &job = row.expected;
    std::string steps = "-", seconds = "-";
    if (job.steps >= 0) {
      steps = std::to_string(job.steps);
      seconds = llvm::formatv("{0:f2}", static_cast<double>(job.steps) *
                                            job.step_seconds);
    }
    printName(row.name);
    os << llvm::formatv("{0,8}{1,8}{2,10}{3,12:f6}{4,12}\n", row.copies,
                        row.batch, steps, job.step_seconds, seconds);
  }
}

void JobsReport::print(raw_ostream &os) const {
  printJobs(os);
  std::vector<hfta_expected_job> jobs;
  for (const Row &row : rows)
    jobs.push_back(row.expected);
  if (llvm::any_of(jobs, [](const auto &job) { return job.steps < 0; })) {
    os << "the time at seats can't be estimated: it needs the number of steps "
          "of each job, from 'steps', or from 'epochs' and the headers of its "
          "data files\n";
    return;
  }
  os << llvm::formatv("\n{0,5}{1,14}{2,14}{3,20}\n", "seats", "lrtf (s)",
                      "at least (s)", "model_parallel (s)");
  for (int64_t seats : chooseSeats(rows.size())) {
    hfta_forecast forecast;
    if (hfta_forecast_jobs(jobs.data(), static_cast<int64_t>(jobs.size()),
                           seats, &forecast))
      os << llvm::formatv("{0,5}{1,14:f2}{2,14:f2}{3,20:f2}\n", seats,
                          forecast.makespan, forecast.bound, forecast.one_seat);
  }
}
