//===- PairProducts.cpp - Products of pairs of bf16 -----------------------===//

#include "Math/PairProducts.h"
#include "Hfta/Dialect/Hfta/IR/HftaOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::hfta;

namespace {

/// Replaces vectors of 4, 8 or 16 sums by the instruction `vdpbf16ps`.
struct MultiplyByInstruction : public OpRewritePattern<MultiplyPairsOp> {
  MultiplyByInstruction(MLIRContext *context)
      : OpRewritePattern(context, /*benefit=*/2) {}

  LogicalResult matchAndRewrite(MultiplyPairsOp op,
                                PatternRewriter &rewriter) const override {
    auto sums = dyn_cast<VectorType>(op.getType());
    if (!sums || sums.getRank() != 1 ||
        !llvm::is_contained({4, 8, 16}, sums.getNumElements()))
      return failure();
    Location loc = op.getLoc();
    auto pairs =
        VectorType::get(2 * sums.getNumElements(), rewriter.getBF16Type());
    auto split = [&](Value value) {
      return vector::BitCastOp::create(rewriter, loc, pairs, value);
    };
    std::string name = "llvm.x86.avx512bf16.dpbf16ps." +
                       std::to_string(32 * sums.getNumElements());
    rewriter.replaceOpWithNewOp<LLVM::CallIntrinsicOp>(
        op, op.getType(), rewriter.getStringAttr(name),
        ValueRange{op.getSum(), split(op.getLhs()), split(op.getRhs())});
    return success();
  }
};

/// Multiplies the two halves one after the other as f32.
struct MultiplyHalves : public OpRewritePattern<MultiplyPairsOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(MultiplyPairsOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value sum = op.getSum();
    for (bool isHigh : {true, false})
      sum = math::FmaOp::create(
          rewriter, loc, widen(rewriter, loc, op.getLhs(), op, isHigh),
          widen(rewriter, loc, op.getRhs(), op, isHigh), sum);
    rewriter.replaceOp(op, sum);
    return success();
  }

private:
  /// Returns the upper or the lower bf16 of a pair as an f32.
  static Value widen(OpBuilder &builder, Location loc, Value pair,
                     MultiplyPairsOp op, bool isHigh) {
    constexpr int32_t upper = static_cast<int32_t>(0xffff0000), half = 16;
    TypedAttr number = builder.getI32IntegerAttr(isHigh ? upper : half);
    if (auto vector = dyn_cast<VectorType>(pair.getType()))
      number = DenseElementsAttr::get(vector, Attribute(number));
    Value constant = arith::ConstantOp::create(builder, loc, number);
    Value bits =
        isHigh ? Value(arith::AndIOp::create(builder, loc, pair, constant))
               : Value(arith::ShLIOp::create(builder, loc, pair, constant));
    return arith::BitcastOp::create(builder, loc, op.getType(), bits);
  }
};

} // namespace

void hfta::populatePairProductPatterns(RewritePatternSet &patterns,
                                       bool hasInstruction) {
  patterns.add<MultiplyHalves>(patterns.getContext());
  if (hasInstruction)
    patterns.add<MultiplyByInstruction>(patterns.getContext());
}
