//===- SortIndices.cpp - Sorts the updates of a scatter by element --------===//
//
// A thread that computes one element of a scatter_add on its own has to compare
// all indices with its own index. Tables tell all elements of a slice at once
// which updates are theirs: the numbers of the updates, sorted by index, and
// where those of each slice begin. The tables are made without a scatter: the
// rank of a key is the number of smaller keys, which comparisons count.
//===----------------------------------------------------------------------===//

#include "Hfta/Dialect/Hfta/IR/Expression.h"
#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Target/GpuReferenceModel.h"
#include "Hfta/Transforms/Passes.h"
#include "Kernels/Kernels.h"

#include "mlir/IR/Matchers.h"

#include "llvm/ADT/Sequence.h"

#include <limits>
#include <numeric>

namespace mlir::hfta {
#define GEN_PASS_DEF_HFTASORTINDICES
#include "Hfta/Transforms/Passes.h.inc"
} // namespace mlir::hfta

using namespace mlir;
using namespace mlir::hfta;

//===----------------------------------------------------------------------===//
// Profitability
//===----------------------------------------------------------------------===//

namespace {
/// The sizes of a scatter_add for one copy.
struct Scatter {
  explicit Scatter(ScatterAddOp op)
      : elements(op.getResult().getType().getNumElements()),
        updates(op.getIndices().getType().getNumElements()),
        slices(static_cast<int64_t>(op.getSize())) {}

  int64_t elements; ///< number of the result's elements
  int64_t updates;
  int64_t slices; ///< number of the slices that indices select
};
} // namespace

using Costs = GpuReferenceModel::Scatters;

/// The number of copies that share the GPU.
static constexpr auto kCopies = static_cast<double>(GpuReferenceModel::kCopies);

/// Estimates the microseconds if each element compares all indices, one after
/// the other.
static double estimateComparing(const Scatter &scatter) {
  auto updates = static_cast<double>(scatter.updates);
  return std::max(kCopies * static_cast<double>(scatter.elements) * updates /
                      Costs::kComparisons,
                  updates * Costs::kWait);
}

/// Estimates the microseconds to compute tables: ranks, the sorted numbers, and
/// the beginnings of slices. Threads share the comparisons of each of these.
static double estimateTables(const Scatter &scatter) {
  auto updates = static_cast<double>(scatter.updates);
  auto slices = static_cast<double>(scatter.slices);
  return Costs::kTableKernels * Costs::kLaunch +
         kCopies * (2 * updates + slices) * updates / Costs::kComparisons;
}

/// Returns the indices if they are constant and available, else null.
static DenseElementsAttr findKnown(Value indices) {
  DenseElementsAttr known;
  matchPattern(indices, m_Constant(&known));
  return known;
}

static bool isWorthTables(ScatterAddOp op) {
  Scatter scatter(op);
  bool isKnown = findKnown(op.getIndices()) != nullptr;
  return scatter.elements > 0 && scatter.updates > 0 &&
         estimateComparing(scatter) > (isKnown ? 0 : estimateTables(scatter));
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

namespace {
/// The operands of a segment_sum.
struct Tables {
  Value order, offsets;
};

class TableBuilder {
public:
  explicit TableBuilder(ScatterAddOp op)
      : builder(op), loc(op.getLoc()), indices(op.getIndices()), scatter(op) {
    // The product of the numbers of slices and updates must fit in the type.
    bool isWide = (scatter.slices + 1) >
                  std::numeric_limits<int32_t>::max() / scatter.updates;
    type = isWide ? builder.getI64Type() : builder.getI32Type();
  }

  Tables compute();
  Tables evaluate(DenseElementsAttr known);

private:
  Expression makeKeys();
  Expression number(ArrayRef<int64_t> shape, int64_t axis);
  Expression countTrue(const Expression &conditions);
  Value makeConstant(ArrayRef<int64_t> numbers);

  OpBuilder builder;
  Location loc;
  Value indices;
  Scatter scatter;
  Type type; ///< the tables' element type
};
} // namespace

Expression TableBuilder::number(ArrayRef<int64_t> shape, int64_t axis) {
  return {builder, loc, IotaOp::create(builder, loc, shape, axis, type)};
}

/// Counts the true conditions along axis 1.
Expression TableBuilder::countTrue(const Expression &conditions) {
  return conditions.to(type).sum({1});
}

/// Makes a distinct sort key for each update, from its slice (the number of
/// slices if its index is out of range) and its number. Updates are added in
/// the order of their keys.
Expression TableBuilder::makeKeys() {
  auto slices = static_cast<double>(scatter.slices);
  Expression index(builder, loc,
                   reshapeInKernels(builder, loc, indices, {scatter.updates}));
  if (index.getElementType() != builder.getI64Type())
    index = index.to(type);
  index =
      index.compare(ComparePredicate::less, 0.0).select(index + slices, index);
  Expression last = index.splat(slices);
  index = index.compare(ComparePredicate::less, 0.0).select(last, index);
  index = index.apply<MinOp>(last).to(type);
  return index * static_cast<double>(scatter.updates) +
         number({scatter.updates}, 0);
}

Tables TableBuilder::compute() {
  int64_t count = scatter.updates, slices = scatter.slices;
  Expression keys = makeKeys();
  SmallVector<int64_t> square = {count, count}, table = {slices + 1, count};
  auto inRow = [](const Expression &one, ArrayRef<int64_t> shape) {
    return one.repeat(shape, ArrayRef<int64_t>{0});
  };
  Expression ranks =
      countTrue(inRow(keys, square)
                    .compare(ComparePredicate::less, keys.repeat(square, {1})));
  // Each rank belongs to exactly one update.
  Expression order = inRow(ranks, square)
                         .compare(ComparePredicate::equal, number(square, 0))
                         .select(number(square, 1), 0.0)
                         .sum({1});
  Expression begins = number({slices + 1}, 0) * static_cast<double>(count);
  Expression offsets = countTrue(
      inRow(keys, table)
          .compare(ComparePredicate::less, begins.repeat(table, {1})));
  return {order, offsets};
}

Value TableBuilder::makeConstant(ArrayRef<int64_t> numbers) {
  SmallVector<Attribute> elements;
  for (int64_t element : numbers)
    elements.push_back(IntegerAttr::get(type, element));
  auto shape =
      RankedTensorType::get(static_cast<int64_t>(numbers.size()), type);
  return ConstantOp::create(builder, loc,
                            DenseElementsAttr::get(shape, elements));
}

Tables TableBuilder::evaluate(DenseElementsAttr known) {
  int64_t slices = scatter.slices;
  SmallVector<int64_t> sliceOf, offsets(slices + 1);
  for (const llvm::APInt &element : known.getValues<llvm::APInt>()) {
    int64_t slice = element.getSExtValue();
    slice += slice < 0 ? slices : 0;
    sliceOf.push_back(slice >= 0 && slice < slices ? slice : slices);
    if (sliceOf.back() < slices)
      ++offsets[sliceOf.back() + 1];
  }
  std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, scatter.updates));
  llvm::stable_sort(order, [&](int64_t one, int64_t other) {
    return sliceOf[one] < sliceOf[other];
  });
  return {makeConstant(order), makeConstant(offsets)};
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Returns the updates with the axes of the indices merged into one.
static Value mergeUpdates(OpBuilder &builder, ScatterAddOp op) {
  ArrayRef<int64_t> shape = op.getUpdates().getType().getShape();
  auto axis = static_cast<int64_t>(op.getAxis());
  SmallVector<int64_t> merged(shape.take_front(axis));
  merged.push_back(op.getIndices().getType().getNumElements());
  llvm::append_range(
      merged, shape.drop_front(axis + op.getIndices().getType().getRank()));
  return reshapeInKernels(builder, op.getLoc(), op.getUpdates(), merged);
}

namespace {
struct SortIndicesPass : hfta::impl::HftaSortIndicesBase<SortIndicesPass> {
  using HftaSortIndicesBase::HftaSortIndicesBase;

  void runOnOperation() override {
    if (getOperation().isDeclaration())
      return;
    // Ops that scatter by the same indices into as many slices share tables.
    llvm::SmallDenseMap<std::pair<Value, uint64_t>, Tables> all;
    Block &block = getOperation().front();
    for (ScatterAddOp op : llvm::to_vector(block.getOps<ScatterAddOp>())) {
      if (!isWorthTables(op))
        continue;
      auto [found, isNew] = all.try_emplace({op.getIndices(), op.getSize()});
      if (isNew) {
        DenseElementsAttr known = findKnown(op.getIndices());
        TableBuilder tables(op);
        found->second = known ? tables.evaluate(known) : tables.compute();
      }
      OpBuilder builder(op);
      op.replaceAllUsesWith(Value(SegmentSumOp::create(
          builder, op.getLoc(), mergeUpdates(builder, op), found->second.order,
          found->second.offsets, op.getAxis())));
      op.erase();
    }
  }
};
} // namespace
