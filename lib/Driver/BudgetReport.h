//===- BudgetReport.h - A job's step within its budget ----------*- C++ -*-===//

#ifndef HFTA_LIB_DRIVER_BUDGETREPORT_H
#define HFTA_LIB_DRIVER_BUDGETREPORT_H

#include "Hfta/Dialect/Hfta/IR/Job.h"
#include "Hfta/Planning/SpillSimulation.h"
#include "mlir/IR/OwningOpRef.h"

#include <vector>

namespace mlir::hfta {

/// A report on a job with a memory budget: where its data lies, and one step of
/// its schedule as simulated.
class BudgetReport {
public:
  /// Makes the report for a module in phase `planned` whose kernels' scratch
  /// memory is known, by scheduling a copy of it. Errors are reported.
  static FailureOr<BudgetReport> make(ModuleOp planned, const Job &job);

  /// Prints tables of the memory, of the blocks and of the step.
  void print(raw_ostream &os);
  planning::Timeline draw() const;
  double getStepSeconds() const;
  /// Returns in how many turns the copies go through one or several steps.
  int64_t countGroups() const;

private:
  /// The bytes of a block that come and go or stay.
  struct BlockBytes {
    bool isResident = true, keepsState = true;
    int64_t parameters = 0, state = 0; ///< for all copies
    /// For the copies of a turn and all micro-batches: the results of its
    /// forward that stay in memory, that are spilled to the store, and that are
    /// recomputed.
    int64_t kept = 0, spilled = 0, recomputed = 0;
  };
  BudgetReport(OwningOpRef<ModuleOp> scheduled, const Job &job,
               planning::StoreRates store, bool isMeasured)
      : scheduled(std::move(scheduled)), job(job), store(store),
        isMeasured(isMeasured) {}
  std::vector<BlockBytes> findBlocks();
  void printMemory(raw_ostream &os);
  void printBlocks(raw_ostream &os);
  void printStep(raw_ostream &os);
  void printStages(raw_ostream &os);
  int64_t countStepCopies() const;
  /// Returns the numbers of the stages; -1 alone if there is a single one.
  SmallVector<int64_t> listStages() const;

  OwningOpRef<ModuleOp> scheduled;
  Job job;
  planning::StoreRates store;
  bool isMeasured; ///< the times of tasks and the store were measured
  std::vector<planning::SpillRun>
      steps; ///< one for each stage, simulated alone
};

} // namespace mlir::hfta

#endif // HFTA_LIB_DRIVER_BUDGETREPORT_H
