//===- PlannedKfac.h - How replicas share K-FAC, in the module --*- C++ -*-===//
//
// The plan stands in the module's dictionary `hfta.kfac_plan`, with all that it
// was planned from, so that later phases print it and tests change it: a plan
// that is already there when K-FAC is inserted is kept. Where stages of a
// pipeline have plans of their own, it is a list of dictionaries.
//===----------------------------------------------------------------------===//

#ifndef HFTA_TRANSFORMS_PLANNEDKFAC_H
#define HFTA_TRANSFORMS_PLANNEDKFAC_H

#include "Hfta/Dialect/Hfta/IR/Job.h"
#include "Hfta/Planning/MeasuredKfac.h"

namespace mlir::hfta {

/// A plan. The ranks of the planner are the replicas of a stage or, with
/// placement `local`, the groups.
struct PlannedKfac {
  /// In a program of several stages, the stage whose layers the plan is for.
  /// Without a value, the plan is for the layers of the whole program.
  std::optional<int64_t> stage;
  planning::KfacModel model;
  planning::KfacPlan plan;
  planning::KfacRates rates;
  bool isMeasured = false; ///< whether its times were measured; else they are
                           ///< estimated
  /// The names in checkpoints: "input_factor/first.weight", and "first.weight".
  std::vector<std::string> factorNames, layerNames;

  static void writeAll(ModuleOp module, ArrayRef<PlannedKfac> plans);
  /// Reads the module's plan, or those of its stages, in the order of stages;
  /// empty if there is none. Ill-formed ones are diagnosed at the module.
  static FailureOr<std::vector<PlannedKfac>> readAll(ModuleOp module);

private:
  DictionaryAttr write(MLIRContext *context) const;
  static FailureOr<PlannedKfac> read(ModuleOp module, const Job &job,
                                     DictionaryAttr from);
};

/// For placement `local`: maps the symbols of moments of layers with factors to
/// the group whose samples alone they are formed of. Empty for other
/// placements; an ill-formed plan is diagnosed at the module.
FailureOr<llvm::StringMap<int64_t>> findGroupsOfMoments(ModuleOp module);

/// Returns the rates of inverting and sending with so many ranks: inversions by
/// documented rates, and links as the job says, or as was `measured` where it
/// doesn't.
planning::KfacRates getKfacRates(const Job &job, int64_t ranks,
                                 const planning::MeasuredCosts *measured);
/// Returns how many numbers an element takes, as KfacModel defines it.
int64_t getNumbersPerElement(const Job &job);
/// Returns the workload that measured times are of; see KfacWorkload.
planning::KfacWorkload getKfacWorkload(const Job &job);

} // namespace mlir::hfta

#endif // HFTA_TRANSFORMS_PLANNEDKFAC_H
