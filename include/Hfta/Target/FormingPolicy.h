//===- FormingPolicy.h - How kernels are formed for a target ----*- C++ -*-===//

#ifndef HFTA_TARGET_FORMINGPOLICY_H
#define HFTA_TARGET_FORMINGPOLICY_H

namespace mlir::hfta {

/// Decisions about kernels in which targets differ. The passes from tasks to
/// linalg read the one of their module's target (`Target::getForming`). The
/// initial values are those of a processor, whose threads compute rows with
/// vectors.
struct FormingPolicy {
  /// Whether a thread computes single elements of a tensor, beside threads that
  /// compute its neighbours, instead of whole rows. Kernels are then formed of
  /// ops whose elements correspond to each other, and several threads share a
  /// row.
  bool threadsShareRows = false;
  /// Whether reductions along the same axes that read one tensor are one
  /// kernel, so that the tensor is read once.
  bool joinsReductions = false;
  /// Whether small ops that wait for nothing else are one kernel, so that there
  /// are fewer launches.
  bool joinsSmallOps = false;
  /// Whether operands of products that are rounded to a narrow type are stored
  /// in this type, so that fewer bytes are moved.
  bool storesNarrowFactors = false;
  /// Whether operands of products that are rounded to bf16 are stored as pairs
  /// (hfta.pair_factors), because products of two terms are added at once.
  bool pairsFactors = false;
  /// Whether products stay one op each when kernels are lowered to linalg,
  /// because later passes cut them into tiles for a block of threads.
  bool keepsProductsWhole = false;
  /// Whether the values that copies keep from step to step are in slabs, so
  /// that one transfer moves all of a copy's.
  bool putsStateInSlabs = false;
};

} // namespace mlir::hfta

#endif // HFTA_TARGET_FORMINGPOLICY_H
