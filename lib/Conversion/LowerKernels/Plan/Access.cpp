//===- Access.cpp - Operands' memory accesses by vectors ------------------===//

#include "Plan/Access.h"
#include "Hfta/Target/TargetModel.h"

using namespace mlir;
using namespace mlir::hfta;

std::optional<unsigned> hfta::getInnermostReduction(linalg::GenericOp op) {
  SmallVector<unsigned> reductions;
  op.getReductionDims(reductions);
  if (reductions.empty())
    return std::nullopt;
  return reductions.back();
}

/// Returns whether the last of an operand's indices depends on `axis`, and no
/// other one does.
static bool isLastIndex(AffineMap map, unsigned axis) {
  return map.getNumResults() > 0 &&
         map.getResults().back().isFunctionOfDim(axis) &&
         llvm::none_of(map.getResults().drop_back(), [&](AffineExpr index) {
           return index.isFunctionOfDim(axis);
         });
}

std::optional<int64_t> hfta::getStep(AffineExpr index, unsigned axis,
                                     unsigned dims) {
  AffineExpr dim = getAffineDimExpr(axis, index.getContext());
  AffineExpr step =
      simplifyAffineExpr(index.replace(dim, dim + 1) - index, dims, 0);
  if (auto constant = dyn_cast<AffineConstantExpr>(step))
    return constant.getValue();
  return std::nullopt;
}

/// Returns by how much the last index grows when `axis` grows by 1; nothing if
/// that isn't constant.
static std::optional<int64_t> getStride(AffineMap map, unsigned axis) {
  return getStep(map.getResults().back(), axis, map.getNumDims());
}

Access hfta::getAccess(linalg::GenericOp op, OpOperand &operand,
                       std::optional<unsigned> axis,
                       std::optional<unsigned> packed) {
  AffineMap map = op.getMatchingIndexingMap(&operand);
  if (!axis || !map.isFunctionOfDim(*axis))
    return {Access::Uniform, 0};
  auto type = dyn_cast<MemRefType>(operand.get().getType());
  if (!type || type.getElementType().isInteger(1) ||
      type.getStridesAndOffset().first.back() != 1)
    return {Access::Scattered, 0};
  if (isLastIndex(map, *axis)) {
    std::optional<int64_t> stride = getStride(map, *axis);
    if (stride && *stride >= 1)
      return {Access::Strided, *stride};
    return {Access::Scattered, 0};
  }
  std::optional<unsigned> reduction = getInnermostReduction(op);
  if (reduction &&
      op.getStaticLoopRanges()[*reduction] >=
          TargetModel::Loops::kMinTransposed &&
      isLastIndex(map, *reduction) &&
      !map.getResults().back().isFunctionOfDim(*axis) &&
      getStride(map, *reduction) == 1)
    return packed == operand.getOperandNumber() ? Access{Access::Strided, 1}
                                                : Access{Access::Transposed, 0};
  return {Access::Scattered, 0};
}

bool hfta::transposes(linalg::GenericOp op, std::optional<unsigned> axis,
                      std::optional<unsigned> packed) {
  return llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *input) {
    return getAccess(op, *input, axis, packed).kind == Access::Transposed;
  });
}

unsigned hfta::countEpilogueInputs(linalg::GenericOp op) {
  auto count = op->getAttrOfType<IntegerAttr>(kEpilogueInputsAttrName);
  return count ? count.getInt() : 0;
}

bool hfta::isOfEpilogue(linalg::GenericOp op, OpOperand &operand) {
  unsigned end = op.getNumDpsInputs();
  unsigned number = operand.getOperandNumber();
  return number < end && number + countEpilogueInputs(op) >= end;
}

int64_t hfta::getStoredElementBytes(Type type) {
  Type element = getElementTypeOrSelf(type);
  if (element.isIndex())
    return 8;
  return std::max<int64_t>(1, element.getIntOrFloatBitWidth() / 8);
}

int64_t hfta::getRowBytes(MemRefType type) {
  if (type.getRank() < 2)
    return 0;
  return type.getStridesAndOffset().first[type.getRank() - 2] *
         getStoredElementBytes(type);
}

int64_t hfta::getStrideBytes(linalg::GenericOp op, OpOperand &operand,
                             unsigned axis) {
  auto type = cast<MemRefType>(operand.get().getType());
  AffineMap map = op.getMatchingIndexingMap(&operand);
  int64_t elements = 0;
  for (auto [index, stride] :
       llvm::zip(map.getResults(), type.getStridesAndOffset().first)) {
    std::optional<int64_t> step = getStep(index, axis, map.getNumDims());
    if (!step || (*step != 0 && ShapedType::isDynamic(stride)))
      return 0;
    elements += *step == 0 ? 0 : stride * *step;
  }
  return elements * getStoredElementBytes(type);
}
