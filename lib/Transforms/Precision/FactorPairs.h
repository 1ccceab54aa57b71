//===- FactorPairs.h - Products whose operands become pairs -----*- C++ -*-===//

#ifndef HFTA_LIB_TRANSFORMS_PRECISION_FACTORPAIRS_H
#define HFTA_LIB_TRANSFORMS_PRECISION_FACTORPAIRS_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"

namespace mlir::hfta {

/// For a product's two operands, the axes that are packed as pairs
/// (hfta.pair_factors): the same one of the axes over which the product adds.
struct PairAxes {
  int64_t first, second;
};

/// Returns the axes along which the operands of `product` become pairs; nothing
/// if packing them would take longer than it saves, or if a convolution's
/// channels belong to several groups. The choice follows from one copy's shapes
/// alone, because it decides the order of the sums.
std::optional<PairAxes> choosePairAxes(Operation *product);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_PRECISION_FACTORPAIRS_H
