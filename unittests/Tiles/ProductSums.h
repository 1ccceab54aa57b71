//===- ProductSums.h - What a kernel's product should be --------*- C++ -*-===//
//
// Carries out a kernel op by op, as it is on tensors, and adds its product up
// in f64.
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

/// Of a kernel that `ProductText` has written, for these arguments.
ProductSums addProductUp(func::FuncOp kernel,
                         ArrayRef<std::vector<float>> arguments);

} // namespace mlir::hfta

#endif // HFTA_UNITTESTS_TILES_PRODUCTSUMS_H
