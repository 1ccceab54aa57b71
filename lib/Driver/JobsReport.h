//===- JobsReport.h - Estimated time of several jobs at seats ---*- C++ -*-===//

#ifndef HFTA_LIB_DRIVER_JOBSREPORT_H
#define HFTA_LIB_DRIVER_JOBSREPORT_H

#include "Hfta/Dialect/Hfta/IR/Job.h"
#include "hfta/forecast.h"

#include "llvm/Support/raw_ostream.h"

namespace mlir::hfta {

/// A table with a line for each job, and how long training all of them takes
/// with different numbers of seats, estimated from their plans.
class JobsReport {
public:
  /// Adds a job whose copies take turns in `groups` groups. Data files are
  /// looked up in `folder`; their headers say how long an epoch is.
  void add(const Job &job, double stepSeconds, int64_t groups,
           llvm::StringRef folder);
  void print(llvm::raw_ostream &os) const;

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

#endif // HFTA_LIB_DRIVER_JOBSREPORT_H
