//===- JobsReport.h - Estimated time of jobs at seats -----------*- C++ -*-===//

#ifndef HFTA_LIB_DRIVER_PLAN_JOBSREPORT_H
#define HFTA_LIB_DRIVER_PLAN_JOBSREPORT_H

#include "Hfta/Dialect/Hfta/Job/Job.h"
#include "hfta/forecast.h"

#include "llvm/Support/raw_ostream.h"

namespace mlir::hfta {

/// A table with a line for each job, and an estimate of how long it takes to
/// train all of them, by the number of seats (see `train --seats`).
class JobsReport {
public:
  /// Adds a job whose copies take `groups` turns. The length of an epoch is
  /// read from the headers of its data files; relative paths refer to `folder`.
  void add(const Job &job, double stepSeconds, int64_t groups,
           llvm::StringRef folder);
  void print(llvm::raw_ostream &os) const;
  /// Returns whether several jobs have been added.
  bool hasSeveral() const { return rows.size() > 1; }

private:
  struct Row {
    std::string name;
    int64_t copies, batch;
    hfta_expected_job expected;
  };
  void printJobs(llvm::raw_ostream &os) const;

  std::vector<Row> rows;
};

} // namespace mlir::hfta

#endif // HFTA_LIB_DRIVER_PLAN_JOBSREPORT_H
