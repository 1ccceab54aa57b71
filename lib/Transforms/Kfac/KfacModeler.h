//===- KfacModeler.h - The planner's model of K-FAC -------------*- C++ -*-===//

#ifndef HFTA_LIB_TRANSFORMS_KFAC_KFACMODELER_H
#define HFTA_LIB_TRANSFORMS_KFAC_KFACMODELER_H

#include "Hfta/Transforms/Kfac/PlannedKfac.h"
#include "Kfac/KfacUnits.h"

namespace mlir::hfta {

/// Units whose work several ranks share, and the blocks of the model that these
/// may be in: those of one stage, or all.
struct KfacShare {
  std::optional<int64_t> stage; ///< without a value: all stages
  int64_t ranks; ///< the number of the stage's replicas, or of groups
  SmallVector<KfacUnit *> units;
  SmallVector<int64_t> blocks; ///< plans use indices in this list

  /// Returns the number that plans have for a block of the model.
  int64_t getPlace(int64_t block) const {
    return llvm::find(blocks, block) - blocks.begin();
  }
  /// Returns the owner of the unit's input factor, if it is another unit of
  /// this share; otherwise null.
  const KfacUnit *getOwner(const KfacUnit &unit) const {
    return llvm::is_contained(units, unit.input.owner) ? unit.input.owner
                                                       : nullptr;
  }
  /// Whether the factor's mean is computed for a unit outside of this share,
  /// and sent to these ranks.
  bool isReceived(const KfacFactor &factor) const {
    return factor.owner && !llvm::is_contained(units, factor.owner);
  }
};

/// Builds the planner's model of a share. All units of one parameter, whichever
/// copies they are for, are one layer of the model. Sets `number` of the units'
/// factors.
class KfacModeler {
public:
  KfacModeler(const Job &job, const KfacShare &share)
      : job(job), share(share) {}

  PlannedKfac build();
  /// Whether, in the model that was built, each copy has all layers and shares
  /// inputs among them in the same way. Then a plan for all copies is one for
  /// each of them.
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
  bool sharesDiffer = false; ///< whether copies share inputs differently
};

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_KFAC_KFACMODELER_H
