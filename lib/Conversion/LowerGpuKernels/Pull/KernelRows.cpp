//===- KernelRows.cpp - Kernels that have sums of rows --------------------===//

#include "Pull/KernelRows.h"
#include "Hfta/Conversion/LowerGpuKernels.h"
#include "Hfta/Dialect/Hfta/IR/TensorTypes.h"
#include "Pull/ElementPuller.h"
#include "Read/KernelProduct.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::hfta;

void KernelRows::mark(func::FuncOp kernel) const {
  Builder builder(kernel.getContext());
  SmallVector<Attribute> all;
  for (ArrayRef<int64_t> own : axes)
    all.push_back(builder.getDenseI64ArrayAttr(own));
  kernel->setAttr(kRowAxesAttrName, builder.getArrayAttr(all));
  auto lanes = kernel->getAttrOfType<IntegerAttr>(kSumLanesAttrName);
  ValueRange results = kernel.getBody().front().getTerminator()->getOperands();
  if (int64_t run = chooseRun(results, lanes ? lanes.getInt() : 1); run > 1)
    kernel->setAttr(kRunAttrName, builder.getI64IntegerAttr(run));
  if (!lanes)
    return;
  if (isInside)
    kernel->setAttr(kLanesInsideAttrName, builder.getUnitAttr());
  else
    kernel->removeAttr(kLanesInsideAttrName);
}

int64_t KernelRows::chooseRun(ValueRange results, int64_t lanes) const {
  // Elements are f32 while they are computed, so longer runs would take too
  // many registers.
  int64_t run = kAccessBytes / 4;
  for (auto [number, result] : llvm::enumerate(results)) {
    if (isOfRow(number))
      continue;
    ArrayRef<int64_t> own = getShape(result);
    unsigned bits =
        getElementTypeOrSelf(result.getType()).getIntOrFloatBitWidth();
    // Vectors of single bits would be packed, but memory has a byte for each.
    if (bits < 8 ||
        llvm::is_contained(axes[number], static_cast<int64_t>(own.size()) - 1))
      return 1;
    run = std::min<int64_t>(run, kAccessBytes * 8 / bits);
    if (own.back() % run != 0)
      return 1;
  }
  return length >= lanes * run ? run : 1;
}

/// Computes the rows' shape and length from the axes. Fails if the results'
/// shapes don't agree.
static bool complete(KernelRows &rows, ValueRange results) {
  bool hasElements = false;
  for (auto [result, axes] : llvm::zip(results, rows.axes)) {
    ArrayRef<int64_t> shape = getShape(result);
    SmallVector<int64_t> own;
    for (int64_t axis : axes)
      own.push_back(shape[axis]);
    int64_t count = llvm::product_of(own);
    int64_t length = count == 0 ? 0 : llvm::product_of(shape) / count;
    rows.isSum.push_back(shape.size() == own.size());
    if (length == 0 || (!rows.shape.empty() && rows.shape != own))
      return false;
    rows.shape = own;
    if (rows.isSum.back())
      continue;
    if (hasElements && rows.length != length)
      return false;
    if (!hasElements)
      rows.isInside =
          !llvm::is_contained(axes, static_cast<int64_t>(shape.size()) - 1);
    hasElements = true;
    rows.length = length;
  }
  return hasElements;
}

std::optional<KernelRows> KernelRows::get(func::FuncOp kernel) {
  auto all = kernel->getAttrOfType<ArrayAttr>(kRowAxesAttrName);
  if (!all)
    return std::nullopt;
  KernelRows rows;
  for (auto own : all.getAsRange<DenseI64ArrayAttr>())
    rows.axes.emplace_back(own.asArrayRef());
  ValueRange results = kernel.getBody().front().getTerminator()->getOperands();
  if (rows.axes.size() != results.size() || !complete(rows, results))
    return std::nullopt;
  return rows;
}

namespace {
/// Follows a result's axes back to the axes of a sum.
class RowFinder {
public:
  explicit RowFinder(ArrayRef<linalg::GenericOp> sums) : sums(sums) {}

  /// Returns the result's axis that corresponds to each axis of the sum;
  /// nothing if one is unknown.
  std::optional<SmallVector<int64_t>> find(Value result);

private:
  /// A value and, for each of its axes, the result's corresponding axis, or -1
  /// if there is none.
  using Place = std::pair<Value, SmallVector<int64_t>>;

  std::optional<SmallVector<int64_t>> findIn(const Place &place) const;
  void follow(const Place &place, SmallVectorImpl<Place> &left) const;

  ArrayRef<linalg::GenericOp> sums;
};
} // namespace

static std::optional<SmallVector<int64_t>> chooseAll(ArrayRef<int64_t> axes) {
  if (llvm::is_contained(axes, -1))
    return std::nullopt;
  return SmallVector<int64_t>(axes);
}

/// Returns the result's axes of a sum's axes if the place is the sum itself or
/// the tensor that it adds up; else nothing.
std::optional<SmallVector<int64_t>>
RowFinder::findIn(const Place &place) const {
  for (linalg::GenericOp sum : sums) {
    OpResult result = sum->getResult(0);
    if (place.first == result)
      return chooseAll(place.second);
    OpOperand *input = sum.getDpsInputOperand(0);
    AffineMap map = sum.getMatchingIndexingMap(input);
    if (place.first != input->get() || !map.isPermutation())
      continue;
    SmallVector<int64_t> loops(sum.getNumLoops(), -1), rows;
    for (auto [expression, axis] : llvm::zip(map.getResults(), place.second))
      loops[cast<AffineDimExpr>(expression).getPosition()] = axis;
    AffineMap kept = sum.getIndexingMapMatchingResult(result);
    for (AffineExpr expression : kept.getResults())
      rows.push_back(loops[cast<AffineDimExpr>(expression).getPosition()]);
    return chooseAll(rows);
  }
  return std::nullopt;
}

void RowFinder::follow(const Place &place, SmallVectorImpl<Place> &left) const {
  Value value = place.first;
  ArrayRef<int64_t> axes = place.second;
  llvm::TypeSwitch<Operation *>(value.getDefiningOp())
      .Case([&](linalg::GenericOp op) {
        AffineMap map = op.getIndexingMapMatchingResult(cast<OpResult>(value));
        if (op.getNumReductionLoops() > 0 || !map.isPermutation())
          return;
        SmallVector<int64_t> loops(op.getNumLoops(), -1);
        for (auto [expression, axis] : llvm::zip(map.getResults(), axes))
          loops[cast<AffineDimExpr>(expression).getPosition()] = axis;
        for (OpOperand *input : op.getDpsInputOperands()) {
          if (!isa<RankedTensorType>(input->get().getType()))
            continue;
          Place &own = left.emplace_back(input->get(), SmallVector<int64_t>());
          for (AffineExpr expression :
               op.getMatchingIndexingMap(input).getResults()) {
            auto dim = dyn_cast<AffineDimExpr>(expression);
            own.second.push_back(dim ? loops[dim.getPosition()] : -1);
          }
        }
      })
      .Case([&](linalg::TransposeOp op) {
        SmallVector<int64_t> from(axes.size());
        for (auto [to, axis] : llvm::enumerate(op.getPermutation()))
          from[axis] = axes[to];
        left.emplace_back(op.getInput(), from);
      })
      .Default([](Operation *) {});
}

std::optional<SmallVector<int64_t>> RowFinder::find(Value result) {
  llvm::SmallDenseSet<Value> seen;
  SmallVector<Place> left = {{result, llvm::to_vector(llvm::seq<int64_t>(
                                          0, getShape(result).size()))}};
  while (!left.empty()) {
    Place place = left.pop_back_val();
    if (!seen.insert(place.first).second)
      continue;
    if (std::optional<SmallVector<int64_t>> found = findIn(place))
      return found;
    if (place.first.getDefiningOp())
      follow(place, left);
  }
  return std::nullopt;
}

std::optional<KernelRows> hfta::findRows(func::FuncOp kernel) {
  Block &body = kernel.getBody().front();
  SmallVector<linalg::GenericOp> sums;
  for (auto op : body.getOps<linalg::GenericOp>()) {
    if (op.getNumReductionLoops() == 0)
      continue;
    AffineMap kept = op.getIndexingMapMatchingResult(op->getResult(0));
    if (getProduct(op) || op.getNumDpsInputs() == 0 ||
        !kept.isProjectedPermutation())
      return std::nullopt;
    sums.push_back(op);
  }
  ValueRange results = body.getTerminator()->getOperands();
  size_t most = 0;
  for (Value result : results)
    most = std::max(most, getShape(result).size());
  if (sums.empty() || most == getShape(sums.front()->getResult(0)).size())
    return std::nullopt;
  KernelRows rows;
  for (Value result : results) {
    std::optional<SmallVector<int64_t>> axes = RowFinder(sums).find(result);
    // A result that doesn't depend on the sums can be assigned to rows by its
    // leading axes.
    ArrayRef<int64_t> kept = getShape(sums.front()->getResult(0));
    if (!axes && kept.size() <= getShape(result).size() &&
        kept == getShape(result).take_front(kept.size()))
      axes = llvm::to_vector(llvm::seq<int64_t>(0, kept.size()));
    if (!axes)
      return std::nullopt;
    rows.axes.push_back(*axes);
  }
  return complete(rows, results) ? std::optional(rows) : std::nullopt;
}
