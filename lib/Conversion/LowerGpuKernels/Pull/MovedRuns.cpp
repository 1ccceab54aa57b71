//===- MovedRuns.cpp - Runs of moved elements -----------------------------===//
//
// Neighbours in the result of padding, a slice, a transposition or a reshape
// are mostly neighbours in the source as well, and a single condition says
// whether all of them come from the source.
//===----------------------------------------------------------------------===//

#include "Pull/ElementPuller.h"
#include "Read/ElementPlaces.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::hfta;

bool ElementPuller::isWhole(Value tensor, const Run &run) {
  auto type = cast<RankedTensorType>(tensor.getType());
  return type.getDimSize(run.axis) % run.count == 0 &&
         llvm::isPowerOf2_64(run.count);
}

/// Single bits aren't read together: a vector of them would be packed, but
/// memory has a byte for each.
bool ElementPuller::isReadTogether(Value tensor, const Run &run) {
  auto type = cast<RankedTensorType>(tensor.getType());
  return run.axis + 1 == static_cast<unsigned>(type.getRank()) &&
         type.getElementTypeBitWidth() >= 8;
}

//===----------------------------------------------------------------------===//
// Runs moved by one op
//===----------------------------------------------------------------------===//

/// Padding along the run's own axis isn't supported. Padding along other axes
/// is one condition for the whole run.
FailureOr<std::optional<ElementPuller::MovedRun>>
ElementPuller::movePaddedRun(tensor::PadOp op, const Run &run) {
  Value padding = op.getConstantPaddingValue();
  bool isPadded = op.getSourceType().getDimSize(run.axis) !=
                  op.getResultType().getDimSize(run.axis);
  if (!padding || isPadded)
    return std::optional<MovedRun>();
  FailureOr<PaddedIndices> padded = findUnpadded(op, run.indices);
  if (failed(padded))
    return failure();
  return std::optional(MovedRun{op.getSource(),
                                {padded->indices, run.axis, run.count},
                                padded->isInside,
                                padding});
}

/// Returns the source's axis that corresponds to an axis of a slice.
static unsigned findSourceAxis(tensor::ExtractSliceOp op, unsigned axis) {
  llvm::SmallBitVector dropped = op.getDroppedDims();
  unsigned source = 0;
  for (unsigned kept = 0; kept < axis || dropped[source]; ++source)
    kept += !dropped[source];
  return source;
}

/// Runs of a slice are runs of the source only if the slice begins at a
/// multiple of the run's length.
FailureOr<std::optional<ElementPuller::MovedRun>>
ElementPuller::moveSlicedRun(tensor::ExtractSliceOp op, const Run &run) {
  unsigned axis = findSourceAxis(op, run.axis);
  std::optional<int64_t> offset =
      getConstantIntValue(op.getMixedOffsets()[axis]);
  bool isRun = offset && *offset % run.count == 0 &&
               isOneInteger(op.getMixedStrides()[axis]);
  if (!isRun)
    return std::optional<MovedRun>();
  FailureOr<SmallVector<Value>> from = findUnsliced(op, run.indices);
  if (failed(from))
    return failure();
  return std::optional(
      MovedRun{op.getSource(), {*from, axis, run.count}, Value(), Value()});
}

/// If the inserted tensor has the whole axis of the run, either all elements of
/// the run are inserted or none is. The destination has to be filled with one
/// scalar, like padding.
FailureOr<std::optional<ElementPuller::MovedRun>>
ElementPuller::moveInsertedRun(tensor::InsertSliceOp op, const Run &run) {
  auto fill = op.getDest().getDefiningOp<linalg::FillOp>();
  bool isOfRank = op.getSourceType().getRank() == op.getDestType().getRank();
  if (!fill || !isOfRank ||
      op.getSourceType().getDimSize(run.axis) !=
          op.getDestType().getDimSize(run.axis))
    return std::optional<MovedRun>();
  FailureOr<InsertedIndices> found = findInserted(op, run.indices);
  if (failed(found))
    return failure();
  return std::optional(MovedRun{op.getSource(),
                                {found->indices, run.axis, run.count},
                                found->isInside,
                                fill.getInputs().front()});
}

/// Returns the last axis of a group that has more than one element; nothing if
/// there is none.
static std::optional<int64_t> findInnermost(ArrayRef<int64_t> group,
                                            ArrayRef<int64_t> shape) {
  for (int64_t axis : llvm::reverse(group))
    if (shape[axis] > 1)
      return axis;
  return std::nullopt;
}

template <typename Reshape>
std::optional<ElementPuller::MovedRun>
ElementPuller::moveReshapedRun(Reshape op, const Run &run) {
  constexpr bool collapses = std::is_same_v<Reshape, tensor::CollapseShapeOp>;
  ArrayRef<int64_t> larger =
      collapses ? op.getSrcType().getShape() : op.getResultType().getShape();
  std::optional<unsigned> axis;
  for (auto [number, group] : llvm::enumerate(op.getReassociationIndices())) {
    std::optional<int64_t> inner = findInnermost(group, larger);
    if (!inner)
      continue;
    if (collapses && number == run.axis)
      axis = *inner;
    if (!collapses && *inner == static_cast<int64_t>(run.axis))
      axis = number;
  }
  // A row of the source must consist of whole runs.
  if (!axis || op.getSrcType().getDimSize(*axis) % run.count != 0)
    return std::nullopt;
  SmallVector<Value> from;
  for (AffineExpr expression :
       getSourceIndices(op, getDims(run.indices.size())))
    from.push_back(apply(expression, run.indices));
  return MovedRun{op.getSrc(), {from, *axis, run.count}, Value(), Value()};
}

FailureOr<std::optional<ElementPuller::MovedRun>>
ElementPuller::moveRun(Value tensor, const Run &run) {
  Operation *op = tensor.getDefiningOp();
  if (!op)
    return std::optional<MovedRun>();
  using Moved = FailureOr<std::optional<MovedRun>>;
  return llvm::TypeSwitch<Operation *, Moved>(op)
      .Case([&](linalg::TransposeOp transpose) {
        Run from = run;
        for (auto [to, axis] : llvm::enumerate(transpose.getPermutation())) {
          from.indices[axis] = run.indices[to];
          if (to == run.axis)
            from.axis = axis;
        }
        return std::optional(
            MovedRun{transpose.getInput(), from, Value(), Value()});
      })
      .Case([&](tensor::PadOp pad) { return movePaddedRun(pad, run); })
      .Case([&](tensor::ExtractSliceOp slice) {
        return moveSlicedRun(slice, run);
      })
      .Case([&](tensor::InsertSliceOp insertion) {
        return moveInsertedRun(insertion, run);
      })
      .Case<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(
          [&](auto reshape) { return moveReshapedRun(reshape, run); })
      .Default([](Operation *) { return std::optional<MovedRun>(); });
}

//===----------------------------------------------------------------------===//
// Places of runs
//===----------------------------------------------------------------------===//

std::optional<ElementPuller::RunLoops>
ElementPuller::findRunLoops(linalg::GenericOp op, OpResult result,
                            const Run &run) {
  AffineMap map = op.getIndexingMapMatchingResult(result);
  if (op.getNumReductionLoops() > 0 || !map.isPermutation())
    return std::nullopt;
  RunLoops found = {SmallVector<Value>(op.getNumLoops()),
                    map.getDimPosition(run.axis)};
  for (auto [expression, index] : llvm::zip(map.getResults(), run.indices))
    found.loops[cast<AffineDimExpr>(expression).getPosition()] = index;
  return found;
}

std::optional<Run> ElementPuller::findOperandRun(linalg::GenericOp op,
                                                 OpOperand &operand,
                                                 ArrayRef<Value> loops,
                                                 unsigned loop, int64_t count) {
  if (!isa<RankedTensorType>(operand.get().getType()))
    return std::nullopt;
  AffineMap map = op.getMatchingIndexingMap(&operand);
  std::optional<unsigned> axis =
      map.getResultPosition(getAffineDimExpr(loop, map.getContext()));
  bool isOnly = llvm::count_if(map.getResults(), [&](AffineExpr expression) {
                  return expression.isFunctionOfDim(loop);
                }) == 1;
  if (!axis || !isOnly)
    return std::nullopt;
  SmallVector<Value> indices;
  for (AffineExpr expression : map.getResults())
    indices.push_back(apply(expression, loops));
  return Run{indices, *axis, count};
}

FailureOr<std::optional<RunSource>>
ElementPuller::findSource(linalg::GenericOp op, OpOperand &operand,
                          ArrayRef<Value> loops, unsigned loop, int64_t count) {
  std::optional<RunSource> none;
  std::optional<Run> run = findOperandRun(op, operand, loops, loop, count);
  Value tensor = operand.get(), isInside;
  while (run && isWhole(tensor, *run) && !owned.contains(tensor) &&
         !carried.contains(tensor)) {
    if (Value memory = places.lookup(tensor)) {
      if (!isReadTogether(tensor, *run))
        return none;
      return std::optional(
          RunSource{memory, simplify(tensor, run->indices), isInside});
    }
    if (auto generic = tensor.getDefiningOp<linalg::GenericOp>()) {
      auto result = cast<OpResult>(tensor);
      OpOperand *widened = findWidened(generic, result);
      std::optional<RunLoops> own = findRunLoops(generic, result, *run);
      if (!widened || !own)
        return none;
      run = findOperandRun(generic, *widened, own->loops, own->loop, count);
      tensor = widened->get();
      continue;
    }
    FailureOr<std::optional<MovedRun>> moved = moveRun(tensor, *run);
    if (failed(moved))
      return failure();
    if (!*moved)
      return none;
    Value condition = (*moved)->isInside;
    if (condition && !matchPattern((*moved)->outside, m_PosZeroFloat()))
      return none;
    isInside = both(isInside, condition);
    tensor = (*moved)->from;
    run = (*moved)->run;
  }
  return none;
}
