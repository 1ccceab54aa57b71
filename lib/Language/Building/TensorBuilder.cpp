//===- TensorBuilder.cpp - Short forms of hfta ops ------------------------===//

#include "Building/TensorBuilder.h"
#include "Hfta/Dialect/Hfta/Job/ExactNumbers.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

#include <cmath>

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::language;

Value TensorBuilder::splat(ArrayRef<int64_t> shape, Type elementType,
                           double number) {
  auto type = RankedTensorType::get(shape, elementType);
  TypedAttr element;
  if (isa<FloatType>(elementType))
    element = FloatAttr::get(elementType, number);
  else
    element = IntegerAttr::get(elementType, static_cast<int64_t>(number));
  auto elements = DenseElementsAttr::get(type, Attribute(element));
  auto constant = ConstantOp::create(builder, loc, elements);
  if (isa<FloatType>(elementType))
    setExactElements(
        constant, elements,
        DenseElementsAttr::get(
            RankedTensorType::get(shape, builder.getF64Type()), number));
  return constant;
}

Value TensorBuilder::list(ArrayRef<double> numbers, FloatType elementType) {
  auto count = static_cast<int64_t>(numbers.size());
  auto exact = DenseElementsAttr::get(
      RankedTensorType::get(count, builder.getF64Type()), numbers);
  ElementsAttr elements = convertElements(exact, elementType);
  auto constant = ConstantOp::create(builder, loc, elements);
  setExactElements(constant, elements, exact);
  return constant;
}

Value TensorBuilder::cast(Value x, Type elementType) {
  if (getElementType(x) == elementType)
    return x;
  return CastOp::create(builder, loc, x, elementType);
}

Value TensorBuilder::reshape(Value x, ArrayRef<int64_t> shape) {
  if (getShape(x) == shape)
    return x;
  return ReshapeOp::create(builder, loc, x, shape);
}

Value TensorBuilder::transpose(Value x, ArrayRef<int64_t> permutation) {
  if (llvm::equal(permutation, llvm::seq<int64_t>(0, permutation.size())))
    return x;
  return TransposeOp::create(builder, loc, x, permutation);
}

Value TensorBuilder::broadcast(Value x, ArrayRef<int64_t> shape,
                               ArrayRef<int64_t> dimensions) {
  if (getShape(x) == shape)
    return x;
  return BroadcastOp::create(builder, loc, x, shape, dimensions);
}

Value TensorBuilder::repeat(Value x, int64_t axis, int64_t size) {
  SmallVector<int64_t> shape(getShape(x));
  shape.insert(shape.begin() + axis, size);
  SmallVector<int64_t> dimensions;
  for (int64_t i = 0, e = shape.size(); i < e; ++i)
    if (i != axis)
      dimensions.push_back(i);
  return broadcast(x, shape, dimensions);
}

Value TensorBuilder::reduce(ReduceKind kind, Value x, ArrayRef<int64_t> axes) {
  if (axes.empty())
    return x;
  return ReduceOp::create(builder, loc, kind, x, axes, TypeAttr());
}

Value TensorBuilder::compare(ComparePredicate predicate, Value x, Value y) {
  return CompareOp::create(builder, loc, predicate, x, y);
}

Value TensorBuilder::select(Value condition, Value onTrue, Value onFalse) {
  return SelectOp::create(builder, loc, condition, onTrue, onFalse);
}

Value TensorBuilder::makeNormal(Value u, Value v) {
  Value rest = binary<SubOp>(splatLike(u, 1), u);
  Value radius = unary<SqrtOp>(unary<NegOp>(unary<LogOp>(rest)));
  Value angle = unary<CosOp>(binary<MulOp>(v, 2 * M_PI));
  return binary<MulOp>(radius, angle);
}
