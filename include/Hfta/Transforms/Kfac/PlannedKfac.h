//===- PlannedKfac.h - How replicas share K-FAC, in the module --*- C++ -*-===//
//
// The plan of how replicas share the work of K-FAC is stored in the module's
// dictionary `hfta.kfac_plan`, together with all numbers that it was made from,
// so that later phases can print it and tests can change it. If the module
// already has a plan when K-FAC is inserted, that plan is used. If the stages
// of a pipeline have different plans, the attribute is a list of dictionaries.
//===----------------------------------------------------------------------===//

#ifndef HFTA_TRANSFORMS_KFAC_PLANNEDKFAC_H
#define HFTA_TRANSFORMS_KFAC_PLANNEDKFAC_H

#include "Hfta/Dialect/Hfta/Job/Job.h"
#include "Hfta/Planning/Kfac/MeasuredKfac.h"

namespace mlir::hfta {

/// A plan and its inputs. The planner's ranks are the replicas of a stage or,
/// with placement `local`, the groups of micro-batches.
struct PlannedKfac {
  /// In a program of several stages, the stage for whose layers the plan is;
  /// nothing if the plan is for the whole program.
  std::optional<int64_t> stage;
  planning::KfacModel model;
  planning::KfacPlan plan;
  planning::KfacRates rates;
  bool isMeasured = false; ///< whether times were measured, not estimated
  /// Names of factors, as in checkpoints, such as "input_factor/first.weight",
  /// and of layers, such as "first.weight".
  std::vector<std::string> factorNames, layerNames;

  static void writeAll(ModuleOp module, ArrayRef<PlannedKfac> plans);
  /// Returns the module's plan, or the plans of its stages in ascending order,
  /// or an empty list if there is none. Reports an error if a plan is
  /// ill-formed.
  static FailureOr<std::vector<PlannedKfac>> readAll(ModuleOp module);

private:
  DictionaryAttr write(MLIRContext *context) const;
  static FailureOr<PlannedKfac> read(ModuleOp module, const Job &job,
                                     DictionaryAttr from);
};

/// For placement `local`, returns for each variable that holds a layer's
/// moments, by its symbol, the group of micro-batches from whose samples alone
/// the moments are computed. Returns an empty map for other placements, and
/// reports an error if the plan is ill-formed.
FailureOr<llvm::StringMap<int64_t>> findGroupsOfMoments(ModuleOp module);

/// Returns the rates of inversions and transfers among this number of ranks.
/// Inversions have assumed rates. Links have the rates that the job states, or
/// else those in `measured`, unless it is null.
planning::KfacRates getKfacRates(const Job &job, int64_t ranks,
                                 const planning::MeasuredCosts *measured);
/// Returns the value of KfacModel::numbersPerElement for the job.
int64_t getNumbersPerElement(const Job &job);
/// Returns the size of the job's step, by which measured times are converted.
planning::KfacWorkload getKfacWorkload(const Job &job);

} // namespace mlir::hfta

#endif // HFTA_TRANSFORMS_KFAC_PLANNEDKFAC_H
