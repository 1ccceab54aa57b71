//===- JobsReport.h - What several jobs will take at seats ------*- C++ -*-===//

#ifndef HFTA_LIB_DRIVER_JOBSREPORT_H
#define HFTA_LIB_DRIVER_JOBSREPORT_H

#include "Hfta/Dialect/Hfta/IR/Job.h"
#include "hfta/forecast.h"

#include "llvm/Support/raw_ostream.h"

namespace mlir::hfta {

/// A line a job, and how long training them all takes at how many seats, by the
/// estimates of their plans.
class JobsReport {
public:
  /// A job whose copies take turns in so many groups. Data files lie in
  /// `folder`; their headers tell how long epochs are.
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
