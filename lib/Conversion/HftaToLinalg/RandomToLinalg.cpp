//===- RandomToLinalg.cpp - Lowering of random numbers --------------------===//
//
// Philox4x32-10 (Salmon et al., SC 2011). For one element, where each word is
// the low 32 bits of the named value unless said otherwise:
//   counter = (element, sample, step, stream)
//   key     = (seed, high half of seed xor high half of stream)
// where `element` is the row-major index within the sample (within the whole
// tensor without `per_sample`) and `sample` is `first_sample` plus the index
// along axis 0 (0 without `per_sample`), unless each sample has a number of its
// own, and a step. With p bits of precision (24 for f32,
// 53 for f64) the number is the leading p bits of word 0 (of words 0 and 1,
// word 0 leading, if p > 32) times 2^-p.
//===----------------------------------------------------------------------===//

#include "Hfta/Conversion/HftaToLinalg.h"
#include "LoweringUtils.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/APFloat.h"

#include <array>
#include <cmath>

using namespace mlir;
using namespace mlir::hfta;

namespace {

/// Builds Philox as ops on scalars.
class Philox {
public:
  using Counter = std::array<Value, 4>;
  using Key = std::array<Value, 2>;

  Philox(OpBuilder &builder, Location loc) : builder(builder), loc(loc) {}

  Value getLow(Value wide) {
    return arith::TruncIOp::create(builder, loc, builder.getI32Type(), wide);
  }
  Value getHigh(Value wide) {
    Value bits = arith::ConstantIntOp::create(builder, loc, 32, 64);
    return getLow(arith::ShRUIOp::create(builder, loc, wide, bits));
  }
  Value getWord(uint32_t value) {
    return arith::ConstantIntOp::create(builder, loc,
                                        static_cast<int32_t>(value), 32);
  }
  Value getXor(Value lhs, Value rhs) {
    return arith::XOrIOp::create(builder, loc, lhs, rhs);
  }

  Counter run(Counter counter, Key key) {
    constexpr int rounds = 10;
    constexpr uint32_t weyl[2] = {0x9E3779B9, 0xBB67AE85};
    for (int round = 0; round < rounds; ++round) {
      counter = runRound(counter, key);
      for (int word = 0; word < 2; ++word)
        key[word] =
            arith::AddIOp::create(builder, loc, key[word], getWord(weyl[word]));
    }
    return counter;
  }

private:
  Counter runRound(const Counter &counter, const Key &key) {
    auto first = arith::MulUIExtendedOp::create(builder, loc, counter[0],
                                                getWord(0xD2511F53));
    auto second = arith::MulUIExtendedOp::create(builder, loc, counter[2],
                                                 getWord(0xCD9E8D57));
    return {
        getXor(getXor(second.getHigh(), counter[1]), key[0]), second.getLow(),
        getXor(getXor(first.getHigh(), counter[3]), key[1]), first.getLow()};
  }

  OpBuilder &builder;
  Location loc;
};

} // namespace

/// Creates a uniform random number in [0, 1) from the leading bits of two
/// random words.
static Value createUniform(OpBuilder &builder, Location loc, Value first,
                           Value second, FloatType type) {
  unsigned precision = APFloat::semanticsPrecision(type.getFloatSemantics());
  Value bits = first;
  if (precision > 32) {
    Type wide = builder.getI64Type();
    Value shift = arith::ConstantIntOp::create(builder, loc, 32, 64);
    Value high = arith::ShLIOp::create(
        builder, loc, arith::ExtUIOp::create(builder, loc, wide, first), shift);
    bits = arith::OrIOp::create(
        builder, loc, high, arith::ExtUIOp::create(builder, loc, wide, second));
  }
  unsigned width = bits.getType().getIntOrFloatBitWidth();
  Value surplus =
      arith::ConstantIntOp::create(builder, loc, width - precision, width);
  Value leading = arith::ShRUIOp::create(builder, loc, bits, surplus);
  // A signed conversion gives the same number, as the sign bit is clear, and is
  // cheaper than an unsigned one.
  Value number = arith::SIToFPOp::create(builder, loc, type, leading);
  Value scale = createNumber(builder, loc, type,
                             std::ldexp(1.0, -static_cast<int>(precision)));
  return arith::MulFOp::create(builder, loc, number, scale);
}

namespace {
struct RandomUniformLowering : public OpConversionPattern<RandomUniformOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(RandomUniformOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto elementType = cast<FloatType>(op.getElementType());
    LoopNest nest(rewriter, op.getLoc());
    Axes axes = nest.addParallel(op.getShape());
    for (Value key : adaptor.getOperands())
      nest.read(key, ArrayRef(axes).take_front(::getShape(key).size()));
    nest.write(elementType, axes);
    auto body = [&](OpBuilder &b, Location loc, ValueRange arguments) {
      Philox::Counter words = draw(op, b, loc, axes, arguments.take_front(3));
      return SmallVector<Value>{
          createUniform(b, loc, words[0], words[1], elementType)};
    };
    rewriter.replaceOp(op, nest.build(body));
    return success();
  }

private:
  /// Creates the four random words of an element. `keys` are the seed, the step
  /// and the number of the first sample, or of the element's own one.
  static Philox::Counter draw(RandomUniformOp op, OpBuilder &builder,
                              Location loc, ArrayRef<Axis> axes,
                              ValueRange keys) {
    Philox philox(builder, loc);
    Type wide = builder.getI64Type();
    SmallVector<Value> indices = llvm::map_to_vector(
        axes, [&](Axis axis) { return getIterationIndex(builder, loc, axis); });
    ArrayRef<int64_t> shape = op.getShape();
    Value sample = philox.getWord(0);
    size_t first = 0;
    if (op.getPerSample() && !indices.empty()) {
      Value number = keys[2];
      if (getLogicalType(op.getFirstSample().getType()).getRank() == 0)
        number = arith::AddIOp::create(
            builder, loc, number,
            arith::IndexCastOp::create(builder, loc, wide, indices.front()));
      sample = philox.getLow(number);
      first = 1;
    }
    Value element = arith::IndexCastOp::create(
        builder, loc, wide,
        createFlatIndex(builder, loc, ArrayRef(indices).drop_front(first),
                        shape.drop_front(first)));
    uint64_t stream = op.getStream();
    return philox.run(
        {philox.getLow(element), sample, philox.getLow(keys[1]),
         philox.getWord(static_cast<uint32_t>(stream))},
        {philox.getLow(keys[0]),
         philox.getXor(philox.getHigh(keys[0]),
                       philox.getWord(static_cast<uint32_t>(stream >> 32)))});
  }
};
} // namespace

void hfta::populateRandomToLinalgPatterns(const TypeConverter &converter,
                                          RewritePatternSet &patterns) {
  patterns.add<RandomUniformLowering>(converter, patterns.getContext());
}
