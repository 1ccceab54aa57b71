//===- KfacModeler.h - The planner's model of K-FAC -------------*- C++ -*-===//

#ifndef HFTA_LIB_TRANSFORMS_KFACMODELER_H
#define HFTA_LIB_TRANSFORMS_KFACMODELER_H

#include "Hfta/Transforms/PlannedKfac.h"
#include "KfacUnits.h"

namespace mlir::hfta {

/// Units whose work some ranks share, and the blocks that they belong to: those
/// of one of several stages, or all.
struct KfacShare {
  std::optional<int64_t> stage;
  int64_t ranks; ///< the stage's replicas, or all groups
  SmallVector<KfacUnit *> units;
  SmallVector<int64_t> blocks; ///< plans number them from 0

  int64_t getPlace(int64_t block) const {
    return llvm::find(blocks, block) - blocks.begin();
  }
  /// Returns the owner of the unit's input factor, if it is another one of
  /// these units.
  const KfacUnit *getOwner(const KfacUnit &unit) const {
    return llvm::is_contained(units, unit.input.owner) ? unit.input.owner
                                                       : nullptr;
  }
  /// Whether the factor's mean is computed elsewhere and sent to these ranks.
  bool isReceived(const KfacFactor &factor) const {
    return factor.owner && !llvm::is_contained(units, factor.owner);
  }
};

/// Builds the planner's model of the units: those of one parameter, of
/// whichever copies, are one layer.
class KfacModeler {
public:
  KfacModeler(const Job &job, const KfacShare &share)
      : job(job), share(share) {}

  PlannedKfac build();
  /// Whether each copy has all of the layers, and shares inputs among them in
  /// the same way: then one plan of all copies is a plan for each.
  bool areCopiesAlike() const;

private:
  void addBlocks();
  void addUnit(KfacUnit &unit);
  bool hasInput(const KfacUnit &unit) const;
  void addCopy(KfacUnit &unit, int64_t number, double precondition);
  int64_t addFactor(const KfacUnit &unit, KfacFactor &factor, bool isInput);
  int64_t getCopiesOf(const TrainedLeaf &leaf) const;
  int64_t countElements(const KfacUnit &unit) const;
  double getRows(const KfacUnit &unit) const;

  const Job &job;
  const KfacShare &share;
  PlannedKfac planned;
  DenseMap<Operation *, int64_t> layers; ///< by the weight's variable
  bool sharesDiffer = false;             ///< between copies
};

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_KFACMODELER_H
