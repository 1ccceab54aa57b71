//===- BudgetReport.h - What a job does within its budget -------*- C++ -*-===//

#ifndef HFTA_LIB_DRIVER_BUDGETREPORT_H
#define HFTA_LIB_DRIVER_BUDGETREPORT_H

#include "Hfta/Dialect/Hfta/IR/Job.h"
#include "Hfta/Planning/SpillSimulation.h"
#include "mlir/IR/OwningOpRef.h"

#include <vector>

namespace mlir::hfta {

/// Of a job with a budget of memory: where what it has lies, and a step as its
/// schedule is simulated.
class BudgetReport {
public:
  /// Of a module in phase `planned`, which knows its kernels' scratch memory:
  /// schedules a copy of it. Errors are told.
  static FailureOr<BudgetReport> make(ModuleOp planned, const Job &job);

  /// Tables of what is in memory, of blocks and of the step.
  void print(raw_ostream &os);
  planning::Timeline draw() const;
  double getStepSeconds() const;
  /// In how many turns copies go through a step, or several.
  int64_t countGroups() const;

private:
  /// Bytes of a block that come or stay.
  struct BlockBytes {
    bool isResident = true, keepsState = true;
    int64_t parameters = 0, state = 0; ///< of all copies
    /// Of a turn's copies and all micro-batches: what its forward leaves in
    /// memory and in the store, and what is computed again.
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
  /// Of the only stage, or of each.
  SmallVector<int64_t> listStages() const;

  OwningOpRef<ModuleOp> scheduled;
  Job job;
  planning::StoreRates store;
  bool isMeasured;                       ///< what tasks and the store take
  std::vector<planning::SpillRun> steps; ///< of each stage by itself
};

} // namespace mlir::hfta

#endif // HFTA_LIB_DRIVER_BUDGETREPORT_H
