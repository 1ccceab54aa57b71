//===- Expression.cpp - Values that compose like formulas -----------------===//

#include "Hfta/Dialect/Hfta/IR/Expression.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::hfta;

Expression Expression::splat(double number) const {
  Type elementType = getElementType();
  Attribute element;
  if (isa<FloatType>(elementType))
    element = FloatAttr::get(elementType, number);
  else
    element = IntegerAttr::get(elementType, static_cast<int64_t>(number));
  ElementsAttr elements =
      DenseElementsAttr::get(getLogicalType(getType()), element);
  return at(ConstantOp::create(*builder, loc, elements));
}

Expression Expression::to(Type elementType) const {
  if (getElementType() == elementType)
    return *this;
  return apply<CastOp>(elementType);
}

Expression Expression::reshape(ArrayRef<int64_t> shape) const {
  if (getShape() == shape)
    return *this;
  return apply<ReshapeOp>(shape);
}

Expression Expression::fill(ArrayRef<int64_t> shape) const {
  if (shape.empty())
    return *this;
  return apply<BroadcastOp>(shape, ArrayRef<int64_t>());
}

Expression Expression::reduce(ReduceKind kind, ArrayRef<int64_t> axes,
                              TypeAttr accumulate) const {
  if (axes.empty())
    return *this;
  MLIRContext *context = builder->getContext();
  return at(ReduceOp::create(*builder, loc, ReduceKindAttr::get(context, kind),
                             value, DenseI64ArrayAttr::get(context, axes),
                             accumulate));
}

Expression Expression::repeat(ArrayRef<int64_t> shape,
                              ArrayRef<int64_t> axes) const {
  if (axes.empty())
    return *this;
  return apply<BroadcastOp>(
      shape, ArrayRef<int64_t>(getOtherAxes(shape.size(), axes)));
}

Expression Expression::compare(ComparePredicate predicate,
                               const Expression &other) const {
  return at(CompareOp::create(*builder, loc, predicate, value, other.value));
}

SmallVector<int64_t> hfta::getOtherAxes(int64_t rank, ArrayRef<int64_t> axes) {
  SmallVector<int64_t> others;
  for (int64_t axis = 0; axis < rank; ++axis)
    if (!llvm::is_contained(axes, axis))
      others.push_back(axis);
  return others;
}

Expression hfta::makeNormal(const Expression &u, const Expression &v) {
  Expression radius = (-2.0 * (1.0 - u).apply<LogOp>()).apply<SqrtOp>();
  Expression angle = (2 * M_PI * v).apply<CosOp>();
  return radius * angle;
}

Expression hfta::multiplyMatrices(const Expression &left,
                                  const Expression &right,
                                  bool isLeftTransposed,
                                  bool isRightTransposed) {
  MLIRContext *context = left.getElementType().getContext();
  auto batch = static_cast<unsigned>(left.getShape().size()) - 2;
  auto getMap = [&](unsigned row, unsigned column, bool isTransposed) {
    if (isTransposed)
      std::swap(row, column);
    SmallVector<unsigned> axes = llvm::to_vector(llvm::seq(batch));
    axes.append({batch + row, batch + column});
    return AffineMap::getMultiDimMapWithTargets(batch + 3, axes, context);
  };
  AffineMap maps[] = {getMap(0, 2, isLeftTransposed),
                      getMap(2, 1, isRightTransposed), getMap(0, 1, false)};
  return left.apply<ContractOp>(
      right, Builder(context).getAffineMapArrayAttr(maps), TypeAttr());
}

SmallVector<Value> hfta::giveResults(Operation *op, OpBuilder &builder,
                                     ArrayRef<Expression> values) {
  SmallVector<Value> results;
  for (auto [value, result] : llvm::zip_equal(values, op->getResults())) {
    auto type = cast<RankedTensorType>(result.getType());
    Value given = value.to(type.getElementType());
    if (isArrayed(type) && !isArrayed(given))
      given = StackOp::create(builder, op->getLoc(), type,
                              SmallVector<Value>(*getCopies(type), given));
    results.push_back(given);
  }
  return results;
}
