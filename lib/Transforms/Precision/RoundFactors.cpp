//===- RoundFactors.cpp - Rounded operands of products --------------------===//

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Target/Target.h"
#include "Hfta/Transforms/Passes.h"
#include "Precision/FactorPairs.h"

namespace mlir::hfta {
#define GEN_PASS_DEF_HFTAROUNDFACTORS
#include "Hfta/Transforms/Passes.h.inc"
} // namespace mlir::hfta

using namespace mlir;
using namespace mlir::hfta;

namespace {
struct RoundFactorsPass : hfta::impl::HftaRoundFactorsBase<RoundFactorsPass> {
  using HftaRoundFactorsBase::HftaRoundFactorsBase;

  void runOnOperation() override {
    const Target *target = Target::read(getOperation());
    if (!target)
      return signalPassFailure();
    FormingPolicy policy = target->getForming();
    storesNarrow = policy.storesNarrowFactors;
    SmallVector<Operation *> products;
    getOperation()->walk([&](Operation *op) {
      if (op->hasTrait<ProductTrait>() &&
          op->hasAttr(HftaDialect::kMultiplyAttrName))
        products.push_back(op);
    });
    for (Operation *product : products) {
      Type type =
          product->getAttrOfType<TypeAttr>(HftaDialect::kMultiplyAttrName)
              .getValue();
      OpBuilder builder(product);
      if (policy.pairsFactors && type.isBF16() && pair(builder, product))
        continue;
      for (OpOperand &operand : product->getOpOperands())
        operand.set(round(builder, operand.get(), type));
    }
  }

private:
  /// Replaces the operands by pairs if that makes the product faster, and
  /// returns whether it did.
  static bool pair(OpBuilder &builder, Operation *product) {
    std::optional<PairAxes> axes = choosePairAxes(product);
    if (!axes)
      return false;
    auto pack = [&](OpOperand &operand, int64_t axis) {
      operand.set(PairFactorsOp::create(builder, operand.get().getLoc(),
                                        operand.get(), axis));
    };
    pack(product->getOpOperand(0), axes->first);
    pack(product->getOpOperand(1), axes->second);
    product->removeAttr(HftaDialect::kMultiplyAttrName);
    return true;
  }

  Value round(OpBuilder &builder, Value value, Type type) {
    Location loc = value.getLoc();
    if (type.isTF32())
      return RoundToTf32Op::create(builder, loc, value);
    Value narrow = CastOp::create(builder, loc, value, type);
    Value wide = CastOp::create(builder, loc, narrow, builder.getF32Type());
    if (storesNarrow)
      wide.getDefiningOp()->setAttr(HftaDialect::kRepeatedAttrName,
                                    builder.getUnitAttr());
    return wide;
  }

  bool storesNarrow = false;
};
} // namespace
