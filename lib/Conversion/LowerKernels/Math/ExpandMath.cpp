//===- ExpandMath.cpp - Math functions in kernels -------------------------===//

#include "Hfta/Conversion/LowerKernels.h"
#include "Hfta/Target/TargetModel.h"
#include "Math/MathFunctions.h"
#include "Math/NarrowFloats.h"
#include "Math/PairProducts.h"

#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Threading.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::hfta {
#define GEN_PASS_DEF_HFTAEXPANDMATH
#include "Hfta/Conversion/Passes.h.inc"
} // namespace mlir::hfta

using namespace mlir;
using namespace mlir::hfta;

//===----------------------------------------------------------------------===//
// Powers of integers
//===----------------------------------------------------------------------===//

static Value createSplat(OpBuilder &builder, Location loc, Type type,
                         int64_t value) {
  auto element = cast<IntegerType>(getElementTypeOrSelf(type));
  TypedAttr scalar = builder.getIntegerAttr(element, value);
  if (auto vector = dyn_cast<VectorType>(type))
    scalar = DenseElementsAttr::get(vector, Attribute(scalar));
  return arith::ConstantOp::create(builder, loc, scalar);
}

namespace {

/// Expands a power of integers to a loop over the bits of the exponent that
/// squares and multiplies. With a negative exponent the power of 1 is 1, that
/// of -1 is 1 or -1, and any other power is 0.
struct IntegerPower : public OpRewritePattern<math::IPowIOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::IPowIOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Type type = op.getType();
    unsigned width = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
    Value zero = createSplat(rewriter, loc, type, 0);
    Value one = createSplat(rewriter, loc, type, 1);
    Value minusOne = createSplat(rewriter, loc, type, -1);
    Value power =
        createPower(rewriter, loc, op.getLhs(), op.getRhs(), width, zero, one);
    auto compare = [&](arith::CmpIPredicate predicate, Value lhs, Value rhs) {
      return arith::CmpIOp::create(rewriter, loc, predicate, lhs, rhs);
    };
    // For 1 and -1 the loop gives the right power whatever the exponent's sign,
    // as only the lowest bit of the exponent matters.
    Value isNegative = compare(arith::CmpIPredicate::slt, op.getRhs(), zero);
    Value isOne = compare(arith::CmpIPredicate::eq, op.getLhs(), one);
    Value isMinusOne = compare(arith::CmpIPredicate::eq, op.getLhs(), minusOne);
    Value isUnit = arith::OrIOp::create(rewriter, loc, isOne, isMinusOne);
    Value inverse = arith::SelectOp::create(rewriter, loc, isUnit, power, zero);
    rewriter.replaceOpWithNewOp<arith::SelectOp>(op, isNegative, inverse,
                                                 power);
    return success();
  }

private:
  static Value createPower(OpBuilder &builder, Location loc, Value base,
                           Value exponent, unsigned width, Value zero,
                           Value one) {
    auto index = [&](int64_t value) -> Value {
      return arith::ConstantIndexOp::create(builder, loc, value);
    };
    auto body = [&](OpBuilder &b, Location loc, Value, ValueRange running) {
      Value power = running[0], square = running[1], rest = running[2];
      Value bit = arith::AndIOp::create(b, loc, rest, one);
      Value isSet =
          arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, bit, zero);
      Value product = arith::MulIOp::create(b, loc, power, square);
      scf::YieldOp::create(
          b, loc,
          ValueRange{arith::SelectOp::create(b, loc, isSet, product, power),
                     arith::MulIOp::create(b, loc, square, square),
                     arith::ShRUIOp::create(b, loc, rest, one)});
    };
    auto loop =
        scf::ForOp::create(builder, loc, index(0), index(width), index(1),
                           ValueRange{one, base, exponent}, body);
    return loop.getResult(0);
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

/// Returns whether MLIR has a polynomial for a function that is accurate to a
/// few units in the last place. For other functions there are our own
/// polynomials (MathFunctions.cpp) or none.
static bool hasPolynomial(StringRef name) {
  return llvm::is_contained({math::ExpM1Op::getOperationName(),
                             math::Log1pOp::getOperationName(),
                             math::Log2Op::getOperationName()},
                            name);
}

/// Returns whether LLVM has an instruction or intrinsic for the op.
static bool isInstruction(Operation *op) {
  return isa<math::FmaOp, math::AbsFOp, math::AbsIOp, math::SqrtOp,
             math::FloorOp, math::CeilOp, math::RoundEvenOp, math::TruncOp,
             math::CopySignOp>(op);
}

/// Adds patterns that turn math functions into polynomials or, where there is
/// no polynomial, into calls of the C library, and powers with integer
/// exponents into products. What the target has instructions for makes code
/// faster and changes no result.
static void populatePatterns(RewritePatternSet &patterns,
                             const TargetModel &target) {
  patterns.add<IntegerPower>(patterns.getContext());
  populateMathFunctionPatterns(patterns, target.canScale());
  populateNarrowFloatPatterns(patterns);
  populatePairProductPatterns(patterns, target.multipliesPairs());
  populateMathF32ExpansionPatterns(patterns, hasPolynomial);
  populateMathPolynomialApproximationPatterns(patterns, hasPolynomial);
}

/// Returns whether the kernel has math functions that LLVM has no instruction
/// for.
static bool callsFunctions(func::FuncOp kernel) {
  return kernel
      .walk([](Operation *op) {
        bool isMath = isa_and_nonnull<math::MathDialect>(op->getDialect());
        return isMath && !isInstruction(op) ? WalkResult::interrupt()
                                            : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Returns whether patterns apply to the kernel: patterns of functions, of
/// arithmetic for which processors differ, or of conversions from and to floats
/// of 16 bits.
static bool needsExpansion(func::FuncOp kernel) {
  auto isNarrow = [](Type type) {
    auto number = dyn_cast<FloatType>(getElementTypeOrSelf(type));
    return number && number.getWidth() == 16;
  };
  return callsFunctions(kernel) ||
         kernel
             .walk([&](Operation *op) {
               bool isExpanded = isa<arith::MaximumFOp, arith::MinimumFOp,
                                     arith::RemFOp, MultiplyPairsOp>(op) ||
                                 llvm::any_of(op->getResultTypes(), isNarrow) ||
                                 llvm::any_of(op->getOperandTypes(), isNarrow);
               return isExpanded ? WalkResult::interrupt()
                                 : WalkResult::advance();
             })
             .wasInterrupted();
}

namespace {
struct ExpandMathPass : hfta::impl::HftaExpandMathBase<ExpandMathPass> {
  using HftaExpandMathBase::HftaExpandMathBase;

  void runOnOperation() override {
    SmallVector<func::FuncOp> kernels;
    for (auto kernel : getOperation().getOps<func::FuncOp>())
      if (kernel->hasAttr(kKernelAttrName) && !kernel.isDeclaration() &&
          needsExpansion(kernel))
        kernels.push_back(kernel);
    if (kernels.empty())
      return;
    RewritePatternSet list(&getContext());
    populatePatterns(list, TargetModel::get(kernels.front()));
    FrozenRewritePatternSet patterns(std::move(list));
    if (failed(failableParallelForEach(
            &getContext(), kernels, [&](func::FuncOp kernel) {
              return applyPatternsGreedily(kernel, patterns,
                                           getKernelRewriteConfig());
            })))
      return signalPassFailure();
    // Calls add declarations to the module, so kernels are handled one after
    // the other.
    for (func::FuncOp kernel : kernels)
      if (callsFunctions(kernel) && failed(callLibrary(kernel)))
        return signalPassFailure();
  }

private:
  LogicalResult callLibrary(func::FuncOp kernel) {
    RewritePatternSet patterns(&getContext());
    populateMathToLibmConversionPatterns(patterns);
    ConversionTarget target(getContext());
    target.addDynamicallyLegalDialect<math::MathDialect>(isInstruction);
    target.addLegalDialect<arith::ArithDialect, func::FuncDialect,
                           vector::VectorDialect>();
    return applyPartialConversion(kernel, target, std::move(patterns));
  }
};
} // namespace
