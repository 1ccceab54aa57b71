//===- PatchSums.h - Second moments of windows ------------------*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_HFTATOLINALG_PATCHSUMS_H
#define HFTA_LIB_CONVERSION_HFTATOLINALG_PATCHSUMS_H

#include "TriangleSums.h"
#include "Windows.h"

namespace mlir::hfta {

/// Computes the packed second moments of a convolution's windows over `input`:
/// [groups * blocks, packed]. The input must not be empty. The result is a loop
/// over strips of tiles, marked `hfta.parts`, that can be cut into work items.
Value createPatchTriangle(OpBuilder &builder, Location loc,
                          const Activation &input, const Window &window,
                          int64_t groups, const MomentScaling &scaling);

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_HFTATOLINALG_PATCHSUMS_H
