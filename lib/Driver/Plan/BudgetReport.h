//===- BudgetReport.h - A job's step within its budget ----------*- C++ -*-===//

#ifndef HFTA_LIB_DRIVER_PLAN_BUDGETREPORT_H
#define HFTA_LIB_DRIVER_PLAN_BUDGETREPORT_H

#include "Hfta/Dialect/Hfta/Job/Job.h"
#include "Hfta/Planning/Spill/SpillSimulation.h"
#include "mlir/IR/OwningOpRef.h"

#include <vector>

namespace mlir::hfta {

/// A report on a job with a memory budget: where its data is kept, and a
/// simulated step of its schedule.
class BudgetReport {
public:
  /// Schedules a clone of `planned`, a module in phase `planned` whose kernels'
  /// scratch memory is known, and makes its report. Errors are reported to the
  /// context.
  static FailureOr<BudgetReport> make(ModuleOp planned, const Job &job);

  /// Prints tables of the memory, of the blocks and of the simulated step.
  void print(raw_ostream &os);
  planning::Timeline draw() const;
  double getStepSeconds() const;
  /// Returns the number of turns in which all copies go through one or several
  /// steps; 1 if there are several stages or workers.
  int64_t countGroups() const;

private:
  /// Where the state of a block is kept, and the bytes of its values.
  struct BlockBytes {
    bool isResident = true, keepsState = true;
    int64_t parameters = 0, state = 0; ///< for all copies
    /// The results of the block's forward, for the copies of one turn and all
    /// micro-batches: bytes that stay in memory, that are spilled to the store,
    /// and that are recomputed.
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
  /// Returns the numbers of the job's stages, or only -1 if there is a single
  /// stage.
  SmallVector<int64_t> listStages() const;

  OwningOpRef<ModuleOp> scheduled;
  Job job;
  planning::StoreRates store;
  bool isMeasured; ///< whether times of tasks and the store are measured
  /// The simulated step of each stage, without the others.
  std::vector<planning::SpillRun> steps;
};

} // namespace mlir::hfta

#endif // HFTA_LIB_DRIVER_PLAN_BUDGETREPORT_H
