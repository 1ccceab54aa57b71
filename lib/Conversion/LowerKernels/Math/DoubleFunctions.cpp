//===- DoubleFunctions.cpp - Functions of f64 as polynomials --------------===//
//
// Arguments are reduced to a short interval. The coefficients come from
// scripts/fit-polynomials.py; the error of each polynomial is less than half a
// unit in the last place of its function. A constant that is split in two parts
// has a first part that ends with zero bits, such that its product with any
// integer that occurs here is exact.
//===----------------------------------------------------------------------===//

#include "Math/DoubleFunctions.h"

#include <limits>

using namespace mlir;
using namespace mlir::hfta;

/// ln 2 in two parts.
static constexpr double kLn2High = 0x1.62e42feep-1;
static constexpr double kLn2Low = 0x1.a39ef35793c76p-33;
/// pi / 2 in three parts of 53 bits.
static constexpr double kHalfPi[] = {
    0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54, -0x1.f1976b7ed8fbcp-110};

//===----------------------------------------------------------------------===//
// Sums and products with all digits
//===----------------------------------------------------------------------===//

DoubleFunctions::Pair DoubleFunctions::multiplyExactly(Value a, Value b) {
  Value high = multiply(a, b);
  return {high, multiplyAdd(a, b, negate(high))};
}

DoubleFunctions::Pair DoubleFunctions::addToLarger(Value a, Value b) {
  Value high = add(a, b);
  return {high, subtract(b, subtract(high, a))};
}

DoubleFunctions::Pair DoubleFunctions::multiplyByHalfPi(Value high, Value low) {
  Pair product = multiplyExactly(high, number(kHalfPi[0], high));
  Value below = multiplyAdd(high, kHalfPi[1], product.low);
  return addToLarger(product.high, multiplyAdd(low, kHalfPi[0], below));
}

DoubleFunctions::Pair DoubleFunctions::subtractExactly(Value a, Value b) {
  Value high = subtract(a, b);
  Value taken = subtract(high, a);
  Value lost = subtract(a, subtract(high, taken));
  return {high, subtract(lost, add(b, taken))};
}

//===----------------------------------------------------------------------===//
// Exponential and logarithms
//===----------------------------------------------------------------------===//

/// Computes e^x = 2^n e^r with |r| <= ln 2 / 2, and e^r = 1 + r + r^2 P(r).
Value DoubleFunctions::exponential(Value x, Value low) {
  Value bounded = clamp(x, -746.0, 710.0);
  auto [n, integer] = round(bounded, 1.4426950408889634);
  Value r = multiplyAdd(n, -kLn2High, bounded);
  r = multiplyAdd(n, -kLn2Low, r);
  if (low)
    r = add(r, low);
  Value p = evaluate(r, {2.0914707069612355e-09, 2.5105245153901371e-08,
                         2.7557273594799413e-07, 2.7557255332554409e-06,
                         2.4801587325585839e-05, 0.00019841269874873975,
                         0.0013888888888883737, 0.0083333333333261202,
                         0.041666666666666671, 0.16666666666666671, 0.5});
  Value square = multiply(r, r);
  Value power = add(multiplyAdd(p, square, r), number(1, x));
  return scale(power, integer);
}

/// Uses s = f / (2 + f), for which 1 + f = (1 + s) / (1 - s) has the logarithm
/// 2 s + s z P(z) with z = s^2. 2 s is computed as f - f^2 / 2 + s f^2 / 2,
/// whose first term is exact.
Value DoubleFunctions::addLogarithm(Value n, Value f, Value low) {
  Value s = divide(f, add(f, number(2, f)));
  Value z = multiply(s, s);
  Value p = evaluate(z, {0.14616449685043406, 0.15331721600556042,
                         0.18182889125261723, 0.22222211134795081,
                         0.28571428625975487, 0.39999999999899505,
                         0.66666666666666696});
  Value half = multiply(multiply(f, f), 0.5);
  Value rest = multiplyAdd(n, kLn2Low, multiply(s, multiplyAdd(p, z, half)));
  if (low)
    rest = add(rest, low);
  Value logarithm = subtract(f, subtract(half, rest));
  return multiplyAdd(n, kLn2High, logarithm);
}

Value DoubleFunctions::logarithm(Value x) {
  auto [mantissa, n] = split(x);
  Value f = subtract(mantissa, number(1, x));
  return selectLogarithm(x, addLogarithm(n, f, Value()));
}

/// Computes log u + c / u, where u + c = 1 + x and c is the rounding error of
/// u.
Value DoubleFunctions::logarithmOfOnePlus(Value x) {
  Value one = number(1, x);
  Value u = add(one, x);
  Value taken = subtract(u, one);
  Value c = add(subtract(one, subtract(u, taken)), subtract(x, taken));
  auto [mantissa, n] = split(u);
  Value f = subtract(mantissa, one);
  Value regular = addLogarithm(n, f, divide(c, u));
  // Keeps the sign of a zero.
  Value isZero = compare(arith::CmpFPredicate::OEQ, x, 0.0);
  return select(isZero, x, selectLogarithm(u, regular));
}

//===----------------------------------------------------------------------===//
// Hyperbolic tangent and error function
//===----------------------------------------------------------------------===//

Value DoubleFunctions::tangent(Value x) {
  return MathBuilder::tangent(
      x,
      {6.4798729189511094e-06, -3.1190227437815513e-05, 9.2561530365167444e-05,
       -0.00023758584039791723, 0.00058965917043080334, -0.0014557751173983799,
       0.0035921217137875549, -0.0088632351002970646, 0.021869488518873555,
       -0.053968253967893842, 0.13333333333333039, -0.33333333333333331},
      [&](Value argument) { return exponential(argument); });
}

/// Computes x + x P(x^2) where |x| is below 1.25, else 1 - e^P(|x| - 3) with
/// the sign of x.
Value DoubleFunctions::errorFunction(Value x) {
  Value size = magnitude(x);
  Value p = evaluate(
      multiply(x, x),
      {7.8896899625119164e-16, -2.3350347093491516e-14, 4.3099597350032274e-13,
       -6.6751234445717095e-12, 9.4165762303262629e-11, -1.228977609446297e-09,
       1.4807119396109624e-08, -1.6365839503842906e-07, 1.6462114092414182e-06,
       -1.4925650347786946e-05, 0.00012055332981492634, -0.00085483270234450724,
       0.0052239776254421133, -0.026866170645131245, 0.11283791670955126,
       -0.37612638903183754, 0.12837916709551259});
  Value near = multiplyAdd(p, x, x);
  // From 5.94 on the result rounds to 1.
  Value bounded = clamp(size, 0.0, 5.94);
  Value q = evaluate(subtract(bounded, number(3, x)),
                     {1.8385574345150656e-17,  -3.2951190133191922e-16,
                      2.3657820149681221e-15,  -7.5082309232955871e-15,
                      -4.6481206738100824e-15, 1.8762961806873191e-13,
                      -1.4184849515512644e-12, 8.4852392588671575e-12,
                      -4.3811171595848057e-11, 1.8903928565503982e-10,
                      -6.1088586809947309e-10, 6.3405030155502127e-10,
                      1.1460926075990238e-08,  -1.3617733976736198e-07,
                      1.0693883334968312e-06,  -7.1154648056980627e-06,
                      4.3081791422981813e-05,  -0.00024569213403676275,
                      0.0013533104379600635,   -0.0074118917955193269,
                      -0.95739421880123432,    -6.3037536890032371,
                      -10.720363041981113});
  Value far = subtract(number(1, x), exponential(q));
  Value isNear = compare(arith::CmpFPredicate::OLT, size, 1.25);
  return select(isNear, near, copySign(far, x));
}

//===----------------------------------------------------------------------===//
// Sine and cosine
//===----------------------------------------------------------------------===//

/// Reduces x by the nearest multiple of pi / 2, to r + rest. The difference
/// from the multiple of the first part of pi / 2 is exact, as both numbers are
/// multiples of the same small number.
DoubleFunctions::Angle DoubleFunctions::reduce(Value x) {
  auto [n, quadrant] = round(x, 0.63661977236758138);
  Value exact = multiplyAdd(n, -kHalfPi[0], x);
  Pair second = multiplyExactly(n, number(kHalfPi[1], x));
  Pair less = subtractExactly(exact, second.high);
  Value below = multiplyAdd(n, -kHalfPi[2], subtract(less.low, second.low));
  Pair angle = addToLarger(less.high, below);
  return {angle.high, angle.low, quadrant};
}

Value DoubleFunctions::sine(Value x, const Angle &angle, int64_t quarters) {
  Value r = angle.r, rest = angle.rest;
  Value z = multiply(r, r);
  // sin(r + rest) = r + rest (1 - z / 2) + r z P(z)
  Value p = evaluate(z, {1.5918117983848815e-10, -2.5051131688000297e-08,
                         2.7557316101799092e-06, -0.00019841269836757121,
                         0.008333333333330948, -0.16666666666666666});
  Value half = multiply(z, 0.5);
  Value turned = multiplyAdd(negate(half), rest, rest);
  Value sine = add(r, multiplyAdd(multiply(z, r), p, turned));
  // Keeps the sign of a zero.
  sine = select(compare(arith::CmpFPredicate::OEQ, x, 0.0), x, sine);
  // cos(r + rest) = 1 - z / 2 - r rest + z^2 Q(z)
  Value q = evaluate(z, {-1.1382625349447592e-11, 2.0876146170183976e-09,
                         -2.7557317271258515e-07, 2.4801587298764778e-05,
                         -0.0013888888888887398, 0.041666666666666664});
  Pair large = addToLarger(number(1, x), negate(half));
  Value small = multiplyAdd(negate(r), rest, large.low);
  Value cosine = add(large.high, multiplyAdd(multiply(z, z), q, small));
  return selectQuarter(
      sine, cosine,
      create<arith::AddIOp>(angle.quarters, integer(quarters, angle.quarters)));
}

//===----------------------------------------------------------------------===//
// Arc sine, cosine and tangent
//===----------------------------------------------------------------------===//

static constexpr double kArcSine[] = {
    0.029612011264955121,  -0.019241671746743041, 0.019554513336123378,
    0.0030448799094556773, 0.0093195607947674456, 0.0096218429701002816,
    0.011566459612121669,  0.01396378001220357,   0.017352816540325496,
    0.022372157443507221,  0.03038194447553234,   0.044642857142551895,
    0.075000000000001177,  0.16666666666666666};

Value DoubleFunctions::arcSine(Value x) {
  return MathBuilder::arcSine(x, kArcSine);
}

Value DoubleFunctions::arcCosine(Value x) {
  return MathBuilder::arcCosine(x, kArcSine);
}

Value DoubleFunctions::arcTangent(Value x) {
  return MathBuilder::arcTangent(
      x,
      {7.767624330289919e-06,  -9.3711863450526259e-05, 0.00053768392973962444,
       -0.0019612554271685326, 0.0051409128567469391,   -0.010412153260359241,
       0.017183981722113349,   -0.024191345810140718,   0.030330719265790507,
       -0.035271331066871296,  0.03938687540798632,     -0.043306538430670664,
       0.047580800836378209,   -0.052624922290256754,   0.05882264416776449,
       -0.066666579345737678,  0.076923070788270292,    -0.090909090619352803,
       0.11111111110268297,    -0.14285714285701234,    0.19999999999999921,
       -0.33333333333333331});
}

//===----------------------------------------------------------------------===//
// Powers
//===----------------------------------------------------------------------===//

/// Computes the logarithm of x = 2^n m together with its rounding error. As in
/// addLogarithm, with s = (m - 1) / (m + 1) and z = s^2,
///   log m = 2 s + s (2/3 z + z^2 P(z))
/// Here the rounding errors of intermediate results are carried along.
DoubleFunctions::Pair DoubleFunctions::logarithmWithRest(Value x) {
  auto [m, n] = split(x);
  Value one = number(1, x);
  Value f = subtract(m, one);
  Pair sum = addToLarger(one, m);
  Value s = divide(f, sum.high);
  Value left = multiplyAdd(negate(s), sum.high, f);
  Value sRest = divide(multiplyAdd(negate(s), sum.low, left), sum.high);
  Pair z = multiplyExactly(s, s);
  Value zRest = multiplyAdd(multiply(s, 2.0), sRest, z.low);
  Value p = evaluate(z.high, {0.12913496066803151, 0.13285967273890614,
                              0.15385574500458829, 0.18181808251607398,
                              0.22222222271077449, 0.28571428571338559,
                              0.40000000000000024});
  const double twoThirds = 0x1.5555555555555p-1, after = 0x1.5555555555555p-55;
  Pair third = multiplyExactly(z.high, number(twoThirds, x));
  Value thirdRest =
      multiplyAdd(zRest, twoThirds, multiplyAdd(z.high, after, third.low));
  Pair factor = addToLarger(
      third.high, multiplyAdd(multiply(z.high, z.high), p, thirdRest));
  Pair product = multiplyExactly(s, factor.high);
  Value productRest =
      multiplyAdd(s, factor.low, multiplyAdd(sRest, factor.high, product.low));
  Pair most = addToLarger(multiply(s, 2.0), product.high);
  Value rest = multiplyAdd(sRest, 2.0, add(most.low, productRest));
  // A multiple of ln 2 is either 0 or larger than the other summand, as
  // addToLarger requires.
  Pair all = addToLarger(multiply(n, kLn2High), most.high);
  return {all.high, multiplyAdd(n, kLn2Low, add(all.low, rest))};
}

/// Computes e^(exponent log |base|), and handles signs and special values.
Value DoubleFunctions::power(Value base, Value exponent) {
  Pair logarithm = logarithmWithRest(magnitude(base));
  // Clamping changes no result: larger exponents give 0, 1 or infinity for any
  // base.
  Value y = clamp(exponent, -0x1p64, 0x1p64);
  Pair product = multiplyExactly(logarithm.high, y);
  // If the product is out of these bounds, the result is 0 or infinity whatever
  // its rest.
  Value bounded = clamp(product.high, -1000.0, 1000.0);
  Value isBounded = compare(arith::CmpFPredicate::OEQ, bounded, product.high);
  Value rest = multiplyAdd(logarithm.low, y, product.low);
  rest = select(isBounded, rest, number(0, rest));
  return selectPower(base, exponent, exponential(bounded, rest));
}

/// Handles signs and special values of a power. `regular` is the power of
/// |base|; it isn't used if the base is 0, infinite or NaN.
Value DoubleFunctions::selectPower(Value base, Value exponent, Value regular) {
  using Predicate = arith::CmpFPredicate;
  double infinity = std::numeric_limits<double>::infinity();
  double nan = std::numeric_limits<double>::quiet_NaN();
  Value size = magnitude(base);
  Value isZero = compare(Predicate::OEQ, size, 0.0);
  Value isInfinite = compare(Predicate::OEQ, size, infinity);
  Value isUp = compare(Predicate::OGT, exponent, 0.0);
  Value zero = number(0, base), infinite = number(infinity, base);
  Value power = select(isZero, select(isUp, zero, infinite), regular);
  power = select(isInfinite, select(isUp, infinite, zero), power);
  // With an odd exponent the power has the sign of the base. A base below 0 has
  // powers with integer exponents only.
  auto isWhole = [&](Value y) {
    return compare(Predicate::OEQ, create<math::FloorOp>(y), y);
  };
  Value isInteger = isWhole(exponent);
  Value isEven = both(isInteger, isWhole(multiply(exponent, 0.5)));
  Value isOdd = create<arith::XOrIOp>(isInteger, isEven);
  power = select(isOdd, copySign(power, base), power);
  Value isNegative = both(compare(Predicate::OLT, base, 0.0),
                          compare(Predicate::OGT, base, -infinity));
  power =
      select(isNegative, select(isInteger, power, number(nan, base)), power);
  // x^0 and 1^y are 1 even if the other operand is NaN.
  Value isNan = compare(Predicate::UNO, base, exponent);
  power = select(isNan, number(nan, base), power);
  Value isOne = either(compare(Predicate::OEQ, exponent, 0.0),
                       compare(Predicate::OEQ, base, 1.0));
  return select(isOne, number(1, base), power);
}
