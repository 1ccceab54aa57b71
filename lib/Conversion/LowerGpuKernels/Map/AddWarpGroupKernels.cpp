//===- AddWarpGroupKernels.cpp - Kernels for chips with warp groups -------===//

#include "Hfta/Conversion/LowerGpuKernels.h"
#include "Hfta/Conversion/LowerKernels.h"
#include "Tiles/WarpGroupTiles.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::hfta {
#define GEN_PASS_DEF_HFTAADDWARPGROUPKERNELS
#include "Hfta/Conversion/Passes.h.inc"
} // namespace mlir::hfta

using namespace mlir;
using namespace mlir::hfta;

static constexpr llvm::StringLiteral kSuffix = "/warp_groups";

/// Returns whether the kernel is a product in tiles that warp groups can
/// compute.
static bool suitsWarpGroups(func::FuncOp kernel) {
  if (!isKernelOnTensors(kernel))
    return false;
  std::optional<KernelProduct> product = findProduct(kernel);
  std::optional<ProductTile> tile;
  if (product)
    tile = ProductTile::get(product->op);
  return tile && WarpGroupTiles::arrange(*tile, *product);
}

namespace {
struct AddWarpGroupKernelsPass
    : hfta::impl::HftaAddWarpGroupKernelsBase<AddWarpGroupKernelsPass> {
  using HftaAddWarpGroupKernelsBase::HftaAddWarpGroupKernelsBase;

  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    for (auto kernel : llvm::to_vector(getOperation().getOps<func::FuncOp>())) {
      if (!suitsWarpGroups(kernel))
        continue;
      func::FuncOp other = kernel.clone();
      other.setName((kernel.getName() + kSuffix).str());
      other->setAttr(kWarpGroupsOfAttrName,
                     FlatSymbolRefAttr::get(kernel.getNameAttr()));
      symbols.insert(other, std::next(Block::iterator(kernel)));
    }
  }
};
} // namespace
