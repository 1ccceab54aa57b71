//===- CtcLoss.cpp - One sequence's sum over alignments -------------------===//
//
// A label of n classes has 2n + 1 states: its classes, with a blank before,
// between and behind them. An alignment goes through the states in their order
// and may skip a blank between two different classes. Two recursions over the
// steps sum up, for each state, the probabilities of all alignments that lead
// to it, and of all that lead from it to the end. Both have logarithms, and run
// along the states in vectors: a state's sum needs only the states of the
// previous step, so that the width of vectors changes no bit. Source: A. Graves
// et al., "Connectionist temporal classification: labelling unsegmented
// sequence data with recurrent neural networks", 2006.
//===----------------------------------------------------------------------===//

#include "Matrices/MatrixKernel.h"
#include "Matrices/NumberBuilder.h"

#include <limits>

using namespace mlir;
using namespace mlir::hfta;

/// The states by which an alignment may move on in one step, and so the numbers
/// of elements before the first state of a row.
static constexpr int64_t kReach = 2;
static constexpr int64_t kVectorBytes = 64;

namespace {

/// Sums are computed in f32 or the wider type of the op.
class CtcLoss : NumberBuilder {
public:
  CtcLoss(LoopBuilder &builder, CtcLossOp op, const MatrixKernel &kernel,
          bool usesLanes);

  void compute();

private:
  Value allocate(ArrayRef<int64_t> shape, Type type) {
    return memref::AllocOp::create(b, MemRefType::get(shape, type));
  }
  Value exponential(Value x) { return math::ExpOp::create(b, x); }
  Value isOdd(Value index) {
    return isEqual(arith::AndIOp::create(b, index, one), one);
  }
  Value half(Value index) { return arith::ShRUIOp::create(b, index, one); }

  Value readInteger(unsigned operand, ValueRange place, int64_t least,
                    int64_t most);
  Value widen(Value value);
  Value addLogarithms(ArrayRef<Value> terms);
  void fill(Value row, double value);
  void loopStates(LoopBuilder::Body body);

  void readLabel();
  void readScores(Value step);
  void goForward();
  Value finish();
  void startBackward();
  void weighStates(Value step, Value total);
  void writeGradient(Value step);
  void goBackward(Value total);

  const MatrixKernel &kernel;
  int64_t blank;
  bool zeroInfinity;
  int64_t steps, classes, labels;
  Type stored;   ///< the type of the op's operands and results
  int64_t width; ///< the number of elements of a row of states
  Value zero, one;
  Value length; ///< the number of the sequence's steps that count
  Value last;   ///< the last state
  Value end;    ///< the number of states, rounded up to whole vectors
  /// The class of each state; 0 where an alignment may skip the state before,
  /// else minus infinity; the logarithms of probabilities of the states'
  /// classes in a step.
  Value classOf, skips, scores;
  /// [step, kReach + state]: logarithms of the sums of all ways to a state,
  /// with the step's own probability.
  Value ways;
  /// Logarithms of the sums of all ways from a state to the end, without and
  /// with the step's own probability.
  Value rests, owns;
  Value weights; ///< the states' shares of all alignments in a step
  Value sums;    ///< the classes' shares in a step
};

} // namespace

/// Returns the vectors of an op's states: of one element without lanes.
static VectorType getVectorType(CtcLossOp op, bool usesLanes) {
  Type element = getElementTypeOrSelf(op.getGradient().getType());
  if (element.getIntOrFloatBitWidth() < 32)
    element = Float32Type::get(op.getContext());
  int64_t lanes =
      usesLanes ? kVectorBytes * 8 / element.getIntOrFloatBitWidth() : 1;
  return VectorType::get({lanes}, element);
}

CtcLoss::CtcLoss(LoopBuilder &builder, CtcLossOp op, const MatrixKernel &kernel,
                 bool usesLanes)
    : NumberBuilder(builder, getVectorType(op, usesLanes)), kernel(kernel),
      blank(static_cast<int64_t>(op.getBlank())),
      zeroInfinity(op.getZeroInfinity()) {
  auto type = cast<RankedTensorType>(op.getGradient().getType());
  steps = type.getDimSize(1);
  classes = type.getDimSize(2);
  labels = cast<MemRefType>(kernel.operands[1].getType()).getDimSize(1);
  stored = type.getElementType();
  width = llvm::alignTo(2 * labels + 1, vector.getDimSize(0)) + kReach;
  zero = b.index(0);
  one = b.index(1);
  classOf = allocate({width}, b.getI64Type());
  skips = allocate({width}, element);
  scores = allocate({width}, element);
  ways = allocate({steps, width}, element);
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

/// Reads an element of an operand of integers. A number that is out of range
/// counts as the nearest one that isn't, so that nothing is read behind the end
/// of memory.
Value CtcLoss::readInteger(unsigned operand, ValueRange place, int64_t least,
                           int64_t most) {
  Value given = load(kernel.operands[operand], place);
  if (!given.getType().isInteger(64))
    given = arith::ExtSIOp::create(b, b.getI64Type(), given);
  auto bound = [&](int64_t value) {
    return arith::ConstantIntOp::create(b, b.getI64Type(), value);
  };
  given = arith::MinSIOp::create(b, given, bound(most));
  given = arith::MaxSIOp::create(b, given, bound(least));
  return arith::IndexCastOp::create(b, b.getIndexType(), given);
}

Value CtcLoss::widen(Value value) {
  return stored == element ? value : arith::ExtFOp::create(b, element, value);
}

/// Returns the logarithm of the sum of numbers whose logarithms are given:
/// minus infinity if all are 0.
Value CtcLoss::addLogarithms(ArrayRef<Value> terms) {
  Value largest = terms.front();
  for (Value term : terms.drop_front())
    largest = arith::MaximumFOp::create(b, largest, term);
  Type type = largest.getType();
  // Avoids the difference of two infinities.
  Value isNone = arith::CmpFOp::create(
      b, arith::CmpFPredicate::OEQ, largest,
      b.number(type, -std::numeric_limits<double>::infinity()));
  Value base = select(isNone, b.number(type, 0), largest);
  Value sum;
  for (Value term : terms) {
    Value share = exponential(sub(term, base));
    sum = sum ? add(sum, share) : share;
  }
  return add(base, math::LogOp::create(b, sum));
}

void CtcLoss::fill(Value row, double value) {
  Value content = number(value);
  auto size = cast<MemRefType>(row.getType()).getDimSize(0);
  b.loop(zero, b.index(size), 1,
         [&](Value place) { store(content, row, {place}); });
}

/// Builds a loop over the first states of all vectors.
void CtcLoss::loopStates(LoopBuilder::Body body) {
  b.loop(zero, end, vector.getDimSize(0), body);
}

//===----------------------------------------------------------------------===//
// The label
//===----------------------------------------------------------------------===//

/// Reads the label: its length, the states' classes, and which states may be
/// skipped. States behind the last one are blanks.
void CtcLoss::readLabel() {
  Value item = kernel.item;
  length = kernel.operands.size() > 3 ? readInteger(3, {item}, 1, steps)
                                      : b.index(steps);
  Value count = readInteger(2, {item}, 0, labels);
  last = b.mul(count, 2);
  int64_t lanes = vector.getDimSize(0);
  Value blocks = arith::DivUIOp::create(b, b.add(last, lanes), b.index(lanes));
  end = b.mul(blocks, lanes);
  double none = -std::numeric_limits<double>::infinity();
  fill(skips, none);
  Value ofBlank = arith::ConstantIntOp::create(b, b.getI64Type(), blank);
  b.loop(zero, b.index(width), 1,
         [&](Value state) { store(ofBlank, classOf, {state}); });
  b.loop(zero, count, 1, [&](Value place) {
    Value state = b.add(b.mul(place, 2), 1);
    Value own = readInteger(1, {item, place}, 0, classes - 1);
    own = arith::IndexCastOp::create(b, b.getI64Type(), own);
    store(own, classOf, {state});
    // The element before, or this one again, which may not be skipped to.
    Value isFirst = isEqual(place, zero);
    Value before =
        load(classOf, {select(isFirst, state, b.sub(state, b.index(kReach)))});
    store(select(isEqual(own, before), number(none), number(0)), skips,
          {state});
  });
}

/// Reads the logarithms of the probabilities that the states' classes have.
void CtcLoss::readScores(Value step) {
  b.loop(zero, end, 1, [&](Value state) {
    Value own =
        arith::IndexCastOp::create(b, b.getIndexType(), load(classOf, {state}));
    store(widen(load(kernel.operands[0], {kernel.item, step, own})), scores,
          {state});
  });
}

//===----------------------------------------------------------------------===//
// Ways to the states
//===----------------------------------------------------------------------===//

void CtcLoss::goForward() {
  Value none = number(-std::numeric_limits<double>::infinity());
  b.loop(zero, length, 1, [&](Value step) {
    for (int64_t place = 0; place < kReach; ++place)
      store(none, ways, {step, b.index(place)});
  });
  readScores(zero);
  // An alignment begins with the first blank or the first class.
  b.loop(zero, end, 1, [&](Value state) {
    Value begins = b.isLess(state, b.index(kReach));
    store(select(begins, load(scores, {state}), none), ways,
          {zero, b.add(state, kReach)});
  });
  b.loop(one, length, 1, [&](Value step) {
    Value before = b.sub(step, one);
    readScores(step);
    loopStates([&](Value state) {
      Value skipped =
          add(loadVector(ways, {before, state}), loadVector(skips, {state}));
      Value sum =
          addLogarithms({loadVector(ways, {before, b.add(state, kReach)}),
                         loadVector(ways, {before, b.add(state, 1)}), skipped});
      storeVector(add(sum, loadVector(scores, {state})), ways,
                  {step, b.add(state, kReach)});
    });
  });
}

/// Writes the loss. Returns the logarithm of the sum of all alignments, which
/// end with the last class or the blank behind it. With `zeroInfinity`, no step
/// counts from here on if there is none.
Value CtcLoss::finish() {
  Value step = b.sub(length, one);
  Value total = addLogarithms({load(ways, {step, b.add(last, kReach)}),
                               load(ways, {step, b.add(last, kReach - 1)})});
  Value loss = arith::NegFOp::create(b, total);
  if (zeroInfinity) {
    Value isNone =
        arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, total,
                              number(-std::numeric_limits<double>::infinity()));
    loss = select(isNone, number(0), loss);
    length = select(isNone, zero, length);
  }
  if (stored != element)
    loss = arith::TruncFOp::create(b, stored, loss);
  store(loss, kernel.results[0], {kernel.item});
  return total;
}

//===----------------------------------------------------------------------===//
// Ways from the states, and the gradient
//===----------------------------------------------------------------------===//

void CtcLoss::startBackward() {
  rests = allocate({width}, element);
  owns = allocate({width}, element);
  weights = allocate({width}, element);
  sums = allocate({classes}, element);
  double none = -std::numeric_limits<double>::infinity();
  fill(owns, none);
  fill(rests, none);
  store(number(0), rests, {last});
  // A label without elements has one state only.
  Value before = b.sub(last, select(isEqual(last, zero), zero, one));
  store(number(0), rests, {before});
}

/// Computes the share of alignments that go through each state in a step, then
/// the ways from the states of the step before to the end.
void CtcLoss::weighStates(Value step, Value total) {
  Value all = vector::BroadcastOp::create(b, vector, total);
  readScores(step);
  loopStates([&](Value state) {
    Value rest = loadVector(rests, {state});
    Value through = add(loadVector(ways, {step, b.add(state, kReach)}), rest);
    storeVector(exponential(sub(through, all)), weights, {state});
    storeVector(add(rest, loadVector(scores, {state})), owns, {state});
  });
  loopStates([&](Value state) {
    Value behind = b.add(state, kReach);
    Value skipped =
        add(loadVector(owns, {behind}), loadVector(skips, {behind}));
    storeVector(addLogarithms({loadVector(owns, {state}),
                               loadVector(owns, {b.add(state, 1)}), skipped}),
                rests, {state});
  });
}

/// Adds up the shares of each class, in the order of states, and writes the
/// step's gradient.
void CtcLoss::writeGradient(Value step) {
  fill(sums, 0);
  Value blanks = b.fold(zero, last, kReach, load(weights, {last}),
                        [&](Value state, ValueRange values) {
                          Value next = b.add(state, 1);
                          Value own = arith::IndexCastOp::create(
                              b, b.getIndexType(), load(classOf, {next}));
                          store(add(load(sums, {own}), load(weights, {next})),
                                sums, {own});
                          return SmallVector<Value>{
                              add(values.front(), load(weights, {state}))};
                        })
                     .front();
  Value ofBlank = b.index(blank);
  store(add(load(sums, {ofBlank}), blanks), sums, {ofBlank});
  b.loop(zero, b.index(classes), 1, [&](Value own) {
    Value gradient = sub(number(0), load(sums, {own}));
    if (stored != element)
      gradient = arith::TruncFOp::create(b, stored, gradient);
    store(gradient, kernel.results[1], {kernel.item, step, own});
  });
}

/// Writes the gradient. Steps behind the sequence have none.
void CtcLoss::goBackward(Value total) {
  startBackward();
  b.loopDown(zero, length, 1, [&](Value step) {
    weighStates(step, total);
    writeGradient(step);
  });
  Value none = b.number(stored, 0);
  b.loop(length, b.index(steps), 1, [&](Value step) {
    b.loop(zero, b.index(classes), 1, [&](Value own) {
      store(none, kernel.results[1], {kernel.item, step, own});
    });
  });
}

void CtcLoss::compute() {
  readLabel();
  goForward();
  Value total = finish();
  // Memory that isn't an argument holds a result without users.
  if (isa<BlockArgument>(kernel.results[1]))
    goBackward(total);
}

void hfta::emitCtcLoss(LoopBuilder &builder, CtcLossOp op,
                       const MatrixKernel &kernel, bool usesLanes) {
  CtcLoss(builder, op, kernel, usesLanes).compute();
}
