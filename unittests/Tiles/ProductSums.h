//===- ProductSums.h - Expected sums of a kernel's product ----------------===//
//
// Interprets a kernel op by op before its lowering, and computes the sums of
// its product in f64.
//===----------------------------------------------------------------------===//

#ifndef HFTA_UNITTESTS_TILES_PRODUCTSUMS_H
#define HFTA_UNITTESTS_TILES_PRODUCTSUMS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <vector>

namespace mlir::hfta {

struct ProductSums {
  std::vector<double> sums;
  std::vector<double> sizes; ///< sums of the products' absolute values
};

/// Returns the sums of a kernel that `ProductText` has written, for these
/// arguments.
ProductSums addProductUp(func::FuncOp kernel,
                         ArrayRef<std::vector<float>> arguments);

} // namespace mlir::hfta

#endif // HFTA_UNITTESTS_TILES_PRODUCTSUMS_H
