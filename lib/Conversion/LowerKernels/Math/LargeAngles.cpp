//===- LargeAngles.cpp - Argument reduction of large angles ---------------===//
//
// Payne and Hanek, "Radian reduction for trigonometric functions" (SIGNUM
// Newsletter 18, 1983). For x = m 2^e with an integer m, m is multiplied only
// by those bits of 2 / pi that contribute neither whole turns nor a part too
// small to matter.
//===----------------------------------------------------------------------===//

#include "Math/DoubleFunctions.h"

#include <array>
#include <cmath>

using namespace mlir;
using namespace mlir::hfta;

/// The bits of 2 / pi, the highest first: word 0 is the integer part, and the
/// highest bit of word 1 is the first bit of the fraction.
static constexpr uint64_t kTwoOverPi[] = {
    0,
    0xa2f9836e4e441529,
    0xfc2757d1f534ddc0,
    0xdb6295993c439041,
    0xfe5163abdebbc561,
    0xb7246e3a424dd2e0,
    0x06492eea09d1921c,
    0xfe1deb1cb129a73e,
    0xe88235f52ebb4484,
    0xe99c7026b45f7e41,
    0x3991d639835339f4,
    0x9c845f8bbdf9283b,
    0x1ff897ffde05980f,
    0xef2f118b5a0a6d1f,
    0x6d367ecf27cb09b7,
    0x4f463f669e5fea2d,
    0x7527bac7ebe5f17b,
    0x3d0739f78a5292ea,
    0x6bfb5fb11f8d5d08,
    0x56033046fc7b6bab,
    0xf0cfbc209af4361d,
};

namespace {
/// Builds ops on unsigned integers of 64 bits.
class WordBuilder : public MathBuilder {
public:
  using MathBuilder::MathBuilder;

  Value word(uint64_t value, Value like) {
    return integer(static_cast<int64_t>(value), like);
  }
  Value both(Value a, uint64_t mask) {
    return create<arith::AndIOp>(a, word(mask, a));
  }
  Value join(Value a, Value b) { return create<arith::OrIOp>(a, b); }
  Value sum(Value a, Value b) { return create<arith::AddIOp>(a, b); }
  Value left(Value a, Value count) { return create<arith::ShLIOp>(a, count); }
  Value right(Value a, Value count) { return create<arith::ShRUIOp>(a, count); }
  Value left(Value a, int64_t count) { return left(a, integer(count, a)); }
  Value right(Value a, int64_t count) { return right(a, integer(count, a)); }
  /// Returns the two words of a * b, the lower one first.
  std::pair<Value, Value> product(Value a, Value b) {
    auto op = arith::MulUIExtendedOp::create(builder, loc, a, b);
    return {op.getLow(), op.getHigh()};
  }

  /// Returns 192 bits of 2 / pi from bit `place` on, the highest word first.
  std::array<Value, 3> findDigits(Value place);
  /// Returns the lowest 192 bits of m * digits, the highest word first.
  std::array<Value, 3> multiplyDigits(Value m, std::array<Value, 3> digits);
  /// Returns an integer of up to 32 bits as an f64, times 2^exponent.
  Value getNumber(Value digits, int64_t exponent) {
    Type type = getType(builder.getF64Type());
    Value whole = create<arith::SIToFPOp>(type, digits);
    return multiply(whole, std::ldexp(1.0, static_cast<int>(exponent)));
  }
};
} // namespace

std::array<Value, 3> WordBuilder::findDigits(Value place) {
  constexpr size_t kWords = 4, kPlaces = std::size(kTwoOverPi) - kWords + 1;
  Value number = right(place, 6);
  std::array<Value, kWords> words;
  for (size_t i = 0; i < kWords; ++i)
    words[i] = word(kTwoOverPi[i], place);
  for (size_t first = 1; first < kPlaces; ++first) {
    Value isFirst = create<arith::CmpIOp>(arith::CmpIPredicate::eq, number,
                                          word(first, place));
    for (size_t i = 0; i < kWords; ++i)
      words[i] = select(isFirst, word(kTwoOverPi[first + i], place), words[i]);
  }
  Value count = both(place, 63);
  Value rest = create<arith::SubIOp>(word(63, place), count);
  std::array<Value, 3> digits;
  for (size_t i = 0; i < digits.size(); ++i)
    digits[i] =
        join(left(words[i], count), right(right(words[i + 1], 1), rest));
  return digits;
}

std::array<Value, 3> WordBuilder::multiplyDigits(Value m,
                                                 std::array<Value, 3> digits) {
  auto [low, carried] = product(m, digits[2]);
  auto [middle, high] = product(m, digits[1]);
  Value second = sum(middle, carried);
  Value overflows =
      create<arith::CmpIOp>(arith::CmpIPredicate::ult, second, middle);
  Value first = sum(create<arith::MulIOp>(m, digits[0]), high);
  first = sum(first, select(overflows, word(1, m), word(0, m)));
  return {first, second, low};
}

DoubleFunctions::Angle DoubleFunctions::reduceLarge(Value x) {
  constexpr uint64_t kFraction = (uint64_t(1) << 52) - 1, kHalf = UINT32_MAX;
  constexpr int64_t kBias = 1075, kFirstPlace = 62;
  WordBuilder words(builder, loc, x.getType());
  Type type = getType(builder.getI64Type());
  Value bits = create<arith::BitcastOp>(type, x);
  Value m =
      words.join(words.both(bits, kFraction), words.word(kFraction + 1, bits));
  Value exponent = words.both(words.right(bits, 52), 0x7ff);
  // The first bit of 2 / pi that doesn't only make whole turns: times the
  // lowest bit of m it makes two quarters of a turn.
  Value place = words.sum(exponent, integer(kFirstPlace - kBias, exponent));
  auto [first, second, third] =
      words.multiplyDigits(m, words.findDigits(place));
  Value quarters =
      words.right(words.sum(first, words.word(uint64_t(1) << 61, first)), 62);
  // The remaining fraction of a quarter, with a sign.
  Value high = words.join(words.left(first, 2), words.right(second, 62));
  Value low = words.join(words.left(second, 2), words.right(third, 62));
  Value top = create<arith::ShRSIOp>(high, integer(32, high));
  Pair fraction = addToLarger(words.getNumber(top, -32),
                              words.getNumber(words.both(high, kHalf), -64));
  Value below = add(words.getNumber(words.right(low, 32), -96),
                    words.getNumber(words.both(low, kHalf), -128));
  fraction = addToLarger(fraction.high, add(fraction.low, below));
  Pair angle = multiplyByHalfPi(fraction.high, fraction.low);
  // Makes the result NaN if x is infinite, as x - x is NaN then.
  Value r = add(angle.high, subtract(x, x));
  Value isNegative = compare(arith::CmpFPredicate::OLT, x, 0.0);
  auto turn = [&](Value value) {
    return select(isNegative, negate(value), value);
  };
  Value back = create<arith::SubIOp>(words.word(0, quarters), quarters);
  return {turn(r), turn(angle.low), select(isNegative, back, quarters)};
}
