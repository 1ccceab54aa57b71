//===- RowReduction.cpp - Reductions along contiguous rows ----------------===//

#include "Emit/RowReduction.h"
#include "Emit/AxisLoops.h"
#include "Emit/Prefetch.h"
#include "Emit/SumMarks.h"
#include "Emit/VectorBody.h"
#include "Hfta/Conversion/SumOrder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::hfta;

static constexpr int64_t kLanes = RowPlan::kLanes;
using Costs = TargetModel::Rows;

namespace {

class RowReductionEmitter {
public:
  RowReductionEmitter(OpBuilder &builder, linalg::GenericOp op,
                      const RowPlan &plan, ArrayRef<Value> initial,
                      const TargetModel &target)
      : builder(builder), op(op), row(plan.row), initial(initial),
        loops(builder, op), prefetcher(builder, op, target), sums(plan.sums),
        combiners(plan.combiners) {
    SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
    for (auto [axis, kind] : llvm::enumerate(kinds)) {
      if (kind == utils::IteratorType::parallel)
        outer.push_back(axis);
      else if (axis != row)
        reductions.push_back(axis);
    }
    int64_t size = loops.sizes[row];
    bool isSmall = llvm::range_size(op.getBody()->without_terminator()) <=
                   Costs::kSmallBody;
    // The running values take half of the registers, or three quarters if there
    // are several for each row.
    int64_t registerSums = target.getRegisters() * target.getVectorBytes() *
                           (sums > 1 ? 3 : 2) / 4 / (4 * kLanes);
    rowsAtOnce = std::max<int64_t>(
        1, (isSmall ? registerSums : Costs::kLargeBodySums) / sums);
    widths = splitIntoVectors(size % kLanes, kLanes);
    widths.insert(widths.begin(), sums, kLanes);
  }

  void emit(size_t next = 0);

private:
  /// The running values: for each row, for each of `widths`, for each result.
  using Running = SmallVector<Value>;

  void emitRows(int64_t rows);
  Running createNeutral(int64_t rows);
  Running emitTerms(size_t next, ValueRange running, int64_t rows);
  /// Adds the elements at distance `begin` from the current position to the
  /// running values of one width.
  void addVectors(int64_t begin, size_t width, int64_t rows, Running &running);
  Value combine(unsigned result, Value running, Value next);
  Value combineLanes(unsigned result, ArrayRef<Value> byWidth);
  void finish(ValueRange running, int64_t rows);
  SmallVector<int64_t> getOffsets(int64_t index, int64_t begin) const;

  OpBuilder &builder;
  linalg::GenericOp op;
  unsigned row;
  ArrayRef<Value> initial;
  AxisLoops loops;
  Prefetcher prefetcher;
  int64_t rowsAtOnce, sums;
  SmallVector<Operation *> combiners;
  SmallVector<unsigned> outer, reductions;
  /// The lengths of vectors: full ones for each running sum, then those into
  /// which the rest of a row is split.
  SmallVector<int64_t> widths;
};

} // namespace

SmallVector<int64_t> RowReductionEmitter::getOffsets(int64_t index,
                                                     int64_t begin) const {
  SmallVector<int64_t> offsets(loops.sizes.size(), 0);
  if (!outer.empty())
    offsets[outer.back()] = index;
  offsets[row] = begin;
  return offsets;
}

RowReductionEmitter::Running RowReductionEmitter::createNeutral(int64_t rows) {
  Running values;
  for (int64_t width : widths) {
    for (Operation *combiner : combiners) {
      TypedAttr neutral = *arith::getNeutralElement(combiner);
      Value scalar = arith::ConstantOp::create(builder, op.getLoc(), neutral);
      values.push_back(
          VectorBody(builder, op, row, width).broadcast(op.getLoc(), scalar));
    }
  }
  Running all;
  for (int64_t i = 0; i < rows; ++i)
    llvm::append_range(all, values);
  return all;
}

void RowReductionEmitter::addVectors(int64_t begin, size_t width, int64_t rows,
                                     Running &running) {
  size_t results = combiners.size();
  int64_t lanes = widths[width];
  for (int64_t i = 0; i < rows; ++i) {
    SmallVector<int64_t> offsets = getOffsets(i, begin);
    SmallVector<Value> arguments;
    for (OpOperand *input : op.getDpsInputOperands()) {
      Value value;
      if (op.payloadUsesValueFromOperand(input)) {
        value = input->get();
        bool isUniform = !op.getMatchingIndexingMap(input).isFunctionOfDim(row);
        if (isa<MemRefType>(value.getType())) {
          SmallVector<Value> indices = loops.getIndices(*input, offsets);
          if (!isUniform)
            prefetcher.create(*input, indices, begin);
          value = createLoad(builder, op.getLoc(), value, indices,
                             isUniform ? 1 : lanes);
        }
      }
      arguments.push_back(value);
    }
    auto values = MutableArrayRef<Value>(running).slice(
        (i * widths.size() + width) * results, results);
    llvm::append_range(arguments, values);
    VectorBody body(builder, op, row, lanes);
    llvm::copy(body.clone(arguments, loops.getPosition(offsets)),
               values.begin());
  }
}

RowReductionEmitter::Running
RowReductionEmitter::emitTerms(size_t next, ValueRange running, int64_t rows) {
  if (next < reductions.size())
    return loops.emitCarrying(
        reductions[next], 0, loops.sizes[reductions[next]], 1, running,
        [&](ValueRange inner) { return emitTerms(next + 1, inner, rows); });
  int64_t size = loops.sizes[row], step = sums * kLanes;
  int64_t begin = size - size % step;
  auto addFull = [&](int64_t vectors, Running &values) {
    for (int64_t sum = 0; sum < vectors; ++sum)
      addVectors(sum * kLanes, sum, rows, values);
  };
  Running values =
      loops.emitCarrying(row, 0, begin, step, running, [&](ValueRange inner) {
        Running next(inner);
        addFull(sums, next);
        return next;
      });
  loops.moveTo(row, begin);
  addFull((size - begin) / kLanes, values);
  int64_t offset = (size - begin) / kLanes * kLanes;
  for (size_t width = sums; width < widths.size(); ++width) {
    addVectors(offset, width, rows, values);
    offset += widths[width];
  }
  return values;
}

Value RowReductionEmitter::combine(unsigned result, Value running, Value next) {
  Operation *clone = builder.clone(*combiners[result]);
  clone->setOperands({running, next});
  clone->getResult(0).setType(running.getType());
  markCombiner(op, clone);
  return clone->getResult(0);
}

/// Combines the running values of full vectors in halves, then the lanes of the
/// last one, until one value is left. A vector of the rest of the row is
/// combined as soon as the number of lanes equals its length.
Value RowReductionEmitter::combineLanes(unsigned result,
                                        ArrayRef<Value> byWidth) {
  Location loc = op.getLoc();
  SmallVector<Value> full(byWidth.take_front(sums));
  for (int64_t half = sums / 2; half >= 1; half /= 2)
    for (int64_t i = 0; i < half; ++i)
      full[i] = combine(result, full[i], full[half + i]);
  Value value = full.front();
  size_t next = sums;
  for (int64_t half = kLanes / 2; half >= 1; half /= 2) {
    SmallVector<int64_t> low = llvm::to_vector(llvm::seq<int64_t>(0, half));
    SmallVector<int64_t> high =
        llvm::to_vector(llvm::seq<int64_t>(half, 2 * half));
    Value first = vector::ShuffleOp::create(builder, loc, value, value, low);
    Value second = vector::ShuffleOp::create(builder, loc, value, value, high);
    if (half == 1) {
      first = vector::ExtractOp::create(builder, loc, value, 0);
      second = vector::ExtractOp::create(builder, loc, value, 1);
    }
    value = combine(result, first, second);
    if (next < widths.size() && widths[next] == half)
      value = combine(result, value, byWidth[next++]);
  }
  return value;
}

void RowReductionEmitter::finish(ValueRange running, int64_t rows) {
  size_t results = combiners.size();
  for (int64_t i = 0; i < rows; ++i) {
    SmallVector<int64_t> offsets = getOffsets(i, 0);
    for (auto [result, output] : llvm::enumerate(op.getDpsInitsMutable())) {
      SmallVector<Value> byWidth;
      for (size_t width = 0; width < widths.size(); ++width)
        byWidth.push_back(
            running[(i * widths.size() + width) * results + result]);
      SmallVector<Value> indices = loops.getIndices(output, offsets);
      Value first = initial[result];
      if (!first)
        first = createLoad(builder, op.getLoc(), output.get(), indices, 1);
      markStart(op, first);
      Value value = combine(result, first, combineLanes(result, byWidth));
      createStore(builder, op.getLoc(), value, output.get(), indices);
    }
  }
}

void RowReductionEmitter::emitRows(int64_t rows) {
  finish(emitTerms(0, createNeutral(rows), rows), rows);
}

void RowReductionEmitter::emit(size_t next) {
  if (next == outer.size())
    return emitRows(1);
  unsigned axis = outer[next];
  if (next + 1 < outer.size())
    return loops.emitLoop(axis, 0, loops.sizes[axis], 1,
                          [&] { emit(next + 1); });
  loops.emitBlocks(axis, rowsAtOnce, [&](int64_t rows) { emitRows(rows); });
}

bool hfta::emitRowReduction(OpBuilder &builder, linalg::GenericOp op,
                            ArrayRef<Value> initial,
                            const TargetModel &target) {
  std::optional<RowPlan> plan = planRows(op);
  if (!plan)
    return false;
  SmallVector<unsigned> axes;
  op.getReductionDims(axes);
  llvm::erase(axes, plan->row);
  axes.push_back(plan->row);
  numberSum(op, getAddressOrder(op, axes, RowPlan::kLanes, plan->sums));
  RowReductionEmitter(builder, op, *plan, initial, target).emit();
  return true;
}
