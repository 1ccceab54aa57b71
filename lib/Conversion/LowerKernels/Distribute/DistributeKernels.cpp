//===- DistributeKernels.cpp - Kernels as work items on memory ------------===//

#include "Distribute/ItemPlan.h"
#include "Distribute/TensorSlicer.h"
#include "Hfta/Conversion/LowerKernels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

namespace mlir::hfta {
#define GEN_PASS_DEF_HFTADISTRIBUTEKERNELS
#include "Hfta/Conversion/Passes.h.inc"
} // namespace mlir::hfta

using namespace mlir;
using namespace mlir::hfta;

namespace {

/// Rewrites one kernel so that it computes a work item on memory.
class KernelDistributor {
public:
  KernelDistributor(func::FuncOp kernel, ArrayRef<int64_t> ties)
      : kernel(kernel), ties(ties), rewriter(kernel.getContext()) {}

  void distribute();

private:
  void makeArguments();
  SmallVector<Value> createBegins();
  /// Returns the loop over parts that computes the only result and can be cut
  /// into items; null if there is none.
  scf::ForOp findParts();
  /// Restricts the loop to the item's iterations, which compute directly in the
  /// result's memory.
  void cutParts(scf::ForOp loop, int64_t items);
  /// Builds the item's part of a result in `target`, the tensor of the result's
  /// memory. Returns the new tensor.
  Value computePart(Value result, Value target,
                    MutableArrayRef<TensorSlicer> slicers);
  Value addTensor(BlockArgument argument, Type type, bool writable);

  func::FuncOp kernel;
  ArrayRef<int64_t> ties;
  IRRewriter rewriter;
  SmallVector<ItemAxis> axes;
  /// For each result, the memory that it is written to, and the tensor in that
  /// memory.
  SmallVector<BlockArgument> targets;
  SmallVector<Value> targetTensors;
  BlockArgument item;
};

} // namespace

static MemRefType getMemoryType(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  if (tensor.getNumElements() > 0)
    return MemRefType::get(tensor.getShape(), tensor.getElementType());
  // In memory with an axis of length 0, MLIR takes the strides of the default
  // layout to be dynamic outside of this axis, and passes no pointer.
  SmallVector<int64_t> strides(tensor.getRank(), 1);
  return MemRefType::get(
      tensor.getShape(), tensor.getElementType(),
      StridedLayoutAttr::get(type.getContext(), /*offset=*/0, strides));
}

/// Replaces each constant of equal elements among the operands of `end` by a
/// linalg.fill, so that it isn't read from memory.
static void replaceSplats(RewriterBase &rewriter, Operation *end) {
  for (OpOperand &use : end->getOpOperands()) {
    auto constant = use.get().getDefiningOp<arith::ConstantOp>();
    auto splat =
        constant ? dyn_cast<SplatElementsAttr>(constant.getValue()) : nullptr;
    if (!splat)
      continue;
    Location loc = constant.getLoc();
    rewriter.setInsertionPoint(end);
    Value scalar = arith::ConstantOp::create(rewriter, loc,
                                             splat.getSplatValue<TypedAttr>());
    Value empty = tensor::EmptyOp::create(
        rewriter, loc, splat.getType().getShape(), scalar.getType());
    use.set(linalg::FillOp::create(rewriter, loc, scalar, empty).getResult(0));
  }
}

/// Creates the tensor in the memory of an argument.
Value KernelDistributor::addTensor(BlockArgument argument, Type type,
                                   bool writable) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(argument.getOwner());
  return bufferization::ToTensorOp::create(
      rewriter, argument.getLoc(), type, argument, /*restrict=*/true, writable);
}

void KernelDistributor::makeArguments() {
  Block &body = kernel.getBody().front();
  SmallVector<Value> tensors;
  for (auto [index, argument] : llvm::enumerate(body.getArguments())) {
    Type type = argument.getType();
    argument.setType(getMemoryType(type));
    Value tensor = addTensor(argument, type, llvm::is_contained(ties, index));
    rewriter.replaceAllUsesExcept(argument, tensor, tensor.getDefiningOp());
    tensors.push_back(tensor);
  }
  for (auto [result, tie] :
       llvm::zip(body.getTerminator()->getOperands(), ties)) {
    if (tie >= 0) {
      targets.push_back(body.getArgument(tie));
      targetTensors.push_back(tensors[tie]);
      continue;
    }
    Type type = result.getType();
    targets.push_back(body.addArgument(getMemoryType(type), result.getLoc()));
    targetTensors.push_back(addTensor(targets.back(), type, /*writable=*/true));
  }
  item = body.addArgument(rewriter.getIndexType(), kernel.getLoc());
  body.addArgument(
      MemRefType::get({ShapedType::kDynamic}, rewriter.getI8Type()),
      kernel.getLoc());
}

/// Returns the index at which the item's part of each axis begins.
SmallVector<Value> KernelDistributor::createBegins() {
  Location loc = kernel.getLoc();
  SmallVector<Value> begins(axes.size());
  Value rest = item;
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(rewriter, loc, value);
  };
  for (size_t i = axes.size(); i-- > 0;) {
    Value part = rest;
    if (i > 0) {
      Value parts = constant(axes[i].parts);
      part = arith::RemUIOp::create(rewriter, loc, rest, parts);
      rest = arith::DivUIOp::create(rewriter, loc, rest, parts);
    }
    begins[i] =
        arith::MulIOp::create(rewriter, loc, part, constant(axes[i].size));
  }
  return begins;
}

Value KernelDistributor::computePart(Value result, Value target,
                                     MutableArrayRef<TensorSlicer> slicers) {
  Location loc = result.getLoc();
  if (axes.empty())
    return bufferization::MaterializeInDestinationOp::create(
               rewriter, loc, result.getType(), result, target)
        .getResult();
  auto type = cast<RankedTensorType>(result.getType());
  SmallVector<OpFoldResult> offsets(type.getRank(), rewriter.getIndexAttr(0));
  SmallVector<OpFoldResult> strides(type.getRank(), rewriter.getIndexAttr(1));
  SmallVector<OpFoldResult> sizes =
      getAsIndexOpFoldResult(rewriter.getContext(), type.getShape());
  Value part = result;
  for (auto [axis, slicer] : llvm::zip(axes, slicers)) {
    part = slicer.slice(part, axis.axis, axis.size);
    offsets[axis.axis] = slicer.getBegin();
    sizes[axis.axis] = rewriter.getIndexAttr(axis.size);
  }
  return tensor::InsertSliceOp::create(rewriter, loc, part, target, offsets,
                                       sizes, strides);
}

/// A loop over parts writes disjoint parts of the result, so its iterations can
/// be items. But if it starts from another tensor's elements, it can't be cut,
/// as every item would have to copy all of these first.
scf::ForOp KernelDistributor::findParts() {
  Operation *end = kernel.getBody().front().getTerminator();
  if (end->getNumOperands() != 1)
    return nullptr;
  auto loop = end->getOperand(0).getDefiningOp<scf::ForOp>();
  if (!loop || !loop->hasAttr(kPartsAttrName))
    return nullptr;
  Value begin = loop.getInitArgs().front();
  if (begin.getDefiningOp<tensor::EmptyOp>())
    return loop;
  auto argument = dyn_cast<BlockArgument>(begin);
  bool isTied = argument && ties.front() == argument.getArgNumber();
  return isTied ? loop : nullptr;
}

void KernelDistributor::cutParts(scf::ForOp loop, int64_t items) {
  Location loc = loop.getLoc();
  rewriter.setInsertionPoint(loop);
  int64_t iterations = loop.getStaticTripCount()->getSExtValue();
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(rewriter, loc, value);
  };
  auto createBound = [&](Value number) -> Value {
    Value before =
        arith::MulIOp::create(rewriter, loc, number, constant(iterations));
    return arith::DivUIOp::create(rewriter, loc, before, constant(items));
  };
  loop.setLowerBound(createBound(item));
  loop.setUpperBound(
      createBound(arith::AddIOp::create(rewriter, loc, item, constant(1))));
  loop.getInitArgsMutable()[0].set(targetTensors.front());
}

void KernelDistributor::distribute() {
  Block &body = kernel.getBody().front();
  Operation *end = body.getTerminator();
  replaceSplats(rewriter, end);
  axes = planItems(kernel);
  scf::ForOp loop = findParts();
  int64_t items = loop ? planParts(kernel, loop) : 1;
  makeArguments();
  if (items > 1)
    cutParts(loop, items);
  rewriter.setInsertionPointAfterValue(
      targetTensors.empty() ? item : targetTensors.front());
  SmallVector<Value> begins = createBegins();
  rewriter.setInsertionPoint(end);
  SmallVector<TensorSlicer> slicers;
  for (auto [axis, begin] : llvm::zip(axes, begins)) {
    slicers.emplace_back(rewriter, begin);
    items *= axis.parts;
  }
  for (auto [result, target, tensor] :
       llvm::zip(end->getOperands(), targets, targetTensors)) {
    Value whole = computePart(result, tensor, slicers);
    bufferization::MaterializeInDestinationOp::create(
        rewriter, result.getLoc(), /*result=*/Type(), whole, target,
        /*restrict=*/false, /*writable=*/true);
  }
  end->eraseOperands(0, end->getNumOperands());
  kernel.setType(rewriter.getFunctionType(body.getArgumentTypes(), {}));
  kernel->removeAttr(kTiesAttrName);
  kernel->setAttr(kItemsAttrName, rewriter.getI64IntegerAttr(items));
}

namespace {
struct DistributeKernelsPass
    : hfta::impl::HftaDistributeKernelsBase<DistributeKernelsPass> {
  using HftaDistributeKernelsBase::HftaDistributeKernelsBase;

  void runOnOperation() override {
    func::FuncOp kernel = getOperation();
    if (!isKernelOnTensors(kernel))
      return;
    SmallVector<int64_t> ties(kernel.getNumResults(), -1);
    if (auto stored = kernel->getAttrOfType<DenseI64ArrayAttr>(kTiesAttrName))
      ties.assign(stored.asArrayRef().begin(), stored.asArrayRef().end());
    if (ties.size() != kernel.getNumResults() ||
        llvm::any_of(ties, [&](int64_t tie) {
          return tie >= static_cast<int64_t>(kernel.getNumArguments());
        })) {
      kernel.emitError("expected one entry of ")
          << kTiesAttrName << " a result, -1 or an argument";
      return signalPassFailure();
    }
    KernelDistributor(kernel, ties).distribute();
  }
};
} // namespace
