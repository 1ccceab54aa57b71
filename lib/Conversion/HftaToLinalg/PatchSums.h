//===- PatchSums.h - Second moments of windows ------------------*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_HFTATOLINALG_PATCHSUMS_H
#define HFTA_LIB_CONVERSION_HFTATOLINALG_PATCHSUMS_H

#include "TriangleSums.h"
#include "Windows.h"

namespace mlir::hfta {

/// Computes the packed moments of the windows over an activation: [groups,
/// packed]. No tensor that it reads or computes may be empty. A loop over tiles
/// of channels can be cut into work items.
Value createPatchTriangle(OpBuilder &builder, Location loc,
                          const Activation &input, const Window &window,
                          int64_t groups, const MomentScaling &scaling);

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_HFTATOLINALG_PATCHSUMS_H
