//===- KernelRuns.cpp - Elementwise kernels, several elements a thread ----===//

#include "Pull/KernelRuns.h"
#include "Hfta/Conversion/LowerGpuKernels.h"
#include "Pull/ElementPuller.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::hfta;

/// The least number of a copy's elements with which there are enough threads
/// although each computes several elements. For sums, whose threads add up many
/// terms, elements are counted once for each thread that shares a sum.
static constexpr int64_t kFewElements = 64 * 1024, kFewOfSums = 16 * 1024;

static Block &getBody(func::FuncOp kernel) { return kernel.getBody().front(); }

/// Returns whether an op reads, for neighbouring elements of its result,
/// neighbouring elements or the same element. Sums must be shared by threads,
/// and mustn't be of terms that are contiguous in memory.
static bool goesAlong(linalg::GenericOp op) {
  bool isSum = op.getNumReductionLoops() > 0;
  SmallVector<unsigned> elements;
  op.getParallelDims(elements);
  if (elements.empty() || (isSum && (!op->hasAttr(kSumLanesAttrName) ||
                                     op->hasAttr(kSumUnitAttrName))))
    return false;
  unsigned last = elements.back();
  for (auto [map, operand] :
       llvm::zip(op.getIndexingMapsArray(), op->getOperands())) {
    if (!map.isFunctionOfDim(last))
      continue;
    ArrayRef<AffineExpr> indices = map.getResults();
    bool isLast = indices.back() == getAffineDimExpr(last, op.getContext());
    if (!isLast || llvm::any_of(indices.drop_back(), [&](AffineExpr index) {
          return index.isFunctionOfDim(last);
        }))
      return false;
  }
  return llvm::none_of(*op.getBody(), llvm::IsaPred<tensor::ExtractOp>);
}

static bool goesAlong(Operation *op) {
  if (auto generic = dyn_cast<linalg::GenericOp>(op))
    return generic.getNumLoops() == 0 || goesAlong(generic);
  return isa<arith::ConstantOp, linalg::FillOp, tensor::EmptyOp,
             tensor::CollapseShapeOp, tensor::ExpandShapeOp, func::ReturnOp>(
      op);
}

/// Returns how many threads share a sum; 1 if the kernel has no shared sums.
/// Returns nothing if only some of its sums are shared, or if the threads that
/// share a sum are neighbours.
static std::optional<int64_t> countThreads(func::FuncOp kernel) {
  bool hasLanes = llvm::any_of(getBody(kernel), [](Operation &op) {
    return op.hasAttr(kSumLanesAttrName);
  });
  if (!hasLanes)
    return 1;
  auto lanes = kernel->getAttrOfType<IntegerAttr>(kSumLanesAttrName);
  if (!lanes || kernel->hasAttr(kLanesInsideAttrName))
    return std::nullopt;
  return lanes.getInt();
}

int64_t hfta::chooseRunLength(func::FuncOp kernel, bool always) {
  Operation *end = getBody(kernel).getTerminator();
  std::optional<int64_t> threads = countThreads(kernel);
  if (!threads || end->getNumOperands() == 0 ||
      !llvm::all_of(getBody(kernel),
                    [](Operation &op) { return goesAlong(&op); }))
    return 1;
  auto first = cast<RankedTensorType>(end->getOperand(0).getType());
  int64_t run = kAccessBytes;
  for (Type type : end->getOperandTypes()) {
    auto tensor = cast<RankedTensorType>(type);
    // Vectors of single bits would be packed, but memory has a byte for each.
    if (tensor.getShape() != first.getShape() ||
        tensor.getElementTypeBitWidth() < 8)
      return 1;
    run = std::min<int64_t>(run,
                            kAccessBytes * 8 / tensor.getElementTypeBitWidth());
  }
  bool isWhole = first.getRank() > 0 && first.getNumElements() > 0 &&
                 first.getShape().back() % run == 0;
  int64_t few = *threads > 1 ? kFewOfSums : kFewElements;
  bool isLarge = always || first.getNumElements() * *threads >= few;
  return isWhole && isLarge ? run : 1;
}

//===----------------------------------------------------------------------===//
// Axes
//===----------------------------------------------------------------------===//

static bool isOfShape(Type type, ArrayRef<int64_t> shape) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return !tensor || tensor.getRank() == 0 || tensor.getShape() == shape;
}

/// Returns whether an op computes each element only from elements with the same
/// row-major index, or from scalars, and doesn't use the indices themselves.
static bool isByNumber(Operation *op, ArrayRef<int64_t> shape) {
  if (!llvm::all_of(op->getOperandTypes(),
                    [&](Type type) { return isOfShape(type, shape); }) ||
      !llvm::all_of(op->getResultTypes(),
                    [&](Type type) { return isOfShape(type, shape); }))
    return false;
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return !isa<ShapedType>(constant.getType()) ||
           isa<DenseElementsAttr>(constant.getValue());
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (!generic)
    return isa<linalg::FillOp, tensor::EmptyOp, func::ReturnOp>(op);
  bool asksWhere = llvm::any_of(
      *generic.getBody(), llvm::IsaPred<linalg::IndexOp, tensor::ExtractOp>);
  return !asksWhere && generic.getNumReductionLoops() == 0 &&
         llvm::all_of(generic.getIndexingMapsArray(), [](AffineMap map) {
           return map.isIdentity() || map.getNumResults() == 0;
         });
}

static Type join(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || tensor.getRank() == 0)
    return type;
  return RankedTensorType::get({tensor.getNumElements()},
                               tensor.getElementType());
}

static void joinAxes(Operation *op) {
  for (Value result : op->getResults())
    result.setType(join(result.getType()));
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    if (auto elements = dyn_cast<DenseElementsAttr>(constant.getValue()))
      constant.setValueAttr(
          elements.reshape(cast<ShapedType>(join(elements.getType()))));
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (!generic || generic.getNumLoops() == 0)
    return;
  Builder builder(op);
  SmallVector<AffineMap> maps;
  for (AffineMap map : generic.getIndexingMapsArray())
    maps.push_back(map.getNumResults() == 0
                       ? AffineMap::get(1, 0, op->getContext())
                       : builder.getMultiDimIdentityMap(1));
  generic.setIndexingMapsAttr(builder.getAffineMapArrayAttr(maps));
  generic.setIteratorTypesAttr(builder.getArrayAttr(
      {generic.getIteratorTypesAttr().getValue().front()}));
}

void hfta::joinAllAxes(func::FuncOp kernel) {
  Block &body = getBody(kernel);
  Operation *end = body.getTerminator();
  if (end->getNumOperands() == 0)
    return;
  auto first = cast<RankedTensorType>(end->getOperand(0).getType());
  ArrayRef<int64_t> shape = first.getShape();
  bool isAll =
      first.getRank() > 1 &&
      llvm::all_of(body.getArgumentTypes(),
                   [&](Type type) { return isOfShape(type, shape); }) &&
      llvm::all_of(body, [&](Operation &op) { return isByNumber(&op, shape); });
  if (!isAll)
    return;
  for (BlockArgument argument : body.getArguments())
    argument.setType(join(argument.getType()));
  for (Operation &op : body)
    joinAxes(&op);
  kernel.setType(FunctionType::get(kernel.getContext(), body.getArgumentTypes(),
                                   end->getOperandTypes()));
}
