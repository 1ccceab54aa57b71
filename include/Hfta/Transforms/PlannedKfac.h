//===- PlannedKfac.h - How replicas share K-FAC, in the module --*- C++ -*-===//
//
// What was planned stands in the module's dictionary `hfta.kfac_plan`, with all
// that it was planned from, so that later phases print it and tests change it:
// a plan that is there when K-FAC is inserted is kept. Where stages of a
// pipeline have plans of their own, it is a list of dictionaries.
//===----------------------------------------------------------------------===//

#ifndef HFTA_TRANSFORMS_PLANNEDKFAC_H
#define HFTA_TRANSFORMS_PLANNEDKFAC_H

#include "Hfta/Dialect/Hfta/IR/Job.h"
#include "Hfta/Planning/MeasuredKfac.h"

namespace mlir::hfta {

/// Ranks of the planner are the replicas of a stage; of placement `local`, the
/// groups.
struct PlannedKfac {
  /// Whose layers alone the plan is of, one of several stages; none: those of
  /// the whole program.
  std::optional<int64_t> stage;
  planning::KfacModel model;
  planning::KfacPlan plan;
  planning::KfacRates rates;
  bool isMeasured = false; ///< by a program's tasks, else estimated
  /// As checkpoints call them: "input_factor/first.weight", and "first.weight".
  std::vector<std::string> factorNames, layerNames;

  static void writeAll(ModuleOp module, ArrayRef<PlannedKfac> plans);
  /// One, or those of stages, by their numbers. Of a module that has none,
  /// nothing; what is ill-formed is diagnosed at the module.
  static FailureOr<std::vector<PlannedKfac>> readAll(ModuleOp module);

private:
  DictionaryAttr write(MLIRContext *context) const;
  static FailureOr<PlannedKfac> read(ModuleOp module, const Job &job,
                                     DictionaryAttr from);
};

/// Of placement `local`: by the symbols of moments of layers with factors, the
/// group whose samples alone they are of. Of other placements empty; an
/// ill-formed plan is diagnosed at the module.
FailureOr<llvm::StringMap<int64_t>> findGroupsOfMoments(ModuleOp module);

/// What inverting and sending take of so many ranks, inversions by documented
/// rates, and links as the job says, or as was `measured` where it doesn't.
planning::KfacRates getKfacRates(const Job &job, int64_t ranks,
                                 const planning::MeasuredCosts *measured);
/// As KfacModel has them.
int64_t getNumbersPerElement(const Job &job);
/// What measured times are of; see KfacWorkload.
planning::KfacWorkload getKfacWorkload(const Job &job);

} // namespace mlir::hfta

#endif // HFTA_TRANSFORMS_PLANNEDKFAC_H
